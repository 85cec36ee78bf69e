import Synchronization

/// Whether a terminal is dark or light, which determines the legible colours.
public enum TerminalBackground: String, Sendable, Hashable, CaseIterable {
    case dark, light

    /// The value of `COLORFGBG` in the environment: the numbers of the terminal's colours, with the background last.
    public init?(environment: [String: String]) {
        guard let last = environment["COLORFGBG"]?.split(separator: ";").last, let number = Int(last),
            (0...15).contains(number)
        else { return nil }
        self = number == 7 || number >= 9 ? .light : .dark
    }

    /// A terminal's answer to OSC 11: `rgb:` or `rgba:` and the components, each of one to four hexadecimal digits.
    init?(reply: some StringProtocol) {
        guard let colon = reply.firstIndex(of: ":"), ["rgb", "rgba"].contains(String(reply[..<colon])) else {
            return nil
        }
        let parts = reply[reply.index(after: colon)...].split(separator: "/").map { part -> Double? in
            guard (1...4).contains(part.count), let value = Int(part, radix: 16) else { return nil }
            return Double(value) / Double((1 << (4 * part.count)) - 1)
        }
        guard parts.count >= 3, let red = parts[0], let green = parts[1], let blue = parts[2] else { return nil }
        // The perceived brightness.
        self = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 ? .dark : .light
    }
}

/// The input of a terminal that was asked for its background, mixed with typing.
///
/// The query ends with another one that every terminal answers (DA1): an answer missing by then will not arrive.
struct BackgroundReply: Sendable {
    /// OSC 11 with a question mark, and DA1.
    static let question = "\u{1B}]11;?\u{1B}\\\u{1B}[c"

    private enum State {
        case ground, escape, sequence, report, reportEnd
    }

    private(set) var background: TerminalBackground?
    /// The bytes that belong to no answer.
    private(set) var typed: [UInt8] = []
    private var state = State.ground
    private var held: [UInt8] = []

    /// True with the last byte of the answers.
    mutating func receive(_ byte: UInt8) -> Bool {
        switch state {
        case .ground:
            if byte == 0x1B { begin(.escape, byte) } else { typed.append(byte) }
        case .escape:
            switch byte {
            case UInt8(ascii: "["): go(on: .sequence, byte)
            case UInt8(ascii: "]"): go(on: .report, byte)
            case 0x1B:
                giveBack()
                begin(.escape, byte)
            default: end(byte)
            }
        case .sequence:
            if (0x40...0x7E).contains(byte) {
                let isFence = byte == UInt8(ascii: "c") && held.dropFirst(2).first == UInt8(ascii: "?")
                if isFence { held = [] } else { held.append(byte) }
                giveBack()
                return isFence
            }
            go(on: .sequence, byte)
        case .report:
            if byte == 0x07 || byte == 0x9C { learn() } else { go(on: byte == 0x1B ? .reportEnd : .report, byte) }
        case .reportEnd:
            if byte == UInt8(ascii: "\\") { learn() } else { end(byte) }
        }
        return false
    }

    /// Ends the input. An incomplete answer counts as typing.
    mutating func finish() { giveBack() }

    private mutating func begin(_ next: State, _ byte: UInt8) {
        state = next
        held = [byte]
    }

    private mutating func go(on next: State, _ byte: UInt8) {
        state = next
        held.append(byte)
        // No answer is longer.
        if held.count > 256 { giveBack() }
    }

    private mutating func end(_ byte: UInt8) {
        held.append(byte)
        giveBack()
    }

    private mutating func giveBack() {
        typed += held
        held = []
        state = .ground
    }

    private mutating func learn() {
        let text = String(decoding: held.dropFirst(2).filter { $0 != 0x1B }, as: UTF8.self)
        if text.hasPrefix("11;") { background = TerminalBackground(reply: text.dropFirst(3)) }
        held = []
        state = .ground
    }
}

/// Asks the controlling terminal for its background, once.
///
///     let query = BackgroundQuery()
///     let background = query.ask()
///     …
///     query.finish()
///
/// A process in the background does not ask, nor if something was already typed. Typing in the meantime goes to the
/// next reader of this process. ``finish()`` waits for a late answer and must be called before a question to the user
/// and before the end, so that nothing of the answer is shown or typed into the shell.
public final class BackgroundQuery: Sendable {
    /// The result of a query.
    public enum Answer: Sendable, Hashable {
        case known(TerminalBackground)
        /// The terminal does not report it, or not in time.
        case unknown
        /// It could not be asked now.
        case notAsked
    }

    private struct State: ~Copyable {
        var isTried = false
        var isAsked = false
        /// Held while an answer may arrive.
        var device: TerminalDevice?
        var reply = BackgroundReply()
    }

    private let path: String
    private let state = Mutex(State())

    /// A query to the terminal at `path`, by default the controlling one.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// The current knowledge; an answer may arrive while ``finish(limit:)`` waits for it.
    public var answer: Answer { state.withLock { Self.answer($0) } }

    private static func answer(_ state: borrowing State) -> Answer {
        if let background = state.reply.background { return .known(background) }
        return state.isAsked ? .unknown : .notAsked
    }

    /// Asks, and waits at most `limit` for an answer.
    public func ask(limit: Duration = .milliseconds(50)) -> Answer {
        state.withLock { state in
            guard !state.isTried else { return Self.answer(state) }
            state.isTried = true
            do throws(TerminalError) {
                let device = try TerminalDevice(path: path, wake: try WakePipe(), mode: .silent)
                guard !device.hasInput else { return .notAsked }
                device.writeOnce(BackgroundReply.question)
                state.isAsked = true
                state.device = consume device
                try Self.read(&state, limit: limit)
            } catch {
                // There is no terminal to ask.
                state.device = nil
            }
            return Self.answer(state)
        }
    }

    /// Waits for a pending answer, and releases the terminal.
    public func finish(limit: Duration = .milliseconds(200)) {
        state.withLock { state in
            guard state.device != nil else { return }
            do throws(TerminalError) { try Self.read(&state, limit: limit) } catch {
                // It is released in any case.
            }
            Self.close(&state)
        }
    }

    private static func close(_ state: inout State) {
        state.reply.finish()
        TerminalDevice.keep(state.reply.typed)
        state.device = nil
    }

    /// Reads until the answers are complete, which releases the terminal, or the time is over.
    private static func read(_ state: inout State, limit: Duration) throws(TerminalError) {
        let deadline = ContinuousClock.now + limit
        while true {
            let left = Int32(ContinuousClock.now.duration(to: deadline) / .milliseconds(1))
            guard left > 0, let input = try state.device?.readNew(limit: left) else { return }
            switch input {
            case .byte(let byte): if state.reply.receive(byte) { return close(&state) }
            case .end: return close(&state)
            case .resized, .continued, .quiet: break
            }
        }
    }
}

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

    /// Dark or light by how bright `color` seems to the eye.
    public init(_ color: TerminalColor) {
        let brightness = 0.299 * Double(color.red) + 0.587 * Double(color.green) + 0.114 * Double(color.blue)
        self = brightness < 0.5 * 65_535 ? .dark : .light
    }
}

/// Asks the controlling terminal for its background, once.
///
///     let query = BackgroundQuery()
///     let background = query.ask()
///     …
///     query.finish()
///
/// The question ends with another one that every terminal answers (DA1): an answer missing by then will not arrive.
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

    /// OSC 11 with a question mark, and DA1.
    static let question = "\u{1B}]11;?\u{1B}\\\u{1B}[c"

    private struct State: ~Copyable {
        var isTried = false
        var isAsked = false
        /// Held while an answer may arrive.
        var device: TerminalDevice?
        var input = ReplyCollector()
        var background: TerminalBackground?
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
        if let background = state.background { return .known(background) }
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
                device.writeOnce(Self.question)
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
        TerminalDevice.keep(state.input.typed)
        state.device = nil
    }

    /// Reads until the answers are complete, which releases the terminal, or the time is over.
    private static func read(_ state: inout State, limit: Duration) throws(TerminalError) {
        let deadline = ContinuousClock.now + limit
        while true {
            let left = Int32(ContinuousClock.now.duration(to: deadline) / .milliseconds(1))
            guard left > 0, let input = try state.device?.readNew(limit: left) else { return }
            switch input {
            case .byte(let byte):
                switch state.input.receive(byte) {
                case .color(.background, let color): state.background = TerminalBackground(color)
                case .attributes: return close(&state)
                default: break
                }
            case .end: return close(&state)
            case .resized, .continued, .quiet: break
            }
        }
    }
}

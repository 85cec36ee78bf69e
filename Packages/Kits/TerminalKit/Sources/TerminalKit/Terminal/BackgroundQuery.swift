import Synchronization

/// Asks the controlling terminal for its background, once.
///
///     let query = BackgroundQuery()
///     let background = query.ask()
///     …
///     query.finish()
///
/// A process in the background asks nothing, nor one for which something was typed already. What is typed meanwhile goes to
/// whoever reads next from this process. An answer that comes late is waited for by ``finish()``, which has to come
/// before a question to the person and before the end: nothing of it is ever shown, or typed into the shell.
public final class BackgroundQuery: Sendable {
    /// What came of a question.
    public enum Answer: Sendable, Hashable {
        case known(TerminalBackground)
        /// The terminal does not say it, or not in time.
        case unknown
        /// It could not be asked now.
        case notAsked
    }

    private struct State: ~Copyable {
        var isTried = false
        var isAsked = false
        /// Taken for as long as an answer may come.
        var device: TerminalDevice?
        var reply = BackgroundReply()
    }

    private let path: String
    private let state = Mutex(State())

    /// A question to the terminal at `path`, the controlling one unless said.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// What is known by now; an answer may come while ``finish(limit:)`` waits for it.
    public var answer: Answer { state.withLock { Self.answer($0) } }

    private static func answer(_ state: borrowing State) -> Answer {
        if let background = state.reply.background { return .known(background) }
        return state.isAsked ? .unknown : .notAsked
    }

    /// Asks, and waits for an answer no longer than `limit`.
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
                // Without a terminal there is nobody to ask.
                state.device = nil
            }
            return Self.answer(state)
        }
    }

    /// Waits for an answer that is on its way, and lets the terminal go.
    public func finish(limit: Duration = .milliseconds(200)) {
        state.withLock { state in
            guard state.device != nil else { return }
            do throws(TerminalError) { try Self.read(&state, limit: limit) } catch {
                // It is let go in any case.
            }
            Self.close(&state)
        }
    }

    private static func close(_ state: inout State) {
        state.reply.finish()
        TerminalDevice.keep(state.reply.typed)
        state.device = nil
    }

    /// Reads until the answers are complete, which lets the terminal go, or the time is over.
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

import Synchronization

/// Prevents typed text from being shown while something else is drawn.
///
///     let silence = TypingSilence()
///     silence.begin()
///     for try await piece in answer { draw(piece) }
///     silence.end()
///
/// Typed text waits for the next reader: a ``Composer`` takes it as if it had been typed into it, including Return.
/// Ctrl-C and Ctrl-Z still work, and Ctrl-C discards nothing. The terminal is restored however the process ends, as by
/// ``TerminalInput``. The silence must end before a question is asked.
public final class TypingSilence: Sendable {
    private struct State: ~Copyable {
        var device: TerminalDevice?
        /// Whether it was tried already. It would fail again.
        var isTried = false
    }

    private let path: String
    private let state = Mutex(State())

    /// Silence on the terminal at `path`, by default the controlling one.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// Begins the silence, if possible. A second call changes nothing.
    public func begin() {
        state.withLock { state in
            guard !state.isTried else { return }
            state.isTried = true
            do throws(TerminalError) {
                state.device = try TerminalDevice(path: path, wake: try WakePipe(), mode: .silent)
            } catch {
                // Otherwise keys are shown as usual.
            }
        }
    }

    /// Ends the silence, whether it began or not.
    public func end() {
        state.withLock { state in
            state.device = nil
            state.isTried = false
        }
    }
}

import Synchronization

/// Keeps what a person types from being shown while something else is drawn, in whose midst it would stand.
///
///     let silence = TypingSilence()
///     silence.begin()
///     for try await piece in answer { draw(piece) }
///     silence.end()
///
/// What is typed waits for whoever reads next: a ``Composer`` takes it as if it had been typed into it, a Return in it
/// included. Ctrl-C and Ctrl-Z go on to work, and Ctrl-C takes nothing of it away. The terminal is put back on every way
/// out of the process, as by ``TerminalInput``. Silence has to end before a question is asked.
public final class TypingSilence: Sendable {
    private struct State: ~Copyable {
        var device: TerminalDevice?
        /// Whether it was tried already; where it failed, it would fail again.
        var isTried = false
    }

    private let path: String
    private let state = Mutex(State())

    /// Silence on the terminal at `path`, the controlling one unless said.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// Begins, where that is possible; to begin twice changes nothing.
    public func begin() {
        state.withLock { state in
            guard !state.isTried else { return }
            state.isTried = true
            do throws(TerminalError) {
                state.device = try TerminalDevice(path: path, wake: try WakePipe(), mode: .silent)
            } catch {
                // Keys are shown then, as they are anywhere else.
            }
        }
    }

    /// Ends, whether it began or not.
    public func end() {
        state.withLock { state in
            state.device = nil
            state.isTried = false
        }
    }
}

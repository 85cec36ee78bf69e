import Capabilities
public import Runs
import Synchronization
public import TerminalKit

/// A run on a terminal while it goes on: a tree that is drawn anew at most ten times a second.
///
/// Whoever owns it lets ``run()`` go on beside the run.
public final class LiveProgress: Sendable {
    private struct State {
        var tree = RunTree()
        var lines: LiveLines
        /// What was told and comes above the tree for good.
        var notices: [StyledText] = []
        var isOver = false
    }

    private static let interval = Duration.milliseconds(100)

    private let state: Mutex<State>
    private let size: @Sendable () -> TerminalSize
    private let write: @Sendable (String) -> Void
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - theme: what its colours are.
    ///   - size: asked each time, since a window changes its size.
    ///   - write: takes what the terminal is told.
    public init<C: Clock>(
        level: ColorLevel, theme: Theme = .terminal, clock: C, size: @escaping @Sendable () -> TerminalSize,
        write: @escaping @Sendable (String) -> Void
    ) where C.Duration == Duration {
        state = Mutex(State(lines: LiveLines(level: level, theme: theme)))
        self.size = size
        self.write = write
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(for: $0) }
    }

    /// Takes what has happened, which the next drawing shows.
    public func receive(_ event: RunEvent) {
        let now = elapsed()
        state.withLock { state in
            switch event {
            case .began(let facts): state.tree.begin(facts)
            case .step(let update): state.tree.update(update, at: now)
            case .spread(let step, let count): state.tree.expect(count, below: step, at: now)
            case .notice:
                if let line = PlainProgress.line(event) {
                    state.notices.append(StyledText(line, Style(.mutedForeground)))
                }
            case .output, .ended: break
            }
        }
    }

    /// Draws until the surrounding task is cancelled.
    public func run() async {
        while true {
            // Sleeping throws only when cancelled, which is how this ends.
            do { try await pause(Self.interval) } catch { return }
            draw()
        }
    }

    /// Shows what there is now.
    public func draw() {
        let (now, size) = (elapsed(), size())
        state.withLock { state in
            guard !state.isOver else { return }
            let lines = state.tree.lines(room: LiveLines.room(size), at: now)
            write(state.lines.show(lines, above: state.notices, size: size))
            state.notices = []
        }
    }

    /// Leaves the last state on the screen.
    public func finish() {
        let (now, size) = (elapsed(), size())
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            let lines = state.tree.lines(room: LiveLines.room(size), at: now)
            write(state.lines.finish(state.notices + lines, size: size))
        }
    }
}

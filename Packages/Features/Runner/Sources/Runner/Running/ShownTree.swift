import Registry
import RunReports
import Runs
import Screens
import Synchronization

/// The tree of a run as a person sees it: shown again up to ten times a second while something changes.
///
/// The owner runs ``run()`` next to the run.
final class ShownTree: Sendable {
    private struct State {
        var tree = RunTree()
        var isChanged = false
        var last: Block?
        var isOver = false
    }

    private static let interval = Duration.milliseconds(100)

    private let context: ActionContext
    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    init(_ context: ActionContext) {
        self.context = context
        let clock = ContinuousClock()
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(for: $0) }
    }

    func receive(_ event: RunEvent) {
        let now = elapsed()
        state.withLock { state in
            state.tree.receive(event, at: now)
            state.isChanged = true
        }
        if case .notice = event, let line = PlainProgress.line(event) { context.notice(line) }
    }

    /// Shows how the run stands until the surrounding task is cancelled.
    func run() async {
        while true {
            // Sleeping throws only when cancelled, and then this ends.
            do { try await pause(Self.interval) } catch { return }
            show(isLast: false)
        }
    }

    /// Shows the end, which stays.
    func finish() { show(isLast: true) }

    private func show(isLast: Bool) {
        let now = elapsed()
        // Shown within the lock, so that nothing comes after the end.
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = isLast
            // What runs shows for how long.
            guard isLast || state.isChanged || !state.tree.isStill else { return }
            state.isChanged = false
            let block = state.tree.block(at: now)
            if exchange(&state.last, with: block) != block { context.show(block) }
        }
    }
}

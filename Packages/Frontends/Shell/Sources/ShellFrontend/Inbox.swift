import Capabilities
import Registry
import Screens
import Synchronization

/// The events that wait for the shell. What only the newest of counts, such as the state of a screen, waits once.
final class Inbox: Sendable {
    private struct State {
        var events: [ShellEvent] = []
        /// The screens with a new state.
        var changed: Set<ViewID> = []
        var progress: [RunID: Progress] = [:]
        var blocks: [RunID: Block] = [:]
        var texts: [RunID: String] = [:]
        var order: [RunID] = []
    }

    private let state = Mutex(State())
    private let signal = Signal()

    /// A shell that is behind lets actions wait that send more text.
    private static let mostText = 1 << 20

    func push(_ event: ShellEvent) {
        state.withLock { $0.events.append(event) }
        signal.raise()
    }

    func change(_ id: ViewID) {
        state.withLock { _ = $0.changed.insert(id) }
        signal.raise()
    }

    func progress(_ id: RunID, _ progress: Progress) {
        state.withLock { $0.progress[id] = progress }
        signal.raise()
    }

    /// What an action shows of its work.
    func show(_ block: Block, of id: RunID) {
        state.withLock { $0.blocks[id] = block }
        signal.raise()
    }

    /// Adds to the text of an action.
    func append(_ text: String, to id: RunID) {
        state.withLock { state in
            if state.texts[id] == nil { state.order.append(id) }
            state.texts[id, default: ""] += text
        }
        signal.raise()
    }

    /// Whether so much text of an action waits that it should wait too.
    func isBehind(_ id: RunID) -> Bool { state.withLock { ($0.texts[id]?.utf8.count ?? 0) > Self.mostText } }

    /// Everything that waits, and the screens that have changed.
    private func take() -> (events: [ShellEvent], changed: Set<ViewID>) {
        state.withLock { state in
            // A text comes before the end of its action.
            var events = state.order.compactMap { id in state.texts[id].map { ShellEvent.text(id, $0) } }
            events += state.progress.map { .progress($0.key, $0.value) }
            events += state.blocks.map { .shown($0.key, $0.value) }
            events += state.events
            let changed = state.changed
            state = State()
            return (events, changed)
        }
    }

    /// Waits for something, at most for a while.
    func next(
        within limit: Duration?, on clock: any Clock<Duration>
    ) async throws -> (events: [ShellEvent], changed: Set<ViewID>) {
        let count = signal.count
        let first = take()
        guard first.events.isEmpty, first.changed.isEmpty else { return first }
        _ = try await withTimeLimit(limit, on: clock) { [signal] in try await signal.wait(beyond: count) }
        return take()
    }
}

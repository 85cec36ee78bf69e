import Capabilities
import Registry
import Synchronization

/// The output of a running command; a test may wait for a text.
final class Heard: ActionOutput {
    private struct State {
        var events: [ActionEvent] = []
        var notices: [String] = []
        var activities: [String] = []
        /// Texts and notices in the order in which a terminal shows them.
        var shown = ""
        var waiting: (condition: @Sendable ([ActionEvent]) -> Bool, signal: AsyncStream<Void>.Continuation)?
    }

    private let state = Mutex(State())
    /// Whether the reader leaves as soon as there is text.
    private let leaves: Bool
    let isWatched: Bool

    init(leaves: Bool = false, isWatched: Bool = false) {
        self.leaves = leaves
        self.isWatched = isWatched
    }

    var events: [ActionEvent] { state.withLock { $0.events } }
    var notices: [String] { state.withLock { $0.notices } }
    /// The progress messages.
    var activities: [String] { state.withLock { $0.activities } }
    var shown: String { state.withLock { $0.shown } }
    var text: String { events.compactMap(\.text).joined() }

    func event(_ event: ActionEvent) async throws {
        state.withLock { state in
            state.events.append(event)
            state.shown += event.text ?? ""
            if let waiting = state.waiting, waiting.condition(state.events) { waiting.signal.finish() }
        }
        if leaves, event.text != nil { throw ReaderLeft() }
    }

    func progress(_ progress: Progress) {
        state.withLock { $0.activities.append(progress.activity) }
    }

    func notice(_ text: String) {
        state.withLock { state in
            state.notices.append(text)
            state.shown += "[\(text)]"
        }
    }

    /// Returns when the text was shown.
    func wait(for text: String) async {
        await wait { $0.compactMap(\.text).joined().contains(text) }
    }

    /// Returns when such events have arrived.
    func wait(until condition: @escaping @Sendable ([ActionEvent]) -> Bool) async {
        let (shown, signal) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            state.waiting = (condition, signal)
            if condition(state.events) { signal.finish() }
        }
        for await _ in shown {}
    }
}

struct ReaderLeft: Failure {
    var code: String { "test.reader-left" }
    var message: String { "nobody reads on" }
}

public import Capabilities
public import Registry
public import Screens
import Synchronization

/// Records all output of an action. A test can wait for a part of it, or stop reading.
public final class RecordingOutput: ActionOutput {
    /// What a reader who stops reading makes of the next event.
    public struct ReaderLeft: Failure {
        public var code: String { "test.reader-left" }
        public var message: String { "nobody reads on" }
    }

    private struct Contents {
        var events: [ActionEvent] = []
        var progress: [Progress] = []
        var notices: [String] = []
        var blocks: [Block] = []
        var shown = ""
        var waiting: (condition: @Sendable ([ActionEvent]) -> Bool, signal: AsyncStream<Void>.Continuation)?
    }

    private let contents = Mutex(Contents())
    /// Whether the reader leaves at the first text.
    private let leaves: Bool
    /// Records the same, for instance together with the output of other actions.
    private let collector: RecordingOutput?
    public let isWatched: Bool

    /// - Parameters:
    ///   - isWatched: whether a person watches, as on a terminal.
    ///   - leaves: whether the reader leaves at the first text.
    ///   - collector: records the same, for instance together with the output of other actions.
    public init(isWatched: Bool = false, leaves: Bool = false, collector: RecordingOutput? = nil) {
        self.collector = collector
        self.isWatched = isWatched
        self.leaves = leaves
    }

    public var events: [ActionEvent] { contents.withLock { $0.events } }
    public var progress: [Progress] { contents.withLock { $0.progress } }
    /// The activities of all progress.
    public var activities: [String] { progress.map(\.activity) }
    public var notices: [String] { contents.withLock { $0.notices } }
    /// The text of all events.
    public var text: String { events.compactMap(\.text).joined() }
    /// What was shown of the work, in order.
    public var blocks: [Block] { contents.withLock { $0.blocks } }
    /// Texts and `[notices]` in the order in which a terminal shows them.
    public var shown: String { contents.withLock { $0.shown } }

    public func event(_ event: ActionEvent) async throws {
        contents.withLock { contents in
            contents.events.append(event)
            contents.shown += event.text ?? ""
            if let waiting = contents.waiting, waiting.condition(contents.events) { waiting.signal.finish() }
        }
        try await collector?.event(event)
        if leaves, event.text != nil { throw ReaderLeft() }
    }

    public func progress(_ progress: Progress) {
        contents.withLock { $0.progress.append(progress) }
        collector?.progress(progress)
    }

    public func notice(_ text: String) {
        contents.withLock { contents in
            contents.notices.append(text)
            contents.shown += "[\(text)]"
        }
        collector?.notice(text)
    }

    /// Whoever watches sees blocks too.
    public var showsBlocks: Bool { isWatched }

    public func show(_ block: Block) {
        contents.withLock { $0.blocks.append(block) }
        collector?.show(block)
    }

    /// Returns when the text was written.
    public func wait(for text: String) async {
        await wait { $0.compactMap(\.text).joined().contains(text) }
    }

    /// Returns when the events fulfil a condition. Only one task may wait.
    public func wait(until condition: @escaping @Sendable ([ActionEvent]) -> Bool) async {
        let (fulfilled, signal) = AsyncStream.makeStream(of: Void.self)
        contents.withLock { contents in
            contents.waiting = (condition, signal)
            if condition(contents.events) { signal.finish() }
        }
        for await _ in fulfilled {}
    }
}

public import Capabilities
public import Registry
import Synchronization

/// Keeps everything that an action says while it runs.
public final class RecordingOutput: ActionOutput {
    private struct Contents {
        var events: [ActionEvent] = []
        var progress: [Progress] = []
        var notices: [String] = []
    }

    private let contents = Mutex(Contents())

    public init() {}

    public var events: [ActionEvent] { contents.withLock { $0.events } }
    public var progress: [Progress] { contents.withLock { $0.progress } }
    public var notices: [String] { contents.withLock { $0.notices } }

    public func event(_ event: ActionEvent) async throws { contents.withLock { $0.events.append(event) } }
    public func progress(_ progress: Progress) { contents.withLock { $0.progress.append(progress) } }
    public func notice(_ text: String) { contents.withLock { $0.notices.append(text) } }
}

/// Keeps every span.
public final class RecordingSpanSink: SpanSink {
    private let contents = Mutex<[TraceSpan]>([])

    public init() {}

    public var spans: [TraceSpan] { contents.withLock { $0 } }

    public func record(_ span: TraceSpan) { contents.withLock { $0.append(span) } }
}

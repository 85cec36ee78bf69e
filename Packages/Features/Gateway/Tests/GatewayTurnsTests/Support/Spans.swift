import Capabilities
import Synchronization

/// Records the names of spans in the order in which they end.
final class Spans: SpanSink {
    private let noted = Mutex<[String]>([])

    func record(_ span: SpanRecord) { noted.withLock { $0.append(span.name) } }

    var names: [String] { noted.withLock { $0 } }
}

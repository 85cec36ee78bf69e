import Capabilities
import JSON
import Synchronization

/// Keeps the text of every span.
final class RecordingSpans: SpanSink {
    private let texts = Mutex<[String]>([])

    var all: String { texts.withLock { $0.joined(separator: "\n") } }

    func record(_ span: SpanRecord) {
        let span = span.copy(without: Redactor())
        let text = "\(span.name) \(JSON.object(span.attributes).text()) \(span.failure ?? "")"
        texts.withLock { $0.append(text) }
    }
}

import Capabilities
import JSON
import Synchronization
import TraceKit
import TraceStore

/// Spans as text for other programs.
final class SpanText: Sendable {
    /// The form of the text.
    enum Format: String, Choice {
        /// A span a line.
        case ndjson
    }

    private let format: Format
    private let state = Mutex(State())

    private struct State {
        var bytes: [UInt8] = []
        var resource: JSONObject?
    }

    init(_ format: Format) {
        self.format = format
    }

    func add(_ stored: StoredSpan) {
        state.withLock { state in
            switch format {
            case .ndjson:
                if state.resource != stored.resource { SpoolLine.write(resource: stored.resource, into: &state.bytes) }
                state.resource = stored.resource
                SpanLine.write(stored.span, into: &state.bytes)
            }
        }
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
}

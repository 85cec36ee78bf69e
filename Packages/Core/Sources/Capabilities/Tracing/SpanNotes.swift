public import JSON
import Synchronization

/// The attributes of a span whose work is still being done.
public final class SpanNotes: Sendable {
    private let noted: Mutex<JSONObject>

    init(_ attributes: JSONObject) {
        noted = Mutex(attributes)
    }

    /// Notes a fact; the last one of a name counts.
    public func note(_ name: String, _ value: JSON) {
        noted.withLock { $0[name] = value }
    }

    var attributes: JSONObject { noted.withLock { $0 } }
}

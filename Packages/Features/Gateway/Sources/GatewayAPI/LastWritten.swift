import Capabilities
import HTTPServer
import JSON
import Synchronization

/// Caches the bytes of a frequently requested response for as long as its value stays the same.
final class LastWritten<Value: OutputValue & Equatable>: Sendable {
    private let last = Mutex<(value: Value, bytes: [UInt8])?>(nil)

    func answer(_ value: Value) -> HTTPAnswer {
        .bytes(bytes(of: value), type: "application/json")
    }

    func bytes(of value: Value) -> [UInt8] {
        last.withLock { last in
            if let last, last.value == value { return last.bytes }
            let bytes = value.json.bytes
            last = (value, bytes)
            return bytes
        }
    }
}

extension JSON {
    /// The compact text of the value, in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }
}

extension JSONObject {
    var bytes: [UInt8] { JSON.object(self).bytes }
}

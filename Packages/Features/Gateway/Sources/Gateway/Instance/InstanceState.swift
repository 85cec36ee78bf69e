import Capabilities
import JSON
import ProcessKit

/// What a running gateway says of itself to other commands, in a file.
struct InstanceState: Sendable, Hashable {
    var process: ProcessIdentity
    var started: Timestamp
    /// Where it listens: URLs, and `unix:` with a path.
    var addresses: [String]
    /// SHA-256 of its certificate in hexadecimal digits, where it speaks TLS.
    var fingerprint: String?

    var json: JSON {
        var object: JSONObject = [
            "pid": .int(Int(process.process)), "process": .string(process.text), "started": started.json,
            "addresses": addresses.json,
        ]
        if let fingerprint { object["fingerprint"] = .string(fingerprint) }
        return .object(object)
    }
}

extension InstanceState {
    init(json: JSON) throws(ValueError) {
        func member<Value: InputValue>(_ name: String, _ type: Value.Type) throws(ValueError) -> Value {
            do { return try Value(json: json[name] ?? .null) } catch { throw error.under(name) }
        }
        guard let process = ProcessIdentity(try member("process", String.self)) else {
            throw ValueError("names no process", at: ["process"])
        }
        self.process = process
        started = try member("started", Timestamp.self)
        addresses = try member("addresses", [String].self)
        fingerprint = try member("fingerprint", String?.self)
    }
}

import Synchronization

/// What features share among the compositions of a session, by feature and name.
final class SharedValues: Sendable {
    private let values = Mutex<[String: any Sendable]>([:])

    /// The value that is there, else a new one, which stays.
    func value<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[name] as? Value { return value }
            let value = make()
            values[name] = value
            return value
        }
    }
}

import Capabilities
import JSON
import ModelKit
import StorageKit

/// A value that one column keeps as JSON.
struct Written<Value: InputValue & OutputValue>: Storable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    var stored: StoredValue { .text(value.json.text()) }

    /// Nil for what is none, which the reader of the row reports: rules must not be lost in silence.
    init?(stored: StoredValue) {
        guard case .text(let text) = stored else { return nil }
        do {
            value = try Value(json: JSON(parsing: text, reading: MessageCoding.reading))
        } catch {
            return nil
        }
    }
}

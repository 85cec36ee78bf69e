public import Capabilities

/// A type whose values can be stored in one column.
///
/// An enumeration with raw values needs nothing but the name of this protocol: `enum Role: String, Storable { … }`.
public protocol Storable {
    /// How SQLite keeps it.
    var stored: StoredValue { get }
    /// Reads it back. Nil when the stored value has another type, which the reader reports as an error.
    init?(stored: StoredValue)
}

extension Storable where Self: RawRepresentable, RawValue: Storable {
    public var stored: StoredValue { rawValue.stored }

    public init?(stored: StoredValue) {
        guard let raw = RawValue(stored: stored) else { return nil }
        self.init(rawValue: raw)
    }
}

extension Optional: Storable where Wrapped: Storable {
    public var stored: StoredValue { self?.stored ?? .null }

    public init?(stored: StoredValue) {
        if stored == .null {
            self = .none
        } else if let value = Wrapped(stored: stored) {
            self = .some(value)
        } else {
            return nil
        }
    }
}

/// One value as SQLite keeps it.
public enum StoredValue: Sendable, Hashable {
    /// No value.
    case null
    /// A whole number of 64 bits.
    case integer(Int64)
    /// A binary fraction; never NaN, which SQLite would turn into null.
    case real(Double)
    /// Text, zero characters included.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// The kind of value for errors, which never show the value itself.
    var name: String {
        switch self {
        case .null: "no value"
        case .integer: "an integer"
        case .real: "a fraction"
        case .text: "text"
        case .blob: "bytes"
        }
    }
}

extension StoredValue: Storable {
    public var stored: StoredValue { self }
    public init?(stored: StoredValue) { self = stored }
}

extension Int64: Storable {
    public var stored: StoredValue { .integer(self) }
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self = number
    }
}

extension Int: Storable {
    public var stored: StoredValue { .integer(Int64(self)) }
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self.init(exactly: number)
    }
}

extension Bool: Storable {
    public var stored: StoredValue { .integer(self ? 1 : 0) }
    public init?(stored: StoredValue) {
        switch stored {
        case .integer(0): self = false
        case .integer(1): self = true
        default: return nil
        }
    }
}

extension Double: Storable {
    public var stored: StoredValue { .real(self) }
    /// Takes a whole number too, if that is exact, because expressions such as `sum(x)` may give one.
    public init?(stored: StoredValue) {
        switch stored {
        case .real(let number): self = number
        case .integer(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension String: Storable {
    public var stored: StoredValue { .text(self) }
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored else { return nil }
        self = text
    }
}

extension [UInt8]: Storable {
    public var stored: StoredValue { .blob(self) }
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self = bytes
    }
}

/// Kept as microseconds since 1970, so that it sorts and compares in SQL.
extension Timestamp: Storable {
    public var stored: StoredValue { .integer(microseconds) }
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self.init(microseconds: number)
    }
}

/// A type whose values can be stored in one column.
///
/// An enumeration with raw values needs nothing but the name of this protocol: `enum Role: String, Storable { … }`.
public protocol Storable {
    /// How SQLite keeps it.
    var stored: StoredValue { get }
    /// Reads it back; nil where the stored value is none of this type, which the reader reports as an error.
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

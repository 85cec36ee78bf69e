public import Capabilities

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

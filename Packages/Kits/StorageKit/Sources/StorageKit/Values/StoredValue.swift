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

    /// What it is, in errors, which never tell the value itself.
    var name: String {
        switch self {
        case .null: "no value"
        case .integer: "a whole number"
        case .real: "a fraction"
        case .text: "text"
        case .blob: "bytes"
        }
    }
}

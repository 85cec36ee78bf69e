/// The kinds of values, as far as their first byte tells them.
public enum JSONKind: Sendable {
    case null, boolean, number, string, array, object

    init?(first byte: UInt8) {
        switch byte {
        case UInt8(ascii: "n"): self = .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case JSONByte.minus, JSONByte.zero...JSONByte.nine: self = .number
        case JSONByte.quote: self = .string
        case JSONByte.openBracket: self = .array
        case JSONByte.openBrace: self = .object
        default: return nil
        }
    }

    /// The kind with its article, for messages.
    var name: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

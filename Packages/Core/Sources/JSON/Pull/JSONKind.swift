/// The kinds of values, as far as their first byte tells them.
public enum JSONKind: Sendable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean
    /// An integer or another number.
    case number
    /// A text.
    case string
    /// An ordered list.
    case array
    /// Named members.
    case object

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

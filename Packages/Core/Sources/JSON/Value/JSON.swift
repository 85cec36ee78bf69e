/// A JSON value.
public enum JSON: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case bool(Bool)
    /// An integer that fits `Int`.
    case int(Int)
    /// The decimal digits, with a sign if negative, of an integer that does not fit `Int`.
    case big(String)
    /// A number that was written with a fraction or an exponent.
    case double(Double)
    /// A text.
    case string(String)
    /// An ordered list.
    case array([JSON])
    /// Named members, in the order they were written.
    case object(JSONObject)
}

extension JSON: CustomStringConvertible {
    /// The compact text of the value.
    public var description: String { text() }
}

extension JSON: ExpressibleByNilLiteral {
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
}

extension JSON: ExpressibleByBooleanLiteral {
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int) { self = .int(value) }
}

extension JSON: ExpressibleByFloatLiteral {
    /// A number with a fraction or an exponent.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension JSON: ExpressibleByStringInterpolation {
    /// A string, possibly interpolated.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSON: ExpressibleByArrayLiteral {
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON: ExpressibleByDictionaryLiteral {
    /// An object; of two equal keys the last value counts.
    public init(dictionaryLiteral members: (String, JSON)...) { self = .object(JSONObject(members)) }
}

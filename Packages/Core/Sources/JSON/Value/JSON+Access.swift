extension JSON {
    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// This, or nothing where it is `null`: what an absent member and one that is null have in common.
    public var unlessNull: JSON? {
        if isNull { return Optional.none }
        return self
    }

    /// The value of a `true` or `false`.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The value of an integer that fits `Int`.
    public var int: Int? {
        guard case .int(let value) = self else { return nil }
        return value
    }

    /// The value of any number, rounded where it is an integer that a `Double` cannot hold.
    public var double: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(value)
        case .big(let digits): Double(digits)
        default: nil
        }
    }

    /// The value of a string.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of an array.
    public var array: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object.
    public var object: JSONObject? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The member of an object, or nil where this is no object or has no such member.
    public subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element of an array, or nil where this is no array or has no such element.
    public subscript(_ index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// What kind of value this is, with its article: "a string", "an integer".
    public var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .big: "an integer"
        case .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

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
    /// A string.
    case string(String)
    /// An ordered list.
    case array([JSON])
    /// Named members, in the order they were written.
    case object(JSONObject)
}

extension JSON: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { text() }
}

extension JSON {
    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value, or nil if it is `null`; treats an absent member and a null one alike.
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

    /// The value of any number. An integer that a `Double` cannot hold is rounded.
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

    /// The member of an object, or nil if this is not an object or has no such member.
    public subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element of an array, or nil if this is not an array or has no such element.
    public subscript(_ index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The kind of the value with its article: "a string", "an integer".
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
    /// An object. If a key occurs twice, the last value counts.
    public init(dictionaryLiteral members: (String, JSON)...) { self = .object(JSONObject(members)) }
}

extension JSON {
    /// Parses a text that contains one value.
    public init(parsing text: String, reading: JSONReading = .strict) throws(JSONError) {
        self = try JSON(parsing: text.utf8.span, reading: reading)
    }

    /// Parses a UTF-8 text that contains one value.
    public init(parsing bytes: [UInt8], reading: JSONReading = .strict) throws(JSONError) {
        self = try JSON(parsing: bytes.span, reading: reading)
    }

    /// Parses a UTF-8 text that contains one value.
    public init(parsing bytes: Span<UInt8>, reading: JSONReading = .strict) throws(JSONError) {
        // Bytes have no padding, so the raw view is safe.
        self = try unsafe JSON(parsing: bytes.bytes, reading: reading)
    }

    /// Parses a UTF-8 text that contains one value.
    public init(parsing bytes: RawSpan, reading: JSONReading = .strict) throws(JSONError) {
        self = try unsafe bytes.withUnsafeBytes { (buffer) throws(JSONError) -> JSON in
            let cursor = try unsafe JSONCursor(buffer, reading)
            switch reading.dialect {
            case .json:
                var parser = JSONTreeParser(cursor, reading)
                return try parser.document()
            case .json5:
                var parser = JSON5Parser(cursor, reading)
                guard let syntax = try parser.document() else { throw parser.cursor.failure(.expectedValue) }
                return syntax.json
            }
        }
    }
}

extension JSON {
    /// The value as JSON text, compact by default.
    ///
    /// A number that JSON cannot express becomes `null`. No reader creates such a number.
    public func text(_ options: JSONWriting = []) -> String {
        var bytes: [UInt8] = []
        write(into: &bytes, options)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as JSON text in UTF-8.
    public func write(into bytes: inout [UInt8], _ options: JSONWriting = []) {
        let style = options.contains(.pretty) ? JSONWriter.Style.lines(indent: "  ") : .compact
        var writer = JSONWriter(style, isSorted: options.contains(.sorted))
        swap(&writer.output, &bytes)
        writer.write(self)
        swap(&writer.output, &bytes)
    }
}

public import JSON

/// A type with a declared shape.
public protocol Shaped: Sendable {
    /// The shape that every surface parses, checks, prints and documents.
    static var schema: Schema { get }
}

/// A type that a parameter or a setting can have.
public protocol InputValue: Shaped {
    /// The value from JSON that the schema accepted.
    init(json: JSON) throws(ValueError)
    /// The value if nothing was given; nil if a value is required.
    static var whenAbsent: Self? { get }
}

extension InputValue {
    public static var whenAbsent: Self? { nil }
}

/// A type that an action can return, or that a default value can have.
public protocol OutputValue: Shaped {
    /// The value itself.
    var json: JSON { get }
    /// The exit code of a command that ends with this result. A doctor's findings, for example, are printed normally
    /// but can still mean that something is wrong.
    var exit: ExitCode { get }
}

extension OutputValue {
    public var exit: ExitCode { .done }
}

/// A value does not have the declared shape.
public struct ValueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the value: member names and indices from the outside in.
    public let path: [String]
    /// What is wrong, as the end of a sentence that begins with the value's name ("needs a whole number").
    public let message: String

    /// Without a path, the whole value is wrong.
    public init(_ message: String, at path: [String] = []) {
        self.message = message
        self.path = path
    }

    /// The same problem as seen from the value around it.
    public func under(_ name: String) -> ValueError {
        ValueError(message, at: [name] + path)
    }

    public var description: String {
        path.isEmpty ? message : "\(path.joined(separator: ".")): \(message)"
    }
}

extension String {
    /// The text in quotes, shortened so that messages stay readable.
    public var quotedForMessage: String {
        "'\(shortened(to: 60))'"
    }

    /// The first scalars of the text. Characters cannot bound it, because one character can hold megabytes of accents.
    func shortened(to limit: Int) -> String {
        let shown = unicodeScalars.prefix(limit)
        return shown.endIndex < endIndex ? String(shown) + "…" : self
    }
}

/// An enumeration whose raw values are the words that people type.
///
/// ```swift
/// enum Units: String, Choice { case metric, imperial }
/// ```
public protocol Choice: InputValue, OutputValue, CaseIterable, RawRepresentable where RawValue == String {}

extension Choice {
    // Generic code would create a key path at run time for each type. The same would happen to the mapping of the
    // cases, so this is inlinable.
    @inlinable public static var schema: Schema { .choice(allCases.map { $0.rawValue }) }
    public var json: JSON { .string(rawValue) }
    public init(json: JSON) throws(ValueError) {
        guard let value = json.string.flatMap(Self.init(rawValue:)) else {
            throw schemaProblem(Self.schema, json)
        }
        self = value
    }
}

private func schemaProblem(_ schema: Schema, _ json: JSON) -> ValueError {
    schema.problems(in: json).first ?? ValueError("is not one of the allowed values")
}

extension String: InputValue, OutputValue {
    public static var schema: Schema { .string }
    public var json: JSON { .string(self) }
    public init(json: JSON) throws(ValueError) {
        guard let text = json.string else { throw ValueError("needs text, not \(json.kindName)") }
        self = text
    }
}

extension Int: InputValue, OutputValue {
    public static var schema: Schema { .integer(nil) }
    public var json: JSON { .int(self) }
    public init(json: JSON) throws(ValueError) {
        guard let number = json.wholeNumber else { throw ValueError(JSON.wholeNumberProblem(json)) }
        self = number
    }
}

extension JSON {
    /// The value as an integer. Also accepts `5.0`, which JSON Schema and many clients treat as the same.
    public var wholeNumber: Int? {
        // A number slightly below the least integer is rounded to it when it is read.
        int ?? double.flatMap { Int(exactly: $0) }.flatMap { $0 == .min ? nil : $0 }
    }

    /// Why the value is not a whole number.
    static func wholeNumberProblem(_ value: JSON) -> String {
        switch value {
        case .big: "is too large"
        case .double(let number) where number.rounded() == number: "is too large"
        case .double: "needs a whole number, not one with a fraction"
        default: "needs a whole number, not \(value.kindName)"
        }
    }
}

extension Double: InputValue, OutputValue {
    public static var schema: Schema { .number(nil) }
    public var json: JSON { .double(self) }
    public init(json: JSON) throws(ValueError) {
        guard let number = json.double else { throw ValueError("needs a number, not \(json.kindName)") }
        self = number
    }
}

extension Bool: InputValue, OutputValue {
    public static var schema: Schema { .boolean }
    public var json: JSON { .bool(self) }
    public init(json: JSON) throws(ValueError) {
        guard let value = json.bool else { throw ValueError("needs true or false, not \(json.kindName)") }
        self = value
    }
}

extension JSON: InputValue, OutputValue {
    public static var schema: Schema { .any }
    public var json: JSON { self }
    public init(json: JSON) { self = json }
}

extension Optional: Shaped where Wrapped: Shaped {
    public static var schema: Schema { .optional(Wrapped.schema) }
}

extension Optional: InputValue where Wrapped: InputValue {
    // Inlinable, because generic code would look up the optional type at run time.
    @inlinable @inline(__always) public init(json: JSON) throws(ValueError) {
        self = json.isNull ? nil : try Wrapped(json: json)
    }
    public static var whenAbsent: Wrapped?? { .some(nil) }
}

extension Optional: OutputValue where Wrapped: OutputValue {
    public var json: JSON { self?.json ?? .null }
}

extension Array: Shaped where Element: Shaped {
    public static var schema: Schema { .array(Element.schema) }
}

extension Array: InputValue where Element: InputValue {
    public init(json: JSON) throws(ValueError) {
        guard let items = json.array else { throw ValueError("needs a list, not \(json.kindName)") }
        self = []
        reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do { append(try Element(json: item)) } catch { throw error.under(String(index)) }
        }
    }
    public static var whenAbsent: [Element]? { [] }
}

extension Array: OutputValue where Element: OutputValue {
    public var json: JSON { .array(map { $0.json }) }
}

extension Dictionary: Shaped where Key == String, Value: Shaped {
    public static var schema: Schema { .map(Value.schema) }
}

extension Dictionary: InputValue where Key == String, Value: InputValue {
    public init(json: JSON) throws(ValueError) {
        guard let members = json.object else { throw ValueError("needs an object, not \(json.kindName)") }
        self = [:]
        for (name, value) in members {
            do { self[name] = try Value(json: value) } catch { throw error.under(name) }
        }
    }
    public static var whenAbsent: [String: Value]? { [:] }
}

extension Dictionary: OutputValue where Key == String, Value: OutputValue {
    public var json: JSON {
        .object(JSONObject(sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
    }
}

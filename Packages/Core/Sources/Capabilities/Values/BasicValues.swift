public import JSON

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
    /// An integer, also one that is written as `5.0`, which JSON Schema and many clients take for the same.
    public var wholeNumber: Int? {
        // What is a little less than the least integer is rounded to just that when it is read.
        int ?? double.flatMap { Int(exactly: $0) }.flatMap { $0 == .min ? nil : $0 }
    }

    /// Why there is none.
    static func wholeNumberProblem(_ value: JSON) -> String {
        switch value {
        case .big: "is too large a number"
        case .double(let number) where number.rounded() == number: "is too large a number"
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
    public init(json: JSON) throws(ValueError) {
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

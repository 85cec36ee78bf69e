public import JSON

/// The shape of a value that crosses the registry: a parameter, a setting or a result.
///
/// One schema serves every surface: it parses command-line words, checks a bundle's JSON, becomes a JSON Schema for an
/// MCP host and tells a frontend how to print the value.
public indirect enum Schema: Sendable, Hashable {
    /// Any JSON value.
    case any
    /// True or false.
    case boolean
    /// A whole number in this range; nil for any.
    case integer(ClosedRange<Int>?)
    /// A number in this range; nil for any.
    case number(ClosedRange<Double>?)
    /// Any text.
    case string
    /// One of these words.
    case choice([String])
    /// A path on this machine, with its use.
    case path(PathPurpose)
    /// A text with `://`, such as `https://example.com`.
    case url
    /// A host, host:port or address.
    case host
    /// A text such as `1m30s`, or a number of seconds.
    case duration
    /// A number of bytes in this range, or a text such as `64KiB`; nil for any.
    case size(ClosedRange<Int>?)
    /// A date and time in ISO 8601.
    case time
    /// A text that is never shown.
    case secret
    /// The name of a secret.
    case secretName
    /// The name of a program to run.
    case program
    /// A list of elements with this shape.
    case array(Schema)
    /// An object with any member names, whose values have this shape.
    case map(Schema)
    /// An object with these members.
    case record([Property])
    /// A value that may be left out or null.
    case optional(Schema)

    /// A named value: a member of a record, a parameter, a setting or an input of a route.
    public struct Property: Sendable, Hashable {
        /// The name in the JSON.
        public let name: String
        /// The meaning in one line, without a final stop.
        public let summary: String
        /// The shape of the value; `optional` if the member may be left out.
        public let schema: Schema
        /// The default, where there is one that can be shown.
        public let defaultValue: JSON?
        /// How a frontend shows it.
        public let role: Role
        /// JSON Schema keywords for what only the reader of the value checks, such as `minItems`.
        public var keywords: JSONObject

        /// By default it has no default and no keywords, and is shown without emphasis.
        public init(
            _ name: String, _ summary: String, _ schema: Schema, defaultValue: JSON? = nil, role: Role = .plain,
            keywords: JSONObject = [:]
        ) {
            self.name = name
            self.summary = summary
            self.schema = schema
            self.defaultValue = defaultValue
            self.role = role
            self.keywords = keywords
        }

        /// The same value, which may be left out.
        public var optional: Property {
            Property(
                name, summary, .optional(schema.unwrapped), defaultValue: defaultValue, role: role, keywords: keywords)
        }

        /// The differences between the default and the schema.
        public var defaultProblems: [ValueError] { defaultValue.map { schema.problems(in: $0) } ?? [] }
    }

    /// How a frontend should treat a member: a role, never a colour.
    public enum Role: Sendable, Hashable {
        /// Shown without emphasis.
        case plain
        /// The name of the row.
        case name
        /// A state word (`ok`, `failed`…), styled so that problems stand out.
        case state
        /// Dropped first if a table is too wide; the table then names it.
        case minor
        /// Left out of tables, shown when one record is printed.
        case detail
    }

    /// The schema without its optionality.
    public var unwrapped: Schema {
        if case .optional(let inner) = self { inner.unwrapped } else { self }
    }

    /// Whether a value may be left out.
    public var isOptional: Bool {
        if case .optional = self { true } else { false }
    }

    /// The schema of one element when the value may be given several times.
    public var element: Schema? {
        if case .array(let element) = unwrapped { element } else { nil }
    }
}

/// Something that is declared with a property: a parameter, a setting, a field of a record or an input of a route.
public protocol PropertyDeclaration: Sendable {
    /// Its name, meaning, shape and default.
    var property: Schema.Property { get }
}

extension PropertyDeclaration {
    // Inlinable, because a call from another module would copy the whole property.

    /// Its name.
    @inlinable public var name: String { property.name }
    /// The meaning in one line, without a final stop.
    @inlinable public var summary: String { property.summary }
    /// The shape of the value.
    @inlinable public var schema: Schema { property.schema }
    /// The default, where there is one that can be shown.
    @inlinable public var defaultValue: JSON? { property.defaultValue }
}

extension Schema {
    /// All differences between a value and the schema, so that a person can fix them all at once. Stops after
    /// `SchemaProblems.limit`.
    public func problems(in value: JSON) -> [ValueError] {
        var problems = SchemaProblems()
        check(value, &problems)
        return problems.all
    }

    func check(_ value: JSON, _ problems: inout SchemaProblems) {
        switch self {
        case .optional(let inner):
            if !value.isNull { inner.check(value, &problems) }
        case .array(let element):
            guard let items = value.array else { return problems.add(needs("a list", value)) }
            for (index, item) in items.enumerated() {
                if problems.isFull { return }
                problems.check(item, element, at: String(index))
            }
        case .map(let element):
            guard let members = value.object else { return problems.add(needs("an object", value)) }
            for (name, item) in members {
                if problems.isFull { return }
                problems.check(item, element, at: name)
            }
        case .record(let properties):
            guard let members = value.object else { return problems.add(needs("an object", value)) }
            checkRecord(properties, members, &problems)
        default:
            if let problem = problem(in: value) { problems.add(problem) }
        }
    }

    /// The problem of a value that contains no other values.
    private func problem(in value: JSON) -> String? {
        switch self {
        case .any, .optional, .array, .map, .record:
            return nil
        case .boolean:
            return value.bool == nil ? needs("true or false", value) : nil
        case .integer(let range):
            guard let number = value.wholeNumber else { return JSON.wholeNumberProblem(value) }
            return outside(number, range)
        case .number(let range):
            guard let number = value.double else { return needs("a number", value) }
            return outside(number, range)
        case .string, .path, .url, .host, .secret, .secretName, .program, .time:
            return value.string == nil ? needs("text", value) : textProblem(value)
        case .choice(let names):
            guard let text = value.string else { return needs("one of \(names.joined(separator: ", "))", value) }
            return names.contains(text) ? nil : unknownChoice(text, names)
        case .duration:
            if let number = value.double {
                if number < 0 { return "must not be negative" }
                return number < 1e12 ? nil : "is too long for a duration"
            }
            guard let text = value.string else { return needs("a duration such as 30s or 1m30s", value) }
            return Duration(words: text) == nil
                ? "needs a duration such as 250ms, 30s or 1m30s, not \(text.quotedForMessage)" : nil
        case .size(let range):
            if let number = value.int {
                return number >= 0 ? outside(ByteCount(number), range) : "must not be negative"
            }
            guard let text = value.string else { return needs("a size such as 64KiB", value) }
            guard let size = ByteCount(words: text) else {
                return "needs a size such as 4096, 64KiB or 10MB, not \(text.quotedForMessage)"
            }
            return outside(size, range)
        }
    }

    private func checkRecord(_ properties: [Property], _ members: JSONObject, _ problems: inout SchemaProblems) {
        for property in properties {
            if problems.isFull { return }
            if let value = members[property.name] {
                problems.check(value, property.schema, at: property.name)
            } else if !property.schema.isOptional {
                problems.add("is missing", at: property.name)
            }
        }
        for (name, _) in members where !properties.contains(where: { $0.name == name }) {
            if problems.isFull { return }
            let suggestion = Suggestion.text(for: name, among: properties.map { $0.name })
            problems.add("is not known here\(suggestion)", at: name)
        }
    }

    private func textProblem(_ value: JSON) -> String? {
        switch self {
        case .time where value.string.flatMap(Timestamp.init(iso8601:)) == nil:
            "needs a time such as 2026-11-20T09:30:00Z"
        case .url where value.string?.contains("://") != true:
            "needs a URL such as https://example.com"
        case .path where value.string?.isEmpty == true:
            "needs a path, not empty text"
        case .path where value.string?.utf8.contains(0) == true:
            "must not contain a zero byte"
        case .host where value.string?.isEmpty == true:
            "needs a host, not empty text"
        case .secretName where value.string?.isEmpty == true:
            "needs the name of a secret, not empty text"
        case .program where value.string?.isEmpty == true:
            "needs the name of a program, not empty text"
        default: nil
        }
    }

    private func unknownChoice(_ text: String, _ names: [String]) -> String {
        "needs one of \(names.joined(separator: ", ")), not \(text.quotedForMessage)"
            + Suggestion.text(for: text, among: names)
    }

    private func needs(_ what: String, _ value: JSON) -> String {
        "needs \(what), not \(value.kindName)"
    }

    private func outside(_ size: ByteCount, _ range: ClosedRange<Int>?) -> String? {
        guard let range, !range.contains(size.bytes) else { return nil }
        let (least, most) = (ByteCount(range.lowerBound).words, ByteCount(range.upperBound).words)
        return "must be from \(least) to \(most), not \(size.words)"
    }

    private func outside<Number: Comparable>(_ number: Number, _ range: ClosedRange<Number>?) -> String? {
        guard let range, !range.contains(number) else { return nil }
        if range.upperBound as? Int == .max { return "must be at least \(range.lowerBound), not \(number)" }
        return "must be from \(range.lowerBound) to \(range.upperBound), not \(number)"
    }
}

extension Schema {
    /// This schema as JSON Schema 2020-12, without the `$schema` member. Describes what to send.
    public var jsonSchema: JSONObject { jsonSchema(accepting: []) }

    /// What a reader accepts beyond the schema.
    public struct Leniency: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Null for optional values.
        public static let nulls = Leniency(rawValue: 1)
        /// Unknown members of objects.
        public static let unknownMembers = Leniency(rawValue: 2)
    }

    /// This schema as JSON Schema 2020-12. Describes everything that a reader with this leniency accepts.
    public func jsonSchema(accepting leniency: Leniency) -> JSONObject {
        switch self {
        case .any: return [:]
        case .boolean: return ["type": "boolean"]
        case .integer(let range):
            guard let range else { return ["type": "integer"] }
            var schema: JSONObject = ["type": "integer", "minimum": .int(range.lowerBound)]
            if range.upperBound != .max { schema["maximum"] = .int(range.upperBound) }
            return schema
        case .number(let range):
            guard let range else { return ["type": "number"] }
            return ["type": "number", "minimum": .double(range.lowerBound), "maximum": .double(range.upperBound)]
        case .string, .path, .host, .secretName, .program: return ["type": "string"]
        case .secret: return ["type": "string", "writeOnly": true]
        case .choice(let names): return ["type": "string", "enum": .array(names.map { .string($0) })]
        case .url: return ["type": "string", "format": "uri"]
        case .time: return ["type": "string", "format": "date-time"]
        case .duration:
            return [
                "type": ["string", "number"], "description": "a duration such as 30s or 1m30s; a number means seconds",
            ]
        case .size(let range):
            var schema: JSONObject = [
                "type": ["integer", "string"], "description": "bytes, or a size such as 64KiB",
            ]
            // These bounds apply to numbers only; sizes written as text are checked here.
            if let range { (schema["minimum"], schema["maximum"]) = (.int(range.lowerBound), .int(range.upperBound)) }
            return schema
        case .array(let element): return ["type": "array", "items": .object(element.jsonSchema(accepting: leniency))]
        case .map(let element):
            return ["type": "object", "additionalProperties": .object(element.jsonSchema(accepting: leniency))]
        case .record(let properties): return Self.recordSchema(properties, leniency)
        case .optional(let inner):
            let schema = inner.jsonSchema(accepting: leniency)
            return leniency.contains(.nulls) ? Self.orNull(schema) : schema
        }
    }

    /// A JSON Schema object with these properties, and with others only if unknown members are accepted.
    private static func recordSchema(_ properties: [Property], _ leniency: Leniency) -> JSONObject {
        var members = JSONObject()
        for property in properties {
            var schema = property.schema.unwrapped.jsonSchema(accepting: leniency)
            for (word, value) in property.keywords { schema[word] = value }
            if property.schema.isOptional, leniency.contains(.nulls) { schema = orNull(schema) }
            schema["description"] = .string(property.summary)
            if let defaultValue = property.defaultValue, !defaultValue.isNull { schema["default"] = defaultValue }
            members[property.name] = .object(schema)
        }
        let required = properties.filter { !$0.schema.isOptional }.map { JSON.string($0.name) }
        var schema: JSONObject = ["type": "object", "properties": .object(members)]
        if !leniency.contains(.unknownMembers) { schema["additionalProperties"] = false }
        if !required.isEmpty { schema["required"] = .array(required) }
        return schema
    }

    /// A JSON Schema that also accepts null. A schema with a type gets a second type; keywords that restrict values of
    /// every type need `anyOf`.
    public static func orNull(_ schema: JSONObject) -> JSONObject {
        if schema.isEmpty { return schema }
        if let type = schema["type"], schema["enum"] == nil, schema["const"] == nil, schema["anyOf"] == nil {
            let names = type.array ?? [type]
            var schema = schema
            if !names.contains("null") { schema["type"] = .array(names + ["null"]) }
            return schema
        }
        return ["anyOf": [.object(schema), ["type": "null"]]]
    }
}

extension Schema {
    /// A value from one word of a command line or an environment variable.
    ///
    /// - Throws: `ValueError` that says what was expected.
    public func json(fromWord word: String) throws(ValueError) -> JSON {
        switch self {
        case .optional(let inner):
            return try inner.json(fromWord: word)
        case .boolean:
            guard let value = Self.booleanWords[word.lowercased()] else { throw expected("true or false", got: word) }
            return .bool(value)
        case .integer:
            guard let value = Int(word) else { throw expected("a whole number", got: word) }
            return try checked(.int(value))
        case .number:
            guard let value = Double(word), value.isFinite else { throw expected("a number", got: word) }
            return try checked(.double(value))
        case .any, .array, .map, .record:
            return try structured(word)
        case .string, .choice, .path, .url, .host, .duration, .size, .time, .secret, .secretName, .program:
            return try checked(.string(word))
        }
    }

    private static let booleanWords = [
        "true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
    ]

    /// Structured values are written as JSON. A list of plain values can also be separated by commas.
    private func structured(_ word: String) throws(ValueError) -> JSON {
        switch self {
        case .array(let element) where !word.hasPrefix("["):
            var items: [JSON] = []
            for part in word.split(separator: ",") {
                items.append(try element.json(fromWord: String(part)))
            }
            return .array(items)
        case .any:
            // Anything that is not JSON counts as text.
            do { return try JSON(parsing: word, reading: .json5) } catch { return .string(word) }
        default:
            let value: JSON
            do { value = try JSON(parsing: word, reading: .json5) } catch {
                throw ValueError("is not valid JSON (\(error.message)): \(word.quotedForMessage)")
            }
            return try checked(value)
        }
    }

    private func checked(_ value: JSON) throws(ValueError) -> JSON {
        if let problem = problems(in: value).first { throw problem }
        return value
    }

    private func expected(_ what: String, got word: String) -> ValueError {
        ValueError("needs \(what), not \(word.quotedForMessage)")
    }
}

/// The problems found so far. Collecting stops after a limit: a value of a few megabytes can be wrong in millions of
/// places, and the messages would be a thousand times as large.
public struct SchemaProblems: Sendable {
    /// The number of problems that are listed; after them one sentence says that there are more.
    public static let limit = 20
    /// Longer names are cut, because they come from the value.
    private static let longestName = 100

    /// The problems in the order in which they were found.
    public private(set) var all: [ValueError] = []
    private var path: [String] = []

    /// No problems yet.
    public init() {}

    /// Whether there is no point in checking further.
    public var isFull: Bool { all.count > Self.limit }

    /// Adds a problem at the present place, or at a member of it.
    public mutating func add(_ message: String, at member: String? = nil) {
        guard all.count < Self.limit else {
            if !isFull { all.append(ValueError("has more problems than the \(Self.limit) listed")) }
            return
        }
        let place = member.map { path + [$0] } ?? path
        all.append(ValueError(message, at: place.map { $0.shortened(to: Self.longestName) }))
    }

    /// Adds the differences between a member and its schema, up to the limit.
    public mutating func check(_ value: JSON, _ schema: Schema, at member: String) {
        path.append(member)
        schema.check(value, &self)
        path.removeLast()
    }
}

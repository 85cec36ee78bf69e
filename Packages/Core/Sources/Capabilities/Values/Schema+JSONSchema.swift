public import JSON

extension Schema {
    /// This schema as JSON Schema 2020-12, without the `$schema` member: what should be given.
    public var jsonSchema: JSONObject { jsonSchema(accepting: []) }

    /// What a reader takes beyond what should be given.
    public struct Leniency: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Null for what may be absent.
        public static let nulls = Leniency(rawValue: 1)
        /// Members of objects that nobody knows.
        public static let unknownMembers = Leniency(rawValue: 2)
    }

    /// This schema as JSON Schema 2020-12: all that a reader of this leniency takes.
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
                "type": ["string", "number"], "description": "a duration such as 30s or 1m30s; a number is seconds",
            ]
        case .size(let range):
            var schema: JSONObject = [
                "type": ["integer", "string"], "description": "bytes, or a size such as 64KiB",
            ]
            // They say something of a number alone; the words for a size are checked here.
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

    /// A JSON Schema object whose members are the given properties, and no others unless unknown ones are taken.
    private static func recordSchema(_ properties: [Property], _ leniency: Leniency) -> JSONObject {
        var members = JSONObject()
        for property in properties {
            var schema = property.schema.unwrapped.jsonSchema(accepting: leniency)
            for (word, value) in property.keywords { schema[word] = value }
            if property.schema.isOptional, leniency.contains(.nulls) { schema = orNull(schema) }
            schema["description"] = .string(property.summary)
            members[property.name] = .object(schema)
        }
        let required = properties.filter { !$0.schema.isOptional }.map { JSON.string($0.name) }
        var schema: JSONObject = ["type": "object", "properties": .object(members)]
        if !leniency.contains(.unknownMembers) { schema["additionalProperties"] = false }
        if !required.isEmpty { schema["required"] = .array(required) }
        return schema
    }

    /// A JSON Schema that takes null too. A type takes a second name; words that bind values of every type need a choice
    /// beside them.
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

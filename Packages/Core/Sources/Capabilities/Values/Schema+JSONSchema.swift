public import JSON

extension Schema {
    /// This schema as JSON Schema 2020-12, without the `$schema` member.
    public var jsonSchema: JSONObject {
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
        case .string, .path: return ["type": "string"]
        case .secret: return ["type": "string", "writeOnly": true]
        case .choice(let names): return ["type": "string", "enum": .array(names.map { .string($0) })]
        case .url: return ["type": "string", "format": "uri"]
        case .time: return ["type": "string", "format": "date-time"]
        case .duration:
            return [
                "type": ["string", "number"], "description": "a duration such as 30s or 1m30s; a number is seconds",
            ]
        case .size:
            return ["type": ["integer", "string"], "description": "bytes, or a size such as 64KiB"]
        case .array(let element): return ["type": "array", "items": .object(element.jsonSchema)]
        case .map(let element): return ["type": "object", "additionalProperties": .object(element.jsonSchema)]
        case .record(let properties): return Self.recordSchema(properties)
        case .optional(let inner): return inner.jsonSchema
        }
    }

    /// A JSON Schema object whose members are the given properties and no others.
    static func recordSchema(_ properties: [Property]) -> JSONObject {
        var members = JSONObject()
        for property in properties {
            var schema = property.schema.jsonSchema
            for (word, value) in property.keywords { schema[word] = value }
            schema["description"] = .string(property.summary)
            members[property.name] = .object(schema)
        }
        let required = properties.filter { !$0.schema.isOptional }.map { JSON.string($0.name) }
        var schema: JSONObject = ["type": "object", "properties": .object(members), "additionalProperties": false]
        if !required.isEmpty { schema["required"] = .array(required) }
        return schema
    }
}

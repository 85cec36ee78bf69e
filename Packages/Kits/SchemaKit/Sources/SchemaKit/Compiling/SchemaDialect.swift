import JSON

/// The draft that a schema is written for.
struct SchemaDialect {
    /// Where a keyword has subschemas.
    enum Parts {
        case none
        case one
        case many
        case oneOrMany
        /// The members of an object.
        case named
    }

    /// Whether the schema is written for draft-07 or older: `$ref` stands alone, and there is `dependencies`.
    let isOld: Bool
    /// The value of `$schema`, if it is none of the known drafts.
    let unknown: String?

    init(_ schema: JSON) {
        let name = schema["$schema"]?.string ?? ""
        let plain = name.hasSuffix("#") ? String(name.dropLast()) : name
        isOld = ["draft-07", "draft-06", "draft-04"].contains { plain.hasSuffix("json-schema.org/\($0)/schema") }
        let isNew = ["2020-12", "2019-09"].contains { plain.hasSuffix("json-schema.org/draft/\($0)/schema") }
        unknown = isOld || isNew || name.isEmpty ? nil : name
    }

    /// The `$id` of a schema. Beside `$ref`, draft-07 ignores it.
    func identifier(of schema: JSON) -> String? {
        guard let members = schema.object, !isOld || members["$ref"] == nil else { return nil }
        return members["$id"]?.string
    }

    static func parts(of keyword: String) -> Parts {
        switch keyword {
        case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies": .named
        case "allOf", "anyOf", "oneOf", "prefixItems": .many
        case "items": .oneOrMany
        case "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
            "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties":
            .one
        default: .none
        }
    }
}

package import JSON

/// OpenAI keeps to a schema to the letter only where all of its objects are closed and all of their members required,
/// and refuses to be strict with any other. Those it follows as well as it can.
package enum StrictSchema {
    package static func admits(_ schema: JSON) -> Bool {
        switch schema {
        case .object(let object): admits(object)
        case .array(let elements): elements.allSatisfy(admits)
        default: true
        }
    }

    private static func admits(_ object: JSONObject) -> Bool {
        if object["type"]?.string == "object" || object["properties"]?.object != nil {
            let required = Set(object["required"]?.array?.compactMap(\.string) ?? [])
            guard object["additionalProperties"] == .bool(false),
                let members = object["properties"]?.object, members.allSatisfy({ required.contains($0.key) })
            else { return false }
        }
        return object.allSatisfy { key, value in
            // Examples and constants are data and not schemas.
            ["const", "enum", "default", "examples"].contains(key) || admits(value)
        }
    }
}

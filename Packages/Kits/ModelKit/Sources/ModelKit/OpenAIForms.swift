package import Capabilities
package import JSON

/// OpenAI follows a schema strictly only if all of its objects are closed and all of their members required, and
/// refuses strictness for any other. It follows other schemas as well as it can.
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

/// Bytes in a URI, `data:image/png;base64,…`, as images and files are sent in a message.
package enum DataURI {
    package static func encode(_ attachment: Attachment) -> String {
        "data:\(attachment.mediaType);base64,\(Base64.encode(attachment.bytes))"
    }

    /// Nil if the text is not such a URI.
    package static func decode(_ text: String) -> (mediaType: String, bytes: [UInt8])? {
        guard text.hasPrefix("data:"), let comma = text.firstIndex(of: ",") else { return nil }
        let head = text[text.index(text.startIndex, offsetBy: 5)..<comma].split(separator: ";")
        guard let type = head.first, type.contains("/"), head.last == "base64",
            let bytes = Base64.decode(text[text.index(after: comma)...])
        else { return nil }
        return (String(type), bytes)
    }
}

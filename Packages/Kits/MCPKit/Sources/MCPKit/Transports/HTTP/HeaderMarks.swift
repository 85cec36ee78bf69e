import Capabilities
import HTTPCore
import JSON

/// The arguments of a tool that are also sent as headers, so that a server's proxies need not read the message.
///
/// The schema of the tool marks them: `"region": {"type": "string", "x-mcp-header": "Region"}` is sent as
/// `Mcp-Param-Region`.
struct HeaderMarks: Sendable, Hashable {
    /// One marked argument.
    struct Mark: Sendable, Hashable {
        /// The names that lead to it from the arguments.
        let path: [String]
        /// The header without its prefix.
        let name: String
    }

    static let prefix = "Mcp-Param-"
    private static let keyword = "x-mcp-header"

    private(set) var marks: [Mark] = []

    /// Reads the marks of a schema.
    ///
    /// - Throws: why one of them is not valid, so that the tool must not be called.
    init(_ schema: JSON) throws(MCPMalformed) {
        // Not by recursion, since a server decides how deep its schemas are.
        var places: [(path: [String]?, schema: JSON)] = [([], schema)]
        var names: Set<String> = []
        while let (path, schema) = places.popLast() {
            guard let members = schema.object else { continue }
            if let mark = members[Self.keyword] {
                let name = try Self.name(mark, at: path, members["type"])
                guard names.insert(name.lowercased()).inserted else {
                    throw MCPMalformed("the header mark '\(name)' occurs twice")
                }
                marks.append(Mark(path: path ?? [], name: name))
            }
            for (key, value) in members { Self.descend(path, key, value, into: &places) }
        }
    }

    /// "Only on properties of the types string, integer and boolean, which are reached from the root by `properties`
    /// alone."
    private static func name(_ mark: JSON, at path: [String]?, _ type: JSON?) throws(MCPMalformed) -> String {
        guard let path, !path.isEmpty else {
            throw MCPMalformed("a header mark is not on a property of the arguments")
        }
        let argument = path.joined(separator: ".")
        guard let name = mark.string, !name.isEmpty, name.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
            throw MCPMalformed("the header mark of '\(argument)' is not the name of a header")
        }
        guard let type = type?.string, ["string", "integer", "boolean"].contains(type) else {
            throw MCPMalformed("the header mark of '\(argument)' is not on a string, integer or boolean")
        }
        return name
    }

    /// The keywords whose values are schemas, lists of them, or have them as members.
    private static let single: Set<String> = [
        "items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties",
        "not",
        "if", "then", "else", "contentSchema",
    ]
    private static let listed: Set<String> = ["allOf", "anyOf", "oneOf", "prefixItems"]
    private static let named: Set<String> = ["patternProperties", "dependentSchemas", "$defs", "definitions"]

    private static func descend(
        _ path: [String]?, _ key: String, _ value: JSON, into places: inout [(path: [String]?, schema: JSON)]
    ) {
        if key == "properties" {
            for (name, schema) in value.object ?? [:] { places.append((path.map { $0 + [name] }, schema)) }
        } else if single.contains(key) {
            places.append((nil, value))
        } else if listed.contains(key) {
            for schema in value.array ?? [] { places.append((nil, schema)) }
        } else if named.contains(key) {
            for (_, schema) in value.object ?? [:] { places.append((nil, schema)) }
        }
    }

    /// The headers of a call. An argument that is absent or null has none.
    func headers(for arguments: JSON?) -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        for mark in marks {
            var value = arguments
            for name in mark.path { value = value?[name] }
            guard let text = value.flatMap(Self.text) else { continue }
            fields.append((Self.prefix + mark.name, HeaderValue.encode(text)))
        }
        return fields
    }

    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .bool(let value): value ? "true" : "false"
        case .int(let number): String(number)
        case .big(let digits): digits
        case .double(let number): Int(exactly: number).map { String($0) } ?? String(number)
        case .null, .array, .object: nil
        }
    }
}

/// Any text as the value of a header: as it is where that is possible, else `=?base64?…?=`.
enum HeaderValue {
    private static let start = "=?base64?"
    private static let end = "?="

    static func encode(_ text: String) -> String {
        let isEdged = text.hasPrefix(" ") || text.hasSuffix(" ")
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !isEdged
        let looksEncoded = text.hasPrefix(start) && text.hasSuffix(end)
        return isPlain && !looksEncoded ? text : start + Base64.encode(Array(text.utf8)) + end
    }
}

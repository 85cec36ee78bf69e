import Capabilities
import HTTPCore
import HTTPServer
import JSON
import RPCKit

/// What the headers of a request must say.
enum HTTPChecks {
    /// The names of the headers.
    enum Name {
        static let session = "Mcp-Session-Id"
        static let version = "MCP-Protocol-Version"
        static let method = "Mcp-Method"
        static let subject = "Mcp-Name"
        static let parameter = "Mcp-Param-"
    }

    /// Whether the client reads all of these types.
    static func accepts(_ types: [String], _ headers: HTTPHeaders) -> Bool {
        let ranges = headers.list("Accept").map { range in
            range.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        }
        return types.allSatisfy { type in
            let family = type.prefix { $0 != "/" } + "/*"
            return ranges.contains { $0 == type || $0 == family || $0 == "*/*" }
        }
    }

    /// Whether the body is said to be JSON.
    static func isJSON(_ headers: HTTPHeaders) -> Bool {
        guard let type = headers["Content-Type"] else { return false }
        return type.prefix { $0 != ";" }.trimmingSpaces.lowercased() == "application/json"
    }

    /// The status of a JSON answer with this error of the modern era.
    static func status(_ code: Int?) -> HTTPStatus {
        switch code {
        case RPCError.methodNotFound: .notFound
        case RPCError.parseError, RPCError.invalidRequest, RPCError.invalidParams: .badRequest
        case .some(let code) where MCPError.Code.modern.contains(code): .badRequest
        default: .ok
        }
    }

    // MARK: The modern era

    /// Checks that the headers say the same as the request, since what is between client and server may decide by them.
    static func check(_ request: RPCRequest, _ envelope: ModernEnvelope, _ headers: HTTPHeaders) throws(RPCError) {
        try require(Name.version, to: envelope.version, headers)
        try require(Name.method, to: request.method, headers)
        let member: String
        switch request.method {
        case "tools/call", "prompts/get": member = "name"
        case "resources/read": member = "uri"
        case "tasks/get", "tasks/update", "tasks/cancel": member = "taskId"
        default: return
        }
        if let subject = request.params?[member]?.string { try require(Name.subject, to: subject, headers) }
    }

    private static func require(_ name: String, to value: String, _ headers: HTTPHeaders) throws(RPCError) {
        let given = headers.all(name)
        guard given.count == 1, decode(given[0]) == value else {
            let problem = given.isEmpty ? "is missing" : "is not what the request says"
            throw mismatch("the header \(name) \(given.count > 1 ? "occurs twice" : problem)")
        }
    }

    private static func mismatch(_ reason: String) -> RPCError { RPCError(MCPError.Code.headerMismatch, reason) }

    /// Whether the request has headers with arguments, which are compared with the schema of the tool.
    static func hasParameters(_ headers: HTTPHeaders) -> Bool {
        headers.contains { $0.name.lowercased().hasPrefix(Name.parameter.lowercased()) }
    }

    /// Checks that the headers with arguments say the same as the arguments, by the marks in the schema of the tool.
    static func check(_ arguments: JSON?, by schema: JSON, _ headers: HTTPHeaders) throws(RPCError) {
        for (mark, path) in marks(in: schema, at: []) {
            let name = Name.parameter + mark
            let given = headers.all(name)
            var value = arguments
            for key in path { value = value?[key] }
            let text = value?.unlessNull.flatMap(words)
            guard given.count <= 1 else { throw mismatch("the header \(name) occurs twice") }
            guard given.isEmpty ? text == nil : text != nil && decode(given[0]) == text else {
                throw mismatch("the header \(name) is not what the argument \(path.joined(separator: ".")) says")
            }
        }
    }

    private static func marks(in schema: JSON, at path: [String]) -> [(mark: String, path: [String])] {
        guard path.count < 16 else { return [] }
        var found: [(mark: String, path: [String])] = []
        for (key, property) in schema["properties"]?.object ?? [:] {
            // Other types have no spelling that all clients share.
            if let mark = property["x-mcp-header"]?.string,
                ["string", "integer", "boolean"].contains(property["type"]?.string)
            {
                found.append((mark, path + [key]))
            }
            found += marks(in: property, at: path + [key])
        }
        return found
    }

    private static func words(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .bool, .int, .big: value.text()
        case .double(let number): Int(exactly: number).map { "\($0)" }
        case .null, .array, .object: nil
        }
    }

    /// The value of a header, which may be packed because it cannot be sent as it is; nil if it is packed wrongly.
    static func decode(_ value: String) -> String? {
        guard value.hasPrefix("=?base64?"), value.hasSuffix("?="), value.utf8.count >= 11 else { return value }
        let packed = value.dropFirst(9).dropLast(2)
        // Two spellings of one value would let what is between client and server see another one.
        guard let bytes = Base64.decode(packed), Base64.encode(bytes) == packed else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

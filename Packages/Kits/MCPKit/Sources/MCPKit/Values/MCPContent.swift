public import Capabilities
public import JSON

/// What a call of a tool gave back.
public struct MCPResult: Sendable, Hashable {
    /// What is to be read, in order.
    public var parts: [ToolPart]
    /// The result for programs, if there is one.
    public var structured: JSON?
    /// Whether the tool failed; then the parts say why.
    public var isError: Bool

    /// A result to send.
    public init(_ parts: [ToolPart], structured: JSON? = nil, isError: Bool = false) {
        self.parts = parts
        self.structured = structured
        self.isError = isError
    }

    /// A result that is one text.
    public init(_ text: String, isError: Bool = false) {
        self.init([.text(text)], isError: isError)
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard json.object != nil else { throw MCPMalformed("the result is \(json.kindName), not an object") }
        // A result of before there was content.
        if json["content"] == nil, let old = json["toolResult"] {
            self.init([.text(old.string ?? old.text())])
            return
        }
        guard let content = (json["content"] ?? []).array else { throw MCPMalformed("the content is not a list") }
        var parts: [ToolPart] = []
        for part in content { parts.append(try ToolPart(mcp: part)) }
        self.init(
            parts, structured: json["structuredContent"]?.unlessNull, isError: json["isError"]?.bool ?? false)
    }

    /// The parts as the newest revision writes them, for programs.
    public var content: [JSON] { parts.map { $0.mcp(.newest) } }

    func json(_ version: MCPVersion) -> JSON {
        var members: JSONObject = ["content": .array(parts.map { $0.mcp(version) })]
        if version >= .june2025 {
            if version.isModern || structured?.object != nil { members["structuredContent"] = structured }
        }
        if isError { members["isError"] = true }
        return .object(members)
    }
}

extension ToolPart {
    init(mcp json: JSON) throws(MCPMalformed) {
        switch json["type"]?.string {
        case "text":
            guard let text = json["text"]?.string else { throw MCPMalformed("a text has no text") }
            self = .text(text)
        case "image"?, "audio"?:
            let kind = json["type"]?.string ?? ""
            guard let bytes = json["data"]?.string.flatMap({ Base64.decode($0) }) else {
                throw MCPMalformed("the data of an \(kind) part are not Base64")
            }
            let type = json["mimeType"]?.string ?? "application/octet-stream"
            self = .media(Attachment(name: kind, mediaType: type, bytes: bytes))
        case "resource"?:
            guard let resource = json["resource"] else { throw MCPMalformed("a resource has no content") }
            self = .resource(try ToolResource(mcp: resource))
        case "resource_link"?: self = .link(try ToolLink(mcp: json))
        case let other:
            // A kind of a later revision is shown as what it is, since the rest of the result may be all that matters.
            self = .text("[\(PlainText.escape(other ?? "content without a kind")): \(PlainText.escape(json.text()))]")
        }
    }

    func mcp(_ version: MCPVersion) -> JSON {
        switch self {
        case .text(let text): return ["type": "text", "text": .string(text)]
        case .media(let media):
            // Recordings came with the second revision.
            guard media.isImage || version >= .march2025 else { return ["type": "text", "text": .string(text)] }
            return [
                "type": media.isImage ? "image" : "audio", "data": .string(Base64.encode(media.bytes)),
                "mimeType": .string(media.mediaType),
            ]
        case .resource(let resource): return ["type": "resource", "resource": resource.mcp]
        case .link(let link):
            guard version >= .june2025, var members = link.mcp.object else {
                return ["type": "text", "text": .string(text)]
            }
            members["type"] = "resource_link"
            return .object(members)
        }
    }
}

extension ToolResource {
    init(mcp json: JSON) throws(MCPMalformed) {
        guard let address = json["uri"]?.string else { throw MCPMalformed("a resource has no address") }
        let content: Content
        if let text = json["text"]?.string {
            content = .text(text)
        } else if let bytes = json["blob"]?.string.flatMap({ Base64.decode($0) }) {
            content = .bytes(bytes)
        } else {
            throw MCPMalformed("the resource \(PlainText.escape(address)) has no content that can be read")
        }
        self.init(address: address, mediaType: json["mimeType"]?.string, content: content)
    }

    var mcp: JSON {
        var members: JSONObject = ["uri": .string(address)]
        members["mimeType"] = mediaType.map { .string($0) }
        switch content {
        case .text(let text): members["text"] = .string(text)
        case .bytes(let bytes): members["blob"] = .string(Base64.encode(bytes))
        }
        return .object(members)
    }
}

extension ToolLink {
    init(mcp json: JSON) throws(MCPMalformed) {
        guard let address = json["uri"]?.string else { throw MCPMalformed("a resource has no address") }
        self.init(
            address: address, name: json["name"]?.string ?? address, title: json["title"]?.string,
            summary: json["description"]?.string, mediaType: json["mimeType"]?.string,
            size: json["size"]?.double.flatMap { Int(exactly: $0.rounded()) })
    }

    var mcp: JSON {
        var members: JSONObject = ["uri": .string(address), "name": .string(name)]
        members["title"] = title.map { .string($0) }
        members["description"] = summary.map { .string($0) }
        members["mimeType"] = mediaType.map { .string($0) }
        members["size"] = size.map { .int($0) }
        return .object(members)
    }
}

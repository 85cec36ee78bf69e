/// A piece of what a tool gives back.
public enum ToolPart: Sendable, Hashable {
    /// Plain or Markdown text.
    case text(String)
    /// An image or a recording.
    case media(Attachment)
    /// The content of a resource.
    case resource(ToolResource)
    /// A resource that can be read, but was not.
    case link(ToolLink)
}

/// A resource with its content.
public struct ToolResource: Sendable, Hashable {
    /// Its address, as its server gave it. It may be of any scheme, and nothing is opened by it.
    public let address: String
    /// Such as `text/plain`; nil if it is unknown.
    public let mediaType: String?
    /// What it contains.
    public let content: Content

    /// Text or bytes.
    public enum Content: Sendable, Hashable {
        case text(String)
        case bytes([UInt8])
    }

    /// Takes everything as its server gave it.
    public init(address: String, mediaType: String?, content: Content) {
        self.address = address
        self.mediaType = mediaType
        self.content = content
    }
}

/// A resource without its content.
public struct ToolLink: Sendable, Hashable {
    /// Its address, as its server gave it. It may be of any scheme, and nothing is opened by it.
    public let address: String
    /// Its name among those of its server.
    public let name: String
    /// Its name for people.
    public var title: String?
    /// What it is.
    public var summary: String?
    /// Such as `text/plain`; nil if it is unknown.
    public var mediaType: String?
    /// The number of bytes; nil if it is unknown.
    public var size: Int?

    /// Only address and name are always known.
    public init(
        address: String, name: String, title: String? = nil, summary: String? = nil, mediaType: String? = nil,
        size: Int? = nil
    ) {
        self.address = address
        self.name = name
        self.title = title
        self.summary = summary
        self.mediaType = mediaType
        self.size = size
    }
}

extension ToolResult {
    /// A result with the parts of a message that a client sent: texts and images. Other parts have no place in it.
    public init(call: String, content: [Message.Part]) {
        let parts = content.compactMap { part -> ToolPart? in
            switch part {
            case .text(let text): .text(text)
            case .attachment(let file) where file.isImage: .media(file)
            default: nil
            }
        }
        let hasImages = parts.contains { if case .media = $0 { true } else { false } }
        // The texts of a client are pieces of one.
        if hasImages {
            self.init(call: call, parts: parts)
        } else {
            self.init(call: call, content: Message(.tool, content).text)
        }
    }
}

extension ToolPart {
    /// The part as text for a model or a person who sees only text.
    public var text: String {
        switch self {
        case .text(let text): return text
        case .media(let media):
            let kind = media.isImage ? "image" : media.mediaType.hasPrefix("audio/") ? "recording" : "file"
            return "[\(kind) \(media.mediaType), \(ByteCount(media.bytes.count).words)]"
        case .resource(let resource):
            switch resource.content {
            case .text(let text): return text
            case .bytes(let bytes): return "[\(resource.address), \(ByteCount(bytes.count).words)]"
            }
        case .link(let link):
            return "[\(link.title ?? link.name)](\(link.address))" + (link.summary.map { ": \($0)" } ?? "")
        }
    }
}

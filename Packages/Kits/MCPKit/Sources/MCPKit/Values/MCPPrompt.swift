public import Capabilities
import JSON

/// A resource whose address has parts to fill in.
public struct MCPResourceTemplate: Sendable, Hashable {
    /// The address with its parts in braces (RFC 6570).
    public let address: String
    /// Its name among those of its server.
    public let name: String
    /// Its name for people.
    public var title: String?
    /// What it is.
    public var summary: String?
    /// Of all resources that it makes; nil if they differ.
    public var mediaType: String?

    /// Only address and name are always known.
    public init(
        address: String, name: String, title: String? = nil, summary: String? = nil, mediaType: String? = nil
    ) {
        self.address = address
        self.name = name
        self.title = title
        self.summary = summary
        self.mediaType = mediaType
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let address = json["uriTemplate"]?.string else {
            throw MCPMalformed("a template of resources has no address")
        }
        self.init(
            address: address, name: json["name"]?.string ?? address, title: json["title"]?.string,
            summary: json["description"]?.string, mediaType: json["mimeType"]?.string)
    }

    var json: JSON {
        var members: JSONObject = ["uriTemplate": .string(address), "name": .string(name)]
        members["title"] = title.map { .string($0) }
        members["description"] = summary.map { .string($0) }
        members["mimeType"] = mediaType.map { .string($0) }
        return .object(members)
    }
}

/// A text that a server has prepared, with what can be filled in.
public struct MCPPrompt: Sendable, Hashable {
    /// Its name within its server.
    public let name: String
    /// Its name for people.
    public var title: String?
    /// What it is for.
    public var summary: String?
    /// What can be filled in.
    public var arguments: [Argument]

    /// A part of a prompt that is filled in.
    public struct Argument: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// What it means.
        public var summary: String?
        /// Whether it must be given.
        public var isRequired: Bool

        /// By default it may be left out.
        public init(_ name: String, summary: String? = nil, isRequired: Bool = false) {
            self.name = name
            self.summary = summary
            self.isRequired = isRequired
        }
    }

    /// By default nothing is filled in.
    public init(_ name: String, title: String? = nil, summary: String? = nil, arguments: [Argument] = []) {
        self.name = name
        self.title = title
        self.summary = summary
        self.arguments = arguments
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let name = json["name"]?.string, !name.isEmpty else { throw MCPMalformed("a prompt has no name") }
        let arguments = (json["arguments"]?.array ?? []).compactMap { argument -> Argument? in
            guard let name = argument["name"]?.string else { return nil }
            return Argument(
                name, summary: argument["description"]?.string, isRequired: argument["required"]?.bool ?? false)
        }
        self.init(
            name, title: json["title"]?.string, summary: json["description"]?.string, arguments: arguments)
    }

    var json: JSON {
        var members: JSONObject = ["name": .string(name)]
        members["title"] = title.map { .string($0) }
        members["description"] = summary.map { .string($0) }
        if !arguments.isEmpty {
            members["arguments"] = .array(
                arguments.map { argument in
                    var members: JSONObject = ["name": .string(argument.name)]
                    members["description"] = argument.summary.map { .string($0) }
                    if argument.isRequired { members["required"] = true }
                    return .object(members)
                })
        }
        return .object(members)
    }
}

/// A message of a filled-in prompt, or of a request for an answer of a model.
public struct MCPMessage: Sendable, Hashable {
    /// `user` or `assistant`.
    public let role: Message.Role
    /// What it contains.
    public let parts: [ToolPart]

    /// A message of any parts.
    public init(_ role: Message.Role, _ parts: [ToolPart]) {
        self.role = role
        self.parts = parts
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let role = json["role"]?.string.flatMap(Message.Role.init), role == .user || role == .assistant else {
            throw MCPMalformed("a message has no known role")
        }
        var parts: [ToolPart] = []
        for part in json["content"]?.array ?? [json["content"] ?? nil] { parts.append(try ToolPart(mcp: part)) }
        self.init(role, parts)
    }

    func json(_ version: MCPVersion) -> JSON {
        let content = parts.map { $0.mcp(version) }
        // Only the newer revisions have messages of several parts.
        let one = content.count == 1 ? content.first : nil
        return ["role": .string(role.rawValue), "content": one ?? .array(content)]
    }
}

/// A prompt with everything filled in.
public struct MCPFilledPrompt: Sendable, Hashable {
    /// What it is for.
    public var summary: String?
    /// Its messages.
    public var messages: [MCPMessage]

    /// The messages in their order.
    public init(summary: String? = nil, messages: [MCPMessage]) {
        self.summary = summary
        self.messages = messages
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let given = json["messages"]?.array else { throw MCPMalformed("the prompt has no messages") }
        var messages: [MCPMessage] = []
        for message in given { messages.append(try MCPMessage(message)) }
        self.init(summary: json["description"]?.string, messages: messages)
    }

    func json(_ version: MCPVersion) -> JSON {
        // Here every revision wants one part in a message.
        let split = messages.flatMap { message in message.parts.map { MCPMessage(message.role, [$0]) } }
        var members: JSONObject = ["messages": .array(split.map { $0.json(version) })]
        members["description"] = summary.map { .string($0) }
        return .object(members)
    }
}

/// What an argument may be completed to.
public struct MCPCompletions: Sendable, Hashable {
    /// At most a hundred values.
    public var values: [String]
    /// How many there are in all, if that is known.
    public var total: Int?
    /// Whether there are more.
    public var hasMore: Bool

    /// All there are, unless told otherwise.
    public init(_ values: [String], total: Int? = nil, hasMore: Bool = false) {
        self.values = values
        self.total = total
        self.hasMore = hasMore
    }
}

/// Whose argument is completed.
public enum MCPReference: Sendable, Hashable {
    /// A prompt by its name.
    case prompt(String)
    /// A template of resources by its address.
    case resource(String)

    init(_ json: JSON?) throws(MCPMalformed) {
        switch json?["type"]?.string {
        case "ref/prompt"?: self = .prompt(json?["name"]?.string ?? "")
        case "ref/resource"?: self = .resource(json?["uri"]?.string ?? "")
        default: throw MCPMalformed("it is not known whose argument is to be completed")
        }
    }

    var json: JSON {
        switch self {
        case .prompt(let name): ["type": "ref/prompt", "name": .string(name)]
        case .resource(let address): ["type": "ref/resource", "uri": .string(address)]
        }
    }
}

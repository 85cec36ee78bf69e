public import Capabilities
public import JSON

/// A folder that a client works in.
public struct MCPRoot: Sendable, Hashable {
    /// An address that begins with `file://`.
    public let address: String
    /// Its name for people.
    public let name: String?

    /// A folder of this machine.
    public init(_ path: AbsolutePath, name: String? = nil) {
        let isKept = { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
        address = "file://" + PercentEncoding.encode(path.text, keeping: isKept)
        self.name = name
    }

    var json: JSON {
        var members: JSONObject = ["uri": .string(address)]
        members["name"] = name.map { .string($0) }
        return .object(members)
    }
}

/// A server's request for an answer of a model.
public struct MCPSampling: Sendable, Hashable {
    /// The conversation so far.
    public let messages: [MCPMessage]
    /// What the model is told first.
    public let system: String?
    /// The longest answer in tokens.
    public let mostTokens: Int
    /// Names, or parts of names, of models that the server would like, the best first.
    public let wishes: [String]
    /// The whole request, for what this does not have.
    public let json: JSON

    init(_ json: JSON) throws(MCPMalformed) {
        guard let given = json["messages"]?.array else { throw MCPMalformed("the request has no messages") }
        var messages: [MCPMessage] = []
        for message in given { messages.append(try MCPMessage(message)) }
        self.messages = messages
        system = json["systemPrompt"]?.string
        mostTokens = max(1, json["maxTokens"]?.int ?? 1_000)
        wishes = (json["modelPreferences"]?["hints"]?.array ?? []).compactMap { $0["name"]?.string }
        self.json = json
    }
}

/// The answer of a model for a server.
public struct MCPSampled: Sendable, Hashable {
    /// What it said.
    public let parts: [ToolPart]
    /// The model that said it.
    public let model: String
    /// Why it ended: `endTurn`, `maxTokens`, `stopSequence`, `toolUse`.
    public let stop: String

    /// An answer that ended by itself, unless told otherwise.
    public init(_ parts: [ToolPart], model: String, stop: String = "endTurn") {
        self.parts = parts
        self.model = model
        self.stop = stop
    }

    func json(_ version: MCPVersion) -> JSON {
        guard var members = MCPMessage(.assistant, parts).json(version).object else { return [:] }
        members["model"] = .string(model)
        members["stopReason"] = .string(stop)
        return .object(members)
    }
}

/// A server's question to the person.
public enum MCPElicitation: Sendable, Hashable {
    /// Values by a form: the message, and a flat schema of the values.
    case form(message: String, schema: JSON)
    /// A visit to an address, where the person deals with the server itself.
    case address(message: String, address: String, id: String?)

    init(_ json: JSON) throws(MCPMalformed) {
        guard let message = json["message"]?.string else { throw MCPMalformed("the question has no text") }
        if json["mode"]?.string == "url" {
            guard let address = json["url"]?.string else { throw MCPMalformed("the question has no address") }
            self = .address(message: message, address: address, id: json["elicitationId"]?.string)
        } else {
            guard let schema = json["requestedSchema"], schema.object != nil else {
                throw MCPMalformed("the question has no schema")
            }
            self = .form(message: message, schema: schema)
        }
    }

    func json(_ version: MCPVersion) -> JSON {
        switch self {
        case .form(let message, let schema):
            var members: JSONObject = ["message": .string(message), "requestedSchema": schema]
            if version >= .november2025 { members["mode"] = "form" }
            return .object(members)
        case .address(let message, let address, let id):
            var members: JSONObject = ["mode": "url", "message": .string(message), "url": .string(address)]
            members["elicitationId"] = id.map { .string($0) }
            return .object(members)
        }
    }
}

/// The person's answer to a server's question.
public enum MCPAnswer: Sendable, Hashable {
    /// The values of the form; empty for an address.
    case accept(JSONObject)
    /// The person said no.
    case decline
    /// The person said nothing.
    case cancel

    init(_ json: JSON) throws(MCPMalformed) {
        switch json["action"]?.string {
        case "accept"?: self = .accept(json["content"]?.object ?? [:])
        case "decline"?: self = .decline
        case "cancel"?: self = .cancel
        default: throw MCPMalformed("the answer has no known action")
        }
    }

    var json: JSON {
        switch self {
        case .accept(let values): ["action": "accept", "content": .object(values)]
        case .decline: ["action": "decline"]
        case .cancel: ["action": "cancel"]
        }
    }
}

/// How far a call has come.
public struct MCPProgress: Sendable, Hashable {
    /// A number that grows.
    public let value: Double
    /// What it grows to, if that is known.
    public let total: Double?
    /// What is being done.
    public let message: String?

    /// Only the value is always known.
    public init(_ value: Double, of total: Double? = nil, message: String? = nil) {
        self.value = value
        self.total = total
        self.message = message
    }

    init?(_ json: JSON) {
        guard let value = json["progress"]?.double, value.isFinite else { return nil }
        self.init(value, of: json["total"]?.double, message: json["message"]?.string)
    }

    func json(_ token: JSON) -> JSONObject {
        var members: JSONObject = ["progressToken": token, "progress": .double(value)]
        members["total"] = total.map { .double($0) }
        members["message"] = message.map { .string($0) }
        return members
    }
}

/// A log message of a server.
public struct MCPLogEntry: Sendable, Hashable {
    /// How serious it is.
    public let level: Level
    /// The part of the server that wrote it.
    public let logger: String?
    /// What it says: any value.
    public let data: JSON

    /// The levels of syslog.
    public enum Level: String, Sendable, CaseIterable {
        case debug, info, notice, warning, error, critical, alert, emergency
    }

    /// A message to send.
    public init(_ level: Level, logger: String? = nil, _ data: JSON) {
        self.level = level
        self.logger = logger
        self.data = data
    }

    init(_ json: JSON) {
        level = json["level"]?.string.flatMap(Level.init) ?? .info
        logger = json["logger"]?.string
        data = json["data"] ?? nil
    }

    var json: JSONObject {
        var members: JSONObject = ["level": .string(level.rawValue), "data": data]
        members["logger"] = logger.map { .string($0) }
        return members
    }
}

/// What has changed at a server.
public enum MCPChange: Sendable, Hashable {
    case tools, prompts, resources
    /// The content of the resource with this address.
    case resource(String)

    init?(_ notification: String, _ params: JSON?) {
        switch notification {
        case "notifications/tools/list_changed": self = .tools
        case "notifications/prompts/list_changed": self = .prompts
        case "notifications/resources/list_changed": self = .resources
        case "notifications/resources/updated":
            guard let address = params?["uri"]?.string else { return nil }
            self = .resource(address)
        default: return nil
        }
    }

    var notification: (method: String, params: JSONObject?) {
        switch self {
        case .tools: ("notifications/tools/list_changed", nil)
        case .prompts: ("notifications/prompts/list_changed", nil)
        case .resources: ("notifications/resources/list_changed", nil)
        case .resource(let address): ("notifications/resources/updated", ["uri": .string(address)])
        }
    }
}

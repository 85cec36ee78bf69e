public import Capabilities
public import JSON

/// What a conversation begins with. Later changes of settings do not reach it.
public struct ConversationSetup: Sendable, Hashable {
    public var provider: String?
    public var model: String?
    /// The address of the server that was asked; conversations of old have the name of its profile.
    public var server: String?
    /// Which of a platform's deployments answered.
    public var deployment: String?
    /// The system prompt.
    public var system: String?
    /// The model's options, in the words of who uses them.
    public var options: JSON
    /// The member of the options that names a folder of this machine, which leaves it in no export.
    public static let folderOption = "tool_folder"
    /// The member that says which folder was there then, which leaves it in no export either.
    public static let folderIdentityOption = "tool_folder_identity"
    /// The policy of tools, in the words of who uses it.
    public var tools: JSON

    public init(
        provider: String? = nil, model: String? = nil, server: String? = nil, deployment: String? = nil,
        system: String? = nil,
        options: JSON = [:], tools: JSON = [:]
    ) {
        self.provider = provider
        self.model = model
        self.server = server
        self.deployment = deployment
        self.system = system
        self.options = options
        self.tools = tools
    }
}

/// A conversation without its messages.
///
/// It is a path in a tree of messages: forks and edited messages share their beginning with what was there before.
public struct Conversation: Record, Hashable {
    public let id: ConversationID
    /// The first 40 characters of what the person wrote first, or the name that the person gave it.
    public let title: String
    public let setup: ConversationSetup
    public let created: Timestamp
    public let updated: Timestamp
    /// The newest message of the path, which the next one follows.
    public let head: MessageID?
    /// How many messages the path has.
    public let messages: Int
    /// The beginning of the last text, on one line.
    public let preview: String
    /// What all its answers took together.
    public let usage: Usage
    /// The conversation that it was forked from, while that is there.
    public let parent: ConversationID?
    /// When it was deleted, while that can be undone.
    public let deleted: Timestamp?

    public static let fields: [Field<Conversation>] = [
        Field("id", "What it is called by", .name) { $0.id },
        Field("title", "What it is about") { $0.title },
        Field("model", "Model that answers") { $0.setup.model },
        Field("provider", "Who has the model") { $0.setup.provider },
        Field("server", "Where the model is", .detail) { $0.setup.server },
        Field("deployment", "Which deployment of a platform answers", .detail) { $0.setup.deployment },
        Field("messages", "How many messages it has") { $0.messages },
        Field("updated", "When something was written last") { $0.updated },
        Field("created", "When it began", .detail) { $0.created },
        Field("preview", "The beginning of the last text", .detail) { $0.preview },
        Field("system", "System prompt", .detail) { $0.setup.system },
        Field("usage", "What all its answers took", .detail) { $0.usage },
        Field("parent", "Conversation that it was forked from", .detail) { $0.parent },
        Field("deleted", "When it was deleted", .detail) { $0.deleted },
    ]
}

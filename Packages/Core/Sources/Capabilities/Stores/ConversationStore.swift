/// Conversations with models that are kept on this machine.
public protocol ConversationStore: AnyObject, Sendable {
    /// The conversations, the most recently changed first.
    func conversations(limit: Int) async throws -> [ConversationSummary]
    /// The messages of a conversation, the oldest first. Throws if there is no conversation with that id.
    func messages(of conversation: String) async throws -> [ConversationMessage]
    /// Messages that contain the words, the most recently stored first.
    func search(_ words: String, limit: Int) async throws -> [ConversationHit]
}

/// A conversation without its messages.
public struct ConversationSummary: Record, Hashable {
    /// The id with which the store finds the conversation.
    public let id: String
    /// The title for lists.
    public let title: String
    /// The id of the provider that answers; nil if none was chosen.
    public let provider: String?
    /// The model that answers; nil if none was chosen.
    public let model: String?
    /// The time of the last message.
    public let updated: Timestamp
    /// How many messages it has.
    public let messages: Int
    /// The beginning of the last text, on one line.
    public let preview: String

    /// Used by stores.
    public init(
        id: String, title: String, provider: String?, model: String?, updated: Timestamp, messages: Int,
        preview: String
    ) {
        self.id = id
        self.title = title
        self.provider = provider
        self.model = model
        self.updated = updated
        self.messages = messages
        self.preview = preview
    }

    public static let fields: [Field<ConversationSummary>] = [
        Field("id", "The id of the conversation", .name) { $0.id },
        Field("title", "The title of the conversation") { $0.title },
        Field("provider", "The provider of the model") { $0.provider },
        Field("model", "The model that answers") { $0.model },
        Field("updated", "The time of the last message") { $0.updated },
        Field("messages", "How many messages it has") { $0.messages },
        Field("preview", "The beginning of the last text", .detail) { $0.preview },
    ]
}

/// A message of a conversation.
public struct ConversationMessage: Sendable, Hashable {
    /// The id of the message in the whole store; newer messages have larger numbers.
    public let id: Int
    /// The message, with secrets removed.
    public let message: Message
    /// When it was written.
    public let time: Timestamp
    /// The model that wrote it, for an answer.
    public let model: String?
    /// `complete`, or why the message is incomplete.
    public let state: String

    /// Used by stores.
    public init(id: Int, message: Message, time: Timestamp, model: String?, state: String) {
        self.id = id
        self.message = message
        self.time = time
        self.model = model
        self.state = state
    }
}

/// A message in which words were found.
public struct ConversationHit: Record, Hashable {
    /// The id of the conversation that contains the message.
    public let conversation: String
    /// The title of the conversation.
    public let title: String
    /// The id of the message in the whole store.
    public let message: Int
    /// Who wrote the message.
    public let role: Message.Role
    /// When the message was written.
    public let time: Timestamp
    /// The words with the text around them.
    public let text: String

    /// Used by stores.
    public init(
        conversation: String, title: String, message: Int, role: Message.Role, time: Timestamp, text: String
    ) {
        self.conversation = conversation
        self.title = title
        self.message = message
        self.role = role
        self.time = time
        self.text = text
    }

    public static let fields: [Field<ConversationHit>] = [
        Field("conversation", "The id of the conversation", .name) { $0.conversation },
        Field("title", "The title of the conversation") { $0.title },
        Field("message", "The message") { $0.message },
        Field("role", "Who wrote it") { $0.role },
        Field("time", "When it was written") { $0.time },
        Field("text", "The words with the text around them") { $0.text },
    ]
}

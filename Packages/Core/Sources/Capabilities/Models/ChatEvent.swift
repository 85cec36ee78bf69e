/// Something that happens while a model answers.
public enum ChatEvent: Sendable, Hashable {
    /// The server has begun; the model may be another than was asked for.
    case began(ChatStart)
    /// More of the answer's text.
    case text(String)
    /// More of the model's thoughts.
    case reasoning(String)
    /// The end of a thought, whose text has come before: its signature, or what only the provider can read.
    case thought(Reasoning)
    /// More of the model's words for why it does not answer.
    case refusal(String)
    /// The model is writing a call, which is not complete yet.
    case calling(id: String, name: String)
    /// A whole call.
    case call(ToolCall)
    case malformedCall(MalformedCall)
    /// What came of a call that the server itself has done.
    case result(ToolResult)
    /// All that was used so far; each one replaces the one before.
    case usage(Usage)
    /// Something that a person should know, such as that the answer could not be streamed.
    case notice(String)
}

/// What a server says of an answer when it begins.
public struct ChatStart: Sendable, Hashable {
    /// The provider's own id of the answer.
    public var id: String?
    public var model: String?
    /// A gateway's session and project.
    public var session: String?
    public var project: String?

    public init(id: String? = nil, model: String? = nil, session: String? = nil, project: String? = nil) {
        self.id = id
        self.model = model
        self.session = session
        self.project = project
    }
}

/// A whole answer.
public struct ChatAnswer: Sendable, Hashable {
    public var start: ChatStart
    /// What the model said, with its thoughts as they have to be sent back.
    public var message: Message
    public var finish: Finish
    public var usage: Usage
    /// Whether a tool that whoever answers runs by itself was not used because nobody was there to allow it.
    public var isUnapproved = false
    /// Whether it was not used because the answer that was given beforehand does not fit the question.
    public var hasUnfitApproval = false
    /// The one of the words asked for at which the model stopped, where the server says which.
    public var stopWord: String?

    /// Why the model stopped.
    public enum Finish: Sendable, Hashable {
        case stop
        /// The answer was cut at a limit of tokens.
        case length
        /// It wants its calls answered.
        case calls
        /// A filter of the provider, or the model itself, held the answer back.
        case refused
        /// Another reason, in the provider's word.
        case other(String)
    }

    public init(start: ChatStart, message: Message, finish: Finish, usage: Usage = Usage()) {
        self.start = start
        self.message = message
        self.finish = finish
        self.usage = usage
    }
}

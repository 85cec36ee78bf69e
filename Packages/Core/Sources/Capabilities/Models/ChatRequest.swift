public import JSON

/// What a model is asked.
public struct ChatRequest: Sendable, Hashable {
    /// The model's id, as its provider knows it.
    public var model: String
    /// From the oldest to the newest; system messages may stand first.
    public var messages: [Message]
    public var tools: [ToolDescription]
    /// Which of the tools may or must be used; nil leaves that to the provider.
    public var toolChoice: ToolChoice?
    /// Whether several tools may be called at once; nil leaves that to the provider.
    public var parallelCalls: Bool?
    public var options: ModelOptions
    /// What the answer has to look like.
    public var schema: AnswerSchema?
    /// Whether the answer is wanted as it comes into being.
    public var streams: Bool
    /// What only one kind of server understands, such as a gateway's `session_id`; sent as it is.
    public var extras: JSONObject
    /// How a client of ours wrote the request, where it did. A server that speaks the same dialect is given that.
    public var native: NativeRequest?
    /// Whether a server that failed is asked once more. Where the client decides that itself, it must not be.
    public var repeats = true
    /// Whether whoever answers may keep what is said. Where not, a provider of this program leaves nothing of it behind.
    public var isKept = true
    /// How far a provider's own tools go unasked, where it obeys that.
    public var mode: ToolMode?

    public init(
        model: String, messages: [Message], tools: [ToolDescription] = [], options: ModelOptions = ModelOptions(),
        schema: AnswerSchema? = nil, streams: Bool = true, extras: JSONObject = [:]
    ) {
        self.model = model
        self.messages = messages
        self.tools = tools
        self.options = options
        self.schema = schema
        self.streams = streams
        self.extras = extras
    }
}

/// How a model is to answer. What is nil is left to the provider.
public struct ModelOptions: Sendable, Hashable {
    public var temperature: Double?
    public var topP: Double?
    public var maxTokens: Int?
    public var stop: [String] = []
    public var seed: Int?
    /// How much to think.
    public var effort: Effort?
    /// Whether to think, and within how many tokens; more exact than `effort`, which it goes before.
    public var thinking: Thinking?

    public enum Effort: String, Choice, Hashable { case minimal, low, medium, high }

    /// Whether a model thinks before it answers.
    public enum Thinking: Sendable, Hashable {
        case off
        /// As much as the model finds right.
        case adaptive
        /// Within so many tokens.
        case tokens(Int)
    }

    public init() {}
}

/// Which tools a model may or must use.
public enum ToolChoice: Sendable, Hashable {
    /// What the model finds right.
    case auto
    /// No tool, although there are some.
    case never
    /// Any tool, but one of them.
    case required
    /// This tool.
    case tool(String)
}

/// The words in which a server is asked.
public enum RequestDialect: String, Choice, Hashable {
    /// OpenAI's Chat Completions.
    case openai
    /// Anthropic's Messages.
    case anthropic
    /// OpenAI's Responses.
    case responses
}

/// A request as a client of ours wrote it.
public struct NativeRequest: Sendable, Hashable {
    public var dialect: RequestDialect
    /// The members that the client used.
    public var members: [String]
    /// What `messages` and `tools` of the request have no words for, by its place: `tools[0].type`.
    public var foreign: [String] = []
    /// What of `messages` a server of another dialect is not given, by its place: `messages[1].content[0]`.
    public var dropped: [String] = []
    /// The whole body, where a server of the same dialect is given it as it is; empty where it is written anew.
    public var body: JSONObject = [:]
    /// Header lines and the query that belong to the request, such as `anthropic-beta`.
    public var headers: [String: String] = [:]
    public var query: String?

    public init(_ dialect: RequestDialect, members: [String]) {
        self.dialect = dialect
        self.members = members
    }
}

/// The JSON Schema of an answer.
public struct AnswerSchema: Sendable, Hashable {
    /// Any JSON object, which servers that know no schemas can promise too.
    public static let anyObject = AnswerSchema(name: "json", schema: ["type": "object"])

    public var name: String
    public var schema: JSON

    public init(name: String, schema: JSON) {
        self.name = name
        self.schema = schema
    }
}

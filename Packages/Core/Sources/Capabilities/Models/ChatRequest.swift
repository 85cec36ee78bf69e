public import JSON

/// What a model is asked.
public struct ChatRequest: Sendable, Hashable {
    /// The model's id, as its provider knows it.
    public var model: String
    /// From the oldest to the newest; system messages may stand first.
    public var messages: [Message]
    public var tools: [ToolDescription]
    public var options: ModelOptions
    /// What the answer has to look like.
    public var schema: AnswerSchema?
    /// Whether the answer is wanted as it comes into being.
    public var streams: Bool
    /// What only one kind of server understands, such as a gateway's `session_id`; sent as it is.
    public var extras: JSONObject

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

    public enum Effort: String, Choice, Hashable { case minimal, low, medium, high }

    public init() {}
}

/// The JSON Schema of an answer.
public struct AnswerSchema: Sendable, Hashable {
    public var name: String
    public var schema: JSON

    public init(name: String, schema: JSON) {
        self.name = name
        self.schema = schema
    }
}

public import JSON

/// A server with models.
public protocol ModelProvider: AnyObject, Sendable {
    /// Its id in settings and options: a vendor's name or that of a profile.
    var id: String { get }
    /// Its display name.
    var name: String { get }
    /// Whether it runs its own tools, so that its calls have `isDone` set. Tools of others are not sent to it.
    var runsTools: Bool { get }
    /// Whether its own tools respect the request's mode, in the current folder of the command.
    var obeysMode: Bool { get }
    /// Whether it was only discovered on this machine. It is then used only if it is named.
    var isFound: Bool { get }
    /// Whether it can be used now: a key is available, or a server without a key responds. It must not take long.
    func isAvailable() async -> Bool
    /// Its models, the preferred one first.
    func models() async throws -> [ModelDescription]
    /// The dialect in which a model is asked, which determines what a request can contain; nil if no server is asked. A
    /// provider with a dialect also accepts names that are not on its list, such as aliases.
    func dialect(of model: String) async -> RequestDialect?
    /// Asks a model and delivers the events in order, in batches if they arrive fast.
    ///
    /// The next events are read only after `receive` returns, so a slow reader slows the server down. Throws if the
    /// answer is incomplete; what was received until then is valid. Cancelling stops it here and at the server.
    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer
    /// Embeds texts. Takes the body of OpenAI's `POST /v1/embeddings` and returns its response; nil if it has no such
    /// models.
    func embeddings(_ body: JSONObject) async throws -> JSONObject?
    /// Permanently removes what is stored here about sessions, identified as in the starts of answers. It is not an
    /// error if they are already gone. Returns false if something remains that cannot be removed from here, such as at
    /// a server.
    func forget(sessions: [String]) async throws -> Bool
    /// The server behind it as an agent server, for its sessions and their tools; nil if it is another kind of server. Only
    /// a provider that runs its own tools can have one. Nothing is sent.
    func agentServer() async throws -> (any AgentServer)?
}

extension ModelProvider {
    public var runsTools: Bool { false }
    public var obeysMode: Bool { false }
    public var isFound: Bool { false }
    public func dialect(of model: String) async -> RequestDialect? { nil }
    public func embeddings(_ body: JSONObject) async throws -> JSONObject? { nil }
    public func forget(sessions: [String]) async throws -> Bool { false }
    public func agentServer() async throws -> (any AgentServer)? { nil }
}

/// A model that is part of the program and answers when no other model is set up. The gateway lists it last.
public protocol BuiltInModel: ModelProvider {}

/// A model as described by a catalogue. Unknown values are nil.
public struct ModelDescription: Record, Hashable {
    /// The model's id, as its provider knows it and requests name it.
    public var id: String
    /// The id of the provider that offers it.
    public var provider: String
    /// The display name; nil if the catalogue has none.
    public var name: String?
    /// The context window in tokens, including the answer.
    public var contextTokens: Int?
    /// The maximum number of tokens in an answer.
    public var outputTokens: Int?
    /// What its tokens cost; nil if that is unknown, not if it is free.
    public var price: ModelPrice?
    /// What it supports besides text; nil if that is unknown, empty if it is nothing.
    public var abilities: Set<ModelAbility>?

    /// Everything but the id and the provider may be unknown.
    public init(
        id: String, provider: String, name: String? = nil, contextTokens: Int? = nil, outputTokens: Int? = nil,
        price: ModelPrice? = nil, abilities: Set<ModelAbility>? = nil
    ) {
        self.id = id
        self.provider = provider
        self.name = name
        self.contextTokens = contextTokens
        self.outputTokens = outputTokens
        self.price = price
        self.abilities = abilities
    }

    public static let fields: [Field<ModelDescription>] = [
        Field("id", "The id of the model", .name) { $0.id },
        Field("provider", "The provider of the model") { $0.provider },
        Field("name", "The display name of the model", .detail) { $0.name },
        Field("context", "Context window in tokens, including the answer") { $0.contextTokens },
        Field("output", "Maximum number of tokens in an answer") { $0.outputTokens },
        Field("input_usd", "US dollars per million input tokens") { $0.price?.input.map { $0.perMillion } },
        Field("output_usd", "US dollars per million output tokens") {
            $0.price?.output.map { $0.perMillion }
        },
        Field("abilities", "What the model can do") { $0.abilities.map { $0.map(\.rawValue).sorted() } },
    ]
}

/// What a model supports beyond text.
public enum ModelAbility: String, Choice, Hashable {
    /// Calls of tools, images and other files in messages, reasoning before the answer, and answers that follow a
    /// schema.
    case tools, images, files, reasoning, schema
}

/// The price of single tokens.
public struct ModelPrice: Sendable, Hashable {
    /// For each token that the model reads; nil if unknown.
    public var input: TokenPrice?
    /// For each token that the model writes, including its reasoning; nil if unknown.
    public var output: TokenPrice?
    /// For each token read from the provider's cache; nil if unknown.
    public var cachedInput: TokenPrice?
    /// For each token written to the provider's cache; nil if unknown.
    public var cacheWrite: TokenPrice?

    /// Prices that are not given are unknown.
    public init(
        input: TokenPrice? = nil, output: TokenPrice? = nil, cachedInput: TokenPrice? = nil,
        cacheWrite: TokenPrice? = nil
    ) {
        self.input = input
        self.output = output
        self.cachedInput = cachedInput
        self.cacheWrite = cacheWrite
    }
}

/// The price of one token in femtodollars, so that sums are exact.
public struct TokenPrice: Sendable, Hashable {
    /// The price in units of 10⁻¹⁵ US dollars.
    public var femtodollars: Int

    /// Takes the exact price. `init(perMillion:)` converts published ones.
    public init(femtodollars: Int) {
        self.femtodollars = femtodollars
    }

    /// Converts from dollars per million tokens, the usual form of prices.
    public init(perMillion dollars: Double) {
        femtodollars = Int((dollars * 1e9).rounded())
    }

    /// The price of a million tokens in US dollars.
    public var perMillion: Double { Double(femtodollars) / 1e9 }
}

/// A request to a model.
public struct ChatRequest: Sendable, Hashable {
    /// The model's id, as its provider knows it.
    public var model: String
    /// From the oldest to the newest; system messages may come first.
    public var messages: [Message]
    /// The tools that the model may call; empty for none.
    public var tools: [ToolDescription]
    /// Which of the tools may or must be used; nil for the provider's default.
    public var toolChoice: ToolChoice?
    /// Whether several tools may be called at once; nil for the provider's default.
    public var parallelCalls: Bool?
    /// Parameters such as the temperature; by default all are left to the provider.
    public var options: ModelOptions
    /// The required form of the answer.
    public var schema: AnswerSchema?
    /// Whether to stream the answer.
    public var streams: Bool
    /// Members that only one kind of server understands, such as a gateway's `session_id`; sent unchanged.
    public var extras: JSONObject
    /// The client's original request, if there is one. A server with the same dialect receives it.
    public var native: NativeRequest?
    /// Whether to retry once if a server fails. False if the client decides about retries itself.
    public var repeats = true
    /// Whether the server may store the conversation. If not, providers of this program leave nothing of it behind.
    public var isKept = true
    /// How far a provider's own tools may go without asking, if it respects that.
    public var mode: ToolMode?

    /// Members without an argument here keep their defaults until they are set.
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

/// Parameters for the model. Nil leaves a parameter to the provider.
public struct ModelOptions: Sendable, Hashable {
    /// How random the answer is. The allowed range depends on the provider.
    public var temperature: Double?
    /// Restricts the choice to the most likely tokens whose probabilities add up to this, from 0 to 1.
    public var topP: Double?
    /// The maximum number of tokens in the answer.
    public var maxTokens: Int?
    /// Texts at which the model stops writing; empty for none.
    public var stop: [String] = []
    /// Asks for the same answer to the same request. Only some servers support it.
    public var seed: Int?
    /// The reasoning effort.
    public var effort: Effort?
    /// Whether to reason, and with how many tokens. Takes precedence over `effort`.
    public var thinking: Thinking?

    /// How much a model reasons before it answers.
    public enum Effort: String, Choice, Hashable { case minimal, low, medium, high }

    /// Whether a model reasons before it answers.
    public enum Thinking: Sendable, Hashable {
        /// It answers at once.
        case off
        /// As much as the model chooses.
        case adaptive
        /// Up to a number of tokens.
        case tokens(Int)
    }

    /// Leaves everything to the provider.
    public init() {}

    /// Replaces the parameters that `others` sets.
    public mutating func replace(with others: ModelOptions) {
        temperature = others.temperature ?? temperature
        topP = others.topP ?? topP
        maxTokens = others.maxTokens ?? maxTokens
        if !others.stop.isEmpty { stop = others.stop }
        seed = others.seed ?? seed
        effort = others.effort ?? effort
        thinking = others.thinking ?? thinking
    }
}

/// Which tools a model may or must use.
public enum ToolChoice: Sendable, Hashable {
    /// The model decides.
    case auto
    /// No tool, even if there are some.
    case never
    /// Any of the tools, but at least one.
    case required
    /// This tool.
    case tool(String)
}

/// The API format of a server.
public enum RequestDialect: String, Choice, Hashable {
    /// OpenAI's Chat Completions.
    case openai
    /// Anthropic's Messages.
    case anthropic
    /// OpenAI's Responses.
    case responses
}

/// A request in the form that a client sent.
public struct NativeRequest: Sendable, Hashable {
    /// The API format in which the client sent it.
    public var dialect: RequestDialect
    /// The members that the client sent.
    public var members: [String]
    /// Parts of `messages` and `tools` that the common request cannot express, by their path: `tools[0].type`.
    public var foreign: [String] = []
    /// Parts of `messages` that are not passed to a server of another dialect, by their path: `messages[1].content[0]`.
    public var dropped: [String] = []
    /// The whole body, if it can be passed unchanged to a server of the same dialect; otherwise empty.
    public var body: JSONObject = [:]
    /// Headers that belong to the request, such as `anthropic-beta`.
    public var headers: [String: String] = [:]
    /// The query of the client's URL, without the question mark; nil if there is none to pass on.
    public var query: String?

    /// The other members stay empty until the code that reads the request sets them.
    public init(_ dialect: RequestDialect, members: [String]) {
        self.dialect = dialect
        self.members = members
    }
}

/// The JSON Schema of an answer.
public struct AnswerSchema: Sendable, Hashable {
    /// Any JSON object, which servers without schema support can also guarantee.
    public static let anyObject = AnswerSchema(name: "json", schema: ["type": "object"])

    /// A name for the schema, which some servers require and show to the model.
    public var name: String
    /// The schema itself, as JSON Schema.
    public var schema: JSON

    /// Takes the schema without checking it.
    public init(name: String, schema: JSON) {
        self.name = name
        self.schema = schema
    }
}

/// An event while a model answers.
public enum ChatEvent: Sendable, Hashable {
    /// The server has started; the model may differ from the requested one.
    case began(ChatStart)
    /// More of the answer's text.
    case text(String)
    /// More of the model's reasoning.
    case reasoning(String)
    /// The end of a piece of reasoning, whose text came before: its signature, or what only the provider can read.
    case thought(Reasoning)
    /// More of the model's explanation of why it does not answer.
    case refusal(String)
    /// The model is writing a call, which is not yet complete.
    case calling(id: String, name: String)
    /// A complete call.
    case call(ToolCall)
    /// A complete call whose input is not valid JSON.
    case malformedCall(MalformedCall)
    /// The result of a call that the server itself has run.
    case result(ToolResult)
    /// The total usage so far; each one replaces the previous one.
    case usage(Usage)
    /// Something that the person should know, such as that the answer could not be streamed.
    case notice(String)
}

/// What a server reports at the start of an answer.
public struct ChatStart: Sendable, Hashable {
    /// The provider's id for the answer.
    public var id: String?
    /// The model that answers, which may differ from the requested one.
    public var model: String?
    /// A gateway's session; nil for other servers.
    public var session: String?
    /// A gateway's project; nil for other servers.
    public var project: String?

    /// What the server did not report is nil.
    public init(id: String? = nil, model: String? = nil, session: String? = nil, project: String? = nil) {
        self.id = id
        self.model = model
        self.session = session
        self.project = project
    }
}

/// A complete answer.
public struct ChatAnswer: Sendable, Hashable {
    /// What the server reported before it began to answer.
    public var start: ChatStart
    /// The model's message, with its reasoning in the form that must be sent back.
    public var message: Message
    /// Why the answer ended, which tells whether it is complete.
    public var finish: Finish
    /// The tokens and the cost, as far as the server reported them.
    public var usage: Usage
    /// Whether the answering side did not use one of its own tools because nobody was there to approve it.
    public var isUnapproved = false
    /// Whether it did not use it because a provided answer does not fit the question.
    public var hasUnfitApproval = false
    /// The stop sequence at which the model stopped, if the server reports it.
    public var stopWord: String?

    /// Why the model stopped.
    public enum Finish: Sendable, Hashable {
        /// The answer is complete.
        case stop
        /// The answer was cut at a token limit.
        case length
        /// The model waits for the results of its calls.
        case calls
        /// A filter of the provider, or the model itself, withheld the answer.
        case refused
        /// Another reason, as named by the provider.
        case other(String)
    }

    /// The other members, such as `stopWord`, are set afterwards.
    public init(start: ChatStart, message: Message, finish: Finish, usage: Usage = Usage()) {
        self.start = start
        self.message = message
        self.finish = finish
        self.usage = usage
    }
}

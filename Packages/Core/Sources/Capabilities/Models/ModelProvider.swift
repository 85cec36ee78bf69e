public import JSON

/// A server with models.
public protocol ModelProvider: AnyObject, Sendable {
    /// What it is called in settings and flags: a vendor's name, or that of a profile.
    var id: String { get }
    /// What people call it.
    var name: String { get }
    /// Whether it runs tools of its own, so that its calls come with `isDone`. Nobody else's tools are sent to it.
    var runsTools: Bool { get }
    /// Whether its own tools go as far as the request's mode says, in the folder of the command.
    var obeysMode: Bool { get }
    /// Whether it was merely found on this machine, so that it is asked only by its name.
    var isFound: Bool { get }
    /// Whether it can be asked now: a key is there, or a server that needs none answers. It must not take long.
    func isAvailable() async -> Bool
    /// Its models, the best choice first.
    func models() async throws -> [ModelDescription]
    /// The words in which a model is asked, which decides what of a request it can be given; nil where nobody else is asked.
    /// A provider with a dialect knows names beside those of its list, such as aliases.
    func dialect(of model: String) async -> RequestDialect?
    /// Asks a model and gives what happens in order, several events at once where they come so fast.
    ///
    /// The next events are read only when `receive` has returned, so that a slow reader slows the server down. It throws
    /// when there is no whole answer; what was received until then counts. Cancelling ends it here and at the server.
    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer
    /// Texts as vectors: the answer to OpenAI's `POST /v1/embeddings`, whose body this is; nil where it has no such models.
    func embeddings(_ body: JSONObject) async throws -> JSONObject?
    /// Removes for good what is kept here of sessions, as the starts of answers name them; those that are gone already are no
    /// error. False where something is kept of them that cannot be removed from here, as at a server.
    func forget(sessions: [String]) async throws -> Bool
}

extension ModelProvider {
    public var runsTools: Bool { false }
    public var obeysMode: Bool { false }
    public var isFound: Bool { false }
    public func dialect(of model: String) async -> RequestDialect? { nil }
    public func embeddings(_ body: JSONObject) async throws -> JSONObject? { nil }
    public func forget(sessions: [String]) async throws -> Bool { false }
}

/// A model as a catalogue has it. What is not known is nil.
public struct ModelDescription: Record, Hashable {
    public var id: String
    public var provider: String
    public var name: String?
    /// How many tokens fit in, with the answer.
    public var contextTokens: Int?
    /// How many tokens an answer can have.
    public var outputTokens: Int?
    public var price: ModelPrice?
    public var abilities: Set<ModelAbility>?

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
        Field("id", "What it is asked for by", .name) { $0.id },
        Field("provider", "Who has it") { $0.provider },
        Field("name", "What it is called", .detail) { $0.name },
        Field("context", "How many tokens fit in, with the answer") { $0.contextTokens },
        Field("output", "How many tokens an answer can have") { $0.outputTokens },
        Field("input_usd", "US dollars for a million tokens that it reads") { $0.price?.input.map { $0.perMillion } },
        Field("output_usd", "US dollars for a million tokens that it writes") {
            $0.price?.output.map { $0.perMillion }
        },
        Field("abilities", "What it can do") { $0.abilities.map { $0.map(\.rawValue).sorted() } },
    ]
}

/// What a model can do beyond text.
public enum ModelAbility: String, Choice, Hashable {
    case tools, images, files, reasoning, schema
}

/// What single tokens cost.
public struct ModelPrice: Sendable, Hashable {
    public var input: TokenPrice?
    public var output: TokenPrice?
    /// Tokens that were read from the provider's cache, and those that were written to it.
    public var cachedInput: TokenPrice?
    public var cacheWrite: TokenPrice?

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

/// The price of one token in millionths of a billionth of a dollar, so that sums are exact.
public struct TokenPrice: Sendable, Hashable {
    public var femtodollars: Int

    public init(femtodollars: Int) {
        self.femtodollars = femtodollars
    }

    /// From dollars for a million tokens, as providers write prices.
    public init(perMillion dollars: Double) {
        femtodollars = Int((dollars * 1e9).rounded())
    }

    public var perMillion: Double { Double(femtodollars) / 1e9 }
}

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

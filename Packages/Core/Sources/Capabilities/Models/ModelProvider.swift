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

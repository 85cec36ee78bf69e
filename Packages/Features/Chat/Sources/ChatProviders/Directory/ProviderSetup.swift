public import Capabilities
public import HTTPClient
public import TurnLoop

/// What a `ProviderDirectory` is made from.
public struct ProviderSetup: Sendable {
    public var client: HTTPClient
    /// Where the vendors' usual variables are looked for: `OPENAI_API_KEY`, `OPENAI_BASE_URL`.
    public var environment: [String: String]
    /// Told every key before it is used.
    public var redactor: Redactor
    public var clock: any Clock<Duration>
    public var now: @Sendable () -> Timestamp
    /// Signs for vendors and profiles, where the environment has no key. Without it only the environment has keys.
    public var authenticator: (any Authenticator)?
    /// Asked only for names: which vendors have a key there.
    public var secrets: (any SecretStore)?
    public var servers: [ChatServer] = []
    /// Those of others. Their models can be named, and the first of them is asked where nobody else can be.
    public var others: [any ModelProvider] = []
    /// Opens a span for each question.
    public var tracer: Tracer?
    /// The profile in use.
    public var profile: String?
    /// The configured default, written as in `ProviderDirectory.choice`.
    public var defaultModel: String?
    /// The model that was used last with a provider.
    public var lastModel: @Sendable (_ provider: String) async -> String? = { _ in nil }
    public var table = ModelTable.known
    public var limits = AnswerLimits()
    public var localServers = LocalServer.usual
    /// The ids of the servers on this machine that may be asked without being named.
    public var agreed: Set<String> = []
    /// Whether OpenRouter is told which program asks.
    public var sendsAttribution = true
    /// Whether OpenAI is asked by Responses and not by Chat Completions.
    public var usesResponses = false

    public init(
        client: HTTPClient, environment: [String: String], redactor: Redactor, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.client = client
        self.environment = environment
        self.redactor = redactor
        self.clock = clock
        self.now = now
    }
}

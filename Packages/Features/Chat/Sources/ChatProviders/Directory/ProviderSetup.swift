public import Capabilities
public import HTTPClient
public import OpenAIDialect
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

/// A server that the settings name: a profile.
public struct ChatServer: Sendable {
    /// What it speaks.
    public enum Kind: Sendable, Hashable {
        /// A Kamiwaza platform, which has deployments.
        case kamiwaza
        /// An agent behind HTTP, which runs its tools itself.
        case gateway
        /// OpenAI's Chat Completions, with these quirks.
        case compatible(OpenAIQuirks)
    }

    /// The profile's name, under which an `Authenticator` knows the server too.
    public var name: String
    /// Where its API begins; `/v1` may be left out.
    public var address: String
    public var kind: Kind

    public init(name: String, address: String, kind: Kind) {
        self.name = name
        self.address = address
        self.kind = kind
    }
}

/// How long an answer is waited for.
public struct AnswerLimits: Sendable, Hashable {
    /// Until a streamed answer begins. Local servers may have to load the model first.
    public var firstByte: Duration = .seconds(300)
    /// Without a byte, where comments and pings count, and the time in which nobody reads does not.
    public var idle: Duration = .seconds(120)
    /// Until an answer that is not streamed is there.
    public var whole: Duration = .seconds(600)
    /// Bytes of a stream that wait for their reader before the server is made to wait, from 16 to 512 KiB.
    public var buffer = 64 << 10

    public init() {}

    func http(streams: Bool) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.firstByte = streams ? firstByte : whole
        limits.idle = idle
        limits.buffer = buffer
        return limits
    }

    /// More than this is no answer that was not streamed.
    static let largestWhole = 128 << 20
}

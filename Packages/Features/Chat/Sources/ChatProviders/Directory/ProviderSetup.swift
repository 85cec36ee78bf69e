public import Capabilities
public import HTTPClient
public import OpenAIDialect
import TurnLoop

/// The configuration of a `ProviderDirectory`.
public struct ProviderSetup: Sendable {
    /// Sends all requests to models. Its owner closes it.
    public var client: HTTPClient
    /// The environment with the vendors' usual variables: `OPENAI_API_KEY`, `OPENAI_BASE_URL`.
    public var environment: [String: String]
    /// Learns every key before it is used.
    public var redactor: Redactor
    /// Measures the waits between attempts and the limits of questions.
    public var clock: any Clock<Duration>
    /// The current time, by which kept lists of servers and models expire.
    public var now: @Sendable () -> Timestamp
    /// Signs for vendors and profiles if the environment has no key. Without it, keys only come from the environment.
    public var authenticator: (any Authenticator)?
    /// Only asked for names: which vendors have a key there.
    public var secrets: (any SecretStore)?
    /// The servers of the settings. Those of the environment are added to them.
    public var servers: [ChatServer] = []
    /// Providers of other features. Their models can be named. The first of them is used if nothing else is available.
    public var others: [any ModelProvider] = []
    /// Opens a span for each question.
    public var tracer: Tracer?
    /// The profile in use.
    public var profile: String?
    /// The configured default, written as in `ProviderDirectory.choice`.
    public var defaultModel: String?
    /// The model last used with a provider.
    public var lastModel: @Sendable (_ provider: String) async -> String? = { _ in nil }
    var table = ModelTable.known
    /// The timeouts and limits of every answer.
    public var limits = AnswerLimits()
    /// The servers that are looked for on this machine.
    public var localServers = LocalServer.usual
    /// The ids of the servers on this machine that may be used without being named.
    public var agreed: Set<String> = []
    /// Whether OpenRouter receives the name of this program.
    public var sendsAttribution = true
    /// Whether to use OpenAI's Responses API instead of Chat Completions.
    public var usesResponses = false

    /// A setup without servers of the settings. The other members can be changed afterwards.
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

    /// The servers of the settings, and those whose address is only in the environment.
    static func all(_ servers: [ChatServer], _ environment: [String: String]) -> [ChatServer] {
        var all = servers
        for (id, kind) in [("kamiwaza", ChatServer.Kind.kamiwaza), ("gateway", .gateway)] {
            guard let address = environment[SecretName(id).addressVariable], !address.isEmpty,
                !all.contains(where: { $0.name == id })
            else { continue }
            all.append(ChatServer(name: id, address: address, kind: kind))
        }
        return all
    }

    /// Whether the environment is enough to ask a vendor. This opens no secret store.
    func hasVariables(of vendor: Vendor) -> Bool {
        [vendor.keyVariable, vendor.addressVariable].contains { !environment[$0, default: ""].isEmpty }
    }

    /// What to do about a vendor's key that is missing or was rejected.
    func remedy(for vendor: Vendor) -> String {
        let variable = "set \(vendor.keyVariable)"
        return authenticator == nil
            ? variable : "\(variable), or store a key with 'martlet auth secret set \(vendor.id)'"
    }

    /// Whether the store certainly has no secret with that name. A store that cannot be opened is reported when the
    /// secret is needed.
    func lacksSecret(_ id: String) async -> Bool {
        guard authenticator != nil, let secrets else { return true }
        do { return try await !secrets.names().contains(SecretName(id)) } catch { return false }
    }

    /// Whether the store has a secret with that name. A store that cannot be opened has none.
    func hasSecret(_ id: String) async -> Bool {
        guard authenticator != nil, let secrets else { return false }
        do { return try await secrets.names().contains(SecretName(id)) } catch { return false }
    }
}

/// A server of the settings: a profile.
public struct ChatServer: Sendable {
    /// The protocol of the server.
    public enum Kind: Sendable, Hashable {
        /// A Kamiwaza platform with deployments.
        case kamiwaza
        /// An agent behind HTTP that runs its own tools.
        case gateway
        /// OpenAI's Chat Completions, with these quirks.
        case compatible(OpenAIQuirks)

        /// The name of the environment variable for the only server of this kind.
        var word: String? {
            switch self {
            case .kamiwaza: "kamiwaza"
            case .gateway: "gateway"
            case .compatible: nil
            }
        }
    }

    /// The profile's name, which an `Authenticator` also uses for the server.
    public var name: String
    /// The address of its API; `/v1` may be omitted.
    public var address: String
    /// The protocol that it speaks.
    public var kind: Kind

    /// - Parameter address: the address of its API. It is checked when the server is used.
    public init(name: String, address: String, kind: Kind) {
        self.name = name
        self.address = address
        self.kind = kind
    }
}

/// The timeouts and limits of an answer.
public struct AnswerLimits: Sendable, Hashable {
    /// The timeout until a streamed answer begins. Local servers may have to load the model first.
    public var firstByte: Duration = .seconds(300)
    /// The timeout without any byte. Comments and pings count, and the time in which the caller does not read does not.
    public var idle: Duration = .seconds(120)
    /// The timeout of an answer that is not streamed.
    public var whole: Duration = .seconds(600)
    /// The bytes of a stream that are buffered before the server has to wait, from 16 to 512 KiB.
    public var buffer = 64 << 10

    func http(streams: Bool) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.firstByte = streams ? firstByte : whole
        limits.idle = idle
        limits.buffer = buffer
        return limits
    }

    /// The size limit of an answer that is not streamed.
    static let largestWhole = 128 << 20
}

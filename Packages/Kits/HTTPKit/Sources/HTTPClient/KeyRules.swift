public import Capabilities
public import HTTPCore

/// The only servers that a credential may be sent to. Every `Authenticator` asks this, for keys and for sessions.
public struct CredentialDestination: Sendable {
    /// Hosts that are reached with https, at its usual port.
    private let hosts: [String]
    /// A server that is reached as its address says.
    private let server: HTTPURL?
    private let otherPorts: OtherPorts

    /// Whether the credential also belongs to the other ports of the server's host, where a platform serves its models.
    /// They are only reached with https.
    private enum OtherPorts { case none, ofEncryptedServer, ofEveryServer }

    private init(hosts: [String] = [], server: HTTPURL?, otherPorts: OtherPorts) {
        self.hosts = hosts
        self.server = server
        self.otherPorts = otherPorts
    }

    /// For the credential of a profile: its server, and over https other ports of the server's host.
    public static func profile(at url: HTTPURL) -> CredentialDestination {
        CredentialDestination(server: url, otherPorts: .ofEveryServer)
    }

    /// For a key of the environment: the server at the address beside it. If the address has https, also other ports of
    /// its host over https.
    public static func key(beside address: HTTPURL) -> CredentialDestination {
        CredentialDestination(server: address, otherPorts: .ofEncryptedServer)
    }

    /// For the key of a vendor: the vendor's hosts.
    ///
    /// - Parameter address: the address beside the key, if the key is from the environment. A stored key has none.
    public static func key(of vendor: ModelVendor, beside address: HTTPURL?) -> CredentialDestination {
        CredentialDestination(hosts: vendor.hosts, server: address, otherPorts: .none)
    }

    /// Whether the credential may be sent to an address.
    public func allows(_ url: HTTPURL) -> Bool {
        if url.scheme == .https, url.port == 443, hosts.contains(url.host) { return true }
        guard let server else { return false }
        if url.isSameOrigin(as: server) { return true }
        guard url.scheme == .https, url.host == server.host else { return false }
        return switch otherPorts {
        case .none: false
        case .ofEncryptedServer: server.scheme == .https
        case .ofEveryServer: true
        }
    }

    /// The servers, as messages show them.
    public var servers: [String] { hosts + [server?.server].compactMap(\.self) }
}

/// How requests carry a key.
public enum KeyHeader: Sendable {
    /// As `Authorization: Bearer`.
    case bearer
    /// As the whole value of the header with this name.
    case named(String)
}

extension RequestHead {
    /// Adds a key or a token if it may be sent to the request's address, and returns whether it may. If not, the
    /// request is left unchanged.
    public mutating func authorize(
        with key: Secret, in header: KeyHeader = .bearer, for destination: CredentialDestination
    ) throws(HTTPError) -> Bool {
        guard destination.allows(try HTTPURL(url)) else { return false }
        switch header {
        case .bearer: headers.append(("Authorization", Secret("Bearer " + key.withText { $0 })))
        case .named(let name): headers.append((name, key))
        }
        return true
    }
}

/// A company that serves models and gives out keys for them, which are for its own hosts only.
public struct ModelVendor: Sendable {
    /// The name of the secret that holds its key. The environment variables are derived from it.
    public let name: SecretName
    /// The names of its servers.
    let hosts: [String]
    /// How its servers expect the key.
    public let header: KeyHeader

    private init(_ name: SecretName, _ hosts: [String], _ header: KeyHeader = .bearer) {
        self.name = name
        self.hosts = hosts
        self.header = header
    }

    /// OpenAI.
    public static let openAI = ModelVendor("openai", ["api.openai.com"])
    /// Anthropic.
    public static let anthropic = ModelVendor("anthropic", ["api.anthropic.com"], .named("x-api-key"))
    /// OpenRouter.
    public static let openRouter = ModelVendor("openrouter", ["openrouter.ai"])
    /// A Kamiwaza platform. It has no fixed host: its key is only for the address in its address variable.
    public static let kamiwaza = ModelVendor("kamiwaza", [])

    static let all = [
        openAI, anthropic, openRouter,
        ModelVendor("gemini", ["generativelanguage.googleapis.com"], .named("x-goog-api-key")),
        ModelVendor("mistral", ["api.mistral.ai"]),
        ModelVendor("groq", ["api.groq.com"]),
        ModelVendor("deepseek", ["api.deepseek.com"]),
        ModelVendor("xai", ["api.x.ai"]),
        kamiwaza,
    ]

    /// The vendor whose key has that name.
    public static func named(_ name: String) -> ModelVendor? {
        all.first { $0.name.text == name }
    }

    /// The address in the environment for this vendor's key.
    public func address(in environment: [String: String]) -> HTTPURL? {
        guard let text = environment[name.addressVariable], !text.isEmpty else { return nil }
        // The key is not sent to an invalid address. The request itself reports the problem.
        return try? HTTPURL(text, assuming: .https)
    }
}

/// A key of the environment and the address beside it: `LAB_API_KEY` and `LAB_BASE_URL`.
public struct EnvironmentKey: Sendable {
    private let key: Secret?
    /// The address beside it; nil if there is none.
    public let address: HTTPURL?

    /// Reads both variables.
    ///
    /// - Parameters:
    ///   - id: the name of a vendor or a server.
    ///   - redactor: learns the key.
    public init(
        for id: String, in environment: [String: String], redactor: Redactor
    ) throws(EnvironmentKeyError) {
        let variables = SecretName(id)
        let key = environment[variables.environmentVariable].flatMap { $0.isEmpty ? nil : Secret($0) }
        if let key {
            redactor.learn(key, named: variables.environmentVariable)
            // A line end would start another header. It is usually copied along with the key.
            guard key.withText({ $0.utf8.allSatisfy { (33...126).contains($0) } }) else {
                throw EnvironmentKeyError.badKey(variable: variables.environmentVariable)
            }
        }
        self.key = key
        guard let text = environment[variables.addressVariable], !text.isEmpty else {
            address = nil
            return
        }
        do throws(HTTPError) {
            address = try HTTPURL(text, assuming: .https)
        } catch {
            throw EnvironmentKeyError.badAddress(variable: variables.addressVariable, error)
        }
    }

    /// Signs requests to a vendor with the key; nil if there is none.
    public func authenticator(for vendor: ModelVendor) -> (any Authenticator)? {
        guard let key else { return nil }
        return EnvironmentAuthenticator(key, in: vendor.header, for: .key(of: vendor, beside: address))
    }

    /// Signs requests to a server with the key; nil if there is none, or if it is not for this very server. A key
    /// without an address is for none.
    public func authenticator(for url: HTTPURL) -> (any Authenticator)? {
        guard let key, let address, address.isSameOrigin(as: url) else { return nil }
        return EnvironmentAuthenticator(key, in: .bearer, for: .key(beside: address))
    }
}

/// Why a key of the environment is not sent. Features say it in their own words.
public enum EnvironmentKeyError: Error {
    /// The key contains characters that could change the request.
    case badKey(variable: String)
    /// The address beside the key is not valid.
    case badAddress(variable: String, HTTPError)
    /// The request leads to another server than those that the key is for.
    case wrongServer(meant: [String], target: String)
}

/// Signs the requests to one server with its key of the environment.
private final class EnvironmentAuthenticator: Authenticator {
    private let key: Secret
    private let header: KeyHeader
    private let destination: CredentialDestination

    init(_ key: Secret, in header: KeyHeader, for destination: CredentialDestination) {
        self.key = key
        self.header = header
        self.destination = destination
    }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        guard try request.authorize(with: key, in: header, for: destination) else {
            throw EnvironmentKeyError.wrongServer(meant: destination.servers, target: try HTTPURL(request.url).server)
        }
    }

    /// There is no other key.
    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
}

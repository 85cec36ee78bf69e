import AuthSignIn
import AuthVault
import Capabilities
import HTTPClient
import Registry

/// Signs requests to model vendors with their keys, and requests to servers with the sessions of their profiles.
///
/// A credential is sent only to the server that it belongs to; a request to any other server is rejected.
final class ServerAuthenticator: Authenticator {
    private let services: AuthServices

    init(services: AuthServices) {
        self.services = services
    }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        let url = try HTTPURL(request.url)
        if services.profiles.names.contains(server.name) {
            try await sign(&request, url, as: try services.profiles.profile(named: server.name))
        } else if let vendor = ModelVendor.named(server.name) {
            try await sign(&request, url, with: vendor)
        }
    }

    private func sign(_ request: inout RequestHead, _ url: HTTPURL, with vendor: ModelVendor) async throws {
        guard let key = try await services.secrets.secret(named: vendor.name) else { return }
        let environment = services.surroundings.environment
        let isFromEnvironment = try await services.layered.source(of: vendor.name).map(\.isEnvironment) ?? false
        guard vendor.mayGo(to: url, keyIsFromEnvironment: isFromEnvironment, environment: environment) else {
            let meant =
                vendor.hosts + (isFromEnvironment ? [vendor.address(environment)?.server].compactMap(\.self) : [])
            throw AuthError.wrongDestination(credential: vendor.name.text, host: url.server, meant: meant)
        }
        vendor.sign(&request, with: key)
    }

    private func sign(_ request: inout RequestHead, _ url: HTTPURL, as profile: ServerProfile) async throws {
        if let key = services.environmentKey(for: profile) {
            guard profile.mayReceive(url) else { throw wrongDestination(profile, url) }
            request.authorize(with: key)
            return
        }
        let session: Session
        do {
            session = try await self.session(of: profile)
        } catch let error as SignInError where error.kind == .signedOut {
            // A platform would reject the request; other servers may not need a credential.
            guard profile.kind != .kamiwaza else { throw AuthError.noToken(profile.name) }
            return
        }
        guard session.origin == profile.origin, profile.mayReceive(url) else { throw wrongDestination(profile, url) }
        request.authorize(with: session.accessToken)
        services.warnOfExpiry(session, profile)
    }

    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool {
        guard services.profiles.names.contains(server.name), let token = refused.token else { return false }
        let profile = try services.profiles.profile(named: server.name)
        guard services.environmentKey(for: profile) == nil else { return false }
        _ = try await session(of: profile, refusing: token)
        return true
    }

    private func session(of profile: ServerProfile, refusing refused: Secret? = nil) async throws -> Session {
        do {
            return try await services.keeper(for: profile).session(refusing: refused)
        } catch let error as SignInError where error.kind == .signInAgain {
            let session = try await services.session(of: profile)
            throw SessionEnded(profile, session, now: services.surroundings.now(), cause: error)
        }
    }

    private func wrongDestination(_ profile: ServerProfile, _ url: HTTPURL) -> AuthError {
        .wrongDestination(credential: profile.name, host: url.server, meant: [profile.url.server])
    }
}

extension SecretSource {
    fileprivate var isEnvironment: Bool {
        if case .environment = self { true } else { false }
    }
}

/// A model vendor with a named key that is sent only to that vendor.
struct ModelVendor: Sendable {
    /// How a request carries the key.
    enum Header: Sendable {
        case bearer
        case named(String)
    }

    /// The name of the secret that holds its key. The environment variable is derived from it.
    let name: SecretName
    let hosts: [String]
    private let header: Header
    /// The environment variable with another address for the key.
    var addressVariable: String { name.environmentVariable.replacingEnd("_API_KEY", by: "_BASE_URL") }

    private init(_ name: SecretName, _ hosts: [String], _ header: Header = .bearer) {
        self.name = name
        self.hosts = hosts
        self.header = header
    }

    static let all = [
        ModelVendor("openai", ["api.openai.com"]),
        ModelVendor("anthropic", ["api.anthropic.com"], .named("x-api-key")),
        ModelVendor("openrouter", ["openrouter.ai"]),
        ModelVendor("gemini", ["generativelanguage.googleapis.com"], .named("x-goog-api-key")),
        ModelVendor("mistral", ["api.mistral.ai"]),
        ModelVendor("groq", ["api.groq.com"]),
        ModelVendor("deepseek", ["api.deepseek.com"]),
        ModelVendor("xai", ["api.x.ai"]),
        // It has no fixed host: its key is only for the address in its address variable.
        ModelVendor("kamiwaza", []),
    ]

    static func named(_ name: String) -> ModelVendor? {
        all.first { $0.name.text == name }
    }

    /// Whether a key may be sent to an address. A key from the environment may also be sent to the address in the
    /// environment.
    func mayGo(to url: HTTPURL, keyIsFromEnvironment: Bool, environment: [String: String]) -> Bool {
        if url.scheme == .https, hosts.contains(url.host), url.port == 443 { return true }
        guard keyIsFromEnvironment, let base = address(environment) else { return false }
        return url.isSameOrigin(as: base)
    }

    /// The address in the environment for this vendor's key.
    func address(_ environment: [String: String]) -> HTTPURL? {
        guard let text = environment[addressVariable], !text.isEmpty else { return nil }
        // The key is not sent to an invalid address. The request itself reports the problem.
        return try? HTTPURL(text, assuming: .https)
    }

    func sign(_ request: inout RequestHead, with key: Secret) {
        switch header {
        case .bearer: request.authorize(with: key)
        case .named(let name): request.headers.append((name, key))
        }
    }
}

extension RequestHead {
    /// Adds the token as a bearer token.
    mutating func authorize(with token: Secret) {
        headers.append(("Authorization", Secret("Bearer " + token.withText { $0 })))
    }

    /// The token that `authorize` put there.
    var token: Secret? {
        headers.last { $0.name == "Authorization" }?.value.withText { text in
            text.hasPrefix("Bearer ") ? Secret(String(text.dropFirst(7))) : nil
        }
    }
}

extension String {
    fileprivate func replacingEnd(_ end: String, by other: String) -> String {
        hasSuffix(end) ? dropLast(end.count) + other : self
    }
}

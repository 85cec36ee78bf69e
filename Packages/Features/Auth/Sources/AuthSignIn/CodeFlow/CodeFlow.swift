public import Capabilities
import Cryptography
public import HTTPClient

/// Signing in with a browser: authorization code with PKCE over a loopback redirect (RFC 8252).
///
///     let flow = CodeFlow(configuration, clientID: "martlet", client: client, now: now)
///     let tokens = try await flow.run { url in if await !browser.open(url) { show(url) } }
public struct CodeFlow: Sendable {
    public var configuration: OpenIDConfiguration
    public var clientID: String
    public var scopes = ["openid", "email", "profile", CodeFlow.offline]
    /// What the server understands beyond the standard, such as `kc_idp_hint` for a provider.
    public var extra: [(name: String, value: String)] = []
    /// How long somebody may take to sign in.
    public var limit: Duration = .seconds(300)
    public var clock: any Clock<Duration> & Sendable = ContinuousClock()
    /// Tells the person why they are sent to the server a second time.
    public var notice: @Sendable (String) -> Void = { _ in }
    let client: HTTPClient
    let now: @Sendable () -> Timestamp

    public init(
        _ configuration: OpenIDConfiguration, clientID: String, client: HTTPClient,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.configuration = configuration
        self.clientID = clientID
        self.client = client
        self.now = now
    }

    /// Waits for somebody to sign in at the address that `show` is given, and returns the tokens.
    ///
    /// A server that refuses `offline_access`, which Keycloak does only after somebody has signed in, is asked again
    /// without; `show` is called a second time then. Throws `SignInError`; cancelling ends it at once and closes the
    /// receiver.
    public func run(_ show: @Sendable (HTTPURL) async throws -> Void) async throws -> TokenAnswer {
        do {
            return try await run(scopes, show)
        } catch let error as SignInError where error.refusesOfflineAccess && scopes.contains(Self.offline) {
            notice(Self.withoutOffline)
            return try await run(scopes.filter { $0 != Self.offline }, show)
        }
    }

    static let offline = "offline_access"
    static let withoutOffline = "the server gives no offline tokens, so the sign-in is asked for once more without them"

    private func run(
        _ scopes: [String], _ show: @Sendable (HTTPURL) async throws -> Void
    ) async throws -> TokenAnswer {
        guard let authorization = configuration.authorizationEndpoint, let token = configuration.tokenEndpoint,
            configuration.offersAuthorizationCode
        else { throw SignInError(.badAnswer, "the server does not offer to sign in with a browser") }
        let pkce = try PKCE()
        let nonce = Secret(Base64URL.encode(try Random.bytes(16)))
        var receiving = LoopbackReceiver.Configuration(now: now)
        (receiving.limit, receiving.clock) = (limit, clock)
        (receiving.issuer, receiving.needsIssuer) = (configuration.issuer, configuration.promisesIssuer)
        return try await LoopbackReceiver.run(receiving) { receiver in
            let request = try AuthorizationRequest(
                at: authorization, clientID: clientID, redirectURI: receiver.redirectURI, scopes: scopes,
                state: receiver.state, nonce: nonce, pkce: pkce, extra: extra)
            try await show(request.url)
            guard case .code(let code) = try await receiver.answer() else {
                // Tokens in a redirect were not asked for, and nothing proves that they are this person's.
                throw SignInError(.badAnswer, "the server answered the sign-in with tokens instead of a code")
            }
            let endpoint = TokenEndpoint(token, clientID: clientID, client: client, now: now)
            let answer = try await endpoint.exchange(code: code, redirectURI: receiver.redirectURI, pkce: pkce)
            if let idToken = answer.idToken {
                _ = try IDToken(
                    idToken, issuer: configuration.issuer, clientID: clientID, nonce: nonce, now: now())
            }
            return answer
        }
    }
}

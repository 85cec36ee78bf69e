public import Capabilities
import Cryptography
public import HTTPClient

/// Signing in with a browser: authorization code with PKCE over a loopback redirect (RFC 8252).
///
///     let flow = CodeFlow(configuration, clientID: "martlet", client: client, now: now)
///     let tokens = try await flow.run { url in if await !browser.open(url) { show(url) } }
public struct CodeFlow: Sendable {
    var configuration: OpenIDConfiguration
    var clientID: String
    var scopes = ["openid", "email", "profile", CodeFlow.offline]
    /// Additional parameters for the server, such as `kc_idp_hint` for a provider.
    public var extra: [(name: String, value: String)] = []
    /// How long the user may take to sign in.
    public var limit: Duration = .seconds(300)
    var clock: any Clock<Duration> = ContinuousClock()
    /// Tells the user why they are sent to the server a second time.
    public var notice: @Sendable (String) -> Void = { _ in }
    let client: HTTPClient
    let now: @Sendable () -> Timestamp

    /// - Parameter now: the current time, from which the expiry of the tokens is computed.
    public init(
        _ configuration: OpenIDConfiguration, clientID: String, client: HTTPClient,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.configuration = configuration
        self.clientID = clientID
        self.client = client
        self.now = now
    }

    /// Waits for the user to sign in at the address that is passed to `show`, and returns the tokens.
    ///
    /// When the server refuses `offline_access`, the flow runs again without it and calls `show` a second time.
    /// Keycloak refuses it only after the user has signed in. Throws `SignInError`. Cancelling ends the flow at once
    /// and closes the receiver.
    public func run(_ show: @Sendable (HTTPURL) async throws -> Void) async throws -> TokenAnswer {
        do {
            return try await run(scopes, show)
        } catch let error as SignInError where error.refusesOfflineAccess && scopes.contains(Self.offline) {
            notice(Self.withoutOffline)
            return try await run(scopes.filter { $0 != Self.offline }, show)
        }
    }

    static let offline = "offline_access"
    static let withoutOffline = "the server does not issue offline tokens, so please sign in once more without them"

    private func run(
        _ scopes: [String], _ show: @Sendable (HTTPURL) async throws -> Void
    ) async throws -> TokenAnswer {
        guard let authorization = configuration.authorizationEndpoint, let token = configuration.tokenEndpoint,
            configuration.offersAuthorizationCode
        else { throw SignInError(.badAnswer, "the server does not support signing in with a browser") }
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
                // The flow did not ask for tokens in a redirect, and nothing proves that they belong to this user.
                throw SignInError(
                    .badAnswer, "unexpected response from the server: it sent tokens instead of a sign-in code")
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

/// The address to which the user's browser is sent to sign in (RFC 6749, section 4.1.1).
struct AuthorizationRequest: Sendable {
    let url: HTTPURL

    /// - Parameter extra: additional parameters for the server, such as `kc_idp_hint` or `login_hint`.
    init(
        at endpoint: HTTPURL, clientID: String, redirectURI: HTTPURL, scopes: [String], state: Secret, nonce: Secret?,
        pkce: PKCE, extra: [(name: String, value: String)] = []
    ) throws {
        var fields: FormFields = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI.text,
            "code_challenge": pkce.challenge, "code_challenge_method": "S256",
        ]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        state.withText { fields.append("state", $0) }
        nonce?.withText { fields.append("nonce", $0) }
        // Servers must reject duplicate parameters, so `extra` cannot replace any of the parameters above.
        for (name, value) in extra where fields.all(name).isEmpty { fields.append(name, value) }
        url = try HTTPURL("\(endpoint.text)\(endpoint.query == nil ? "?" : "&")\(fields.text)")
    }
}

/// Proves that a code is exchanged by the program that requested it (RFC 7636, method S256).
public struct PKCE: Sendable {
    /// Kept secret until the code is exchanged.
    public let verifier: Secret
    /// Sent with the request. It does not reveal the verifier.
    public let challenge: String

    /// A new proof of 256 random bits.
    public init() throws {
        self.init(verifier: Secret(Base64URL.encode(try Random.bytes(32))))
    }

    init(verifier: Secret) {
        self.verifier = verifier
        challenge = verifier.withText { Base64URL.encode(Digest.sha256(Array($0.utf8))) }
    }
}

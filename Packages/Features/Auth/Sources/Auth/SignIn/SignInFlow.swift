import AuthSignIn
import Capabilities
import Glibc
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import Registry

/// The ways to sign in to one server. Each returns a session that is not stored yet.
struct SignInFlow: Sendable {
    let services: AuthServices
    let profile: ServerProfile
    let context: ActionContext

    private var now: Timestamp { services.now() }

    // MARK: With a token

    /// Signs in with an existing token, after checking that the server accepts it.
    func with(token: Secret) async throws -> Session {
        services.redactor.learn(token)
        var session = Session(
            accessToken: token, received: now, kind: .personal(id: nil, name: nil), origin: profile.origin)
        switch profile.kind {
        case .kamiwaza:
            do {
                session.userName = try await api(token).whoAmI().name
                session = try await completed(session, token)
            } catch let error as KamiwazaError where error.kind == .signInAgain {
                throw AuthError.tokenRefused(server: profile.url.server)
            }
        case .gateway: try await tryOut(token, "v1/models")
        case .openai: try await tryOut(token, "models")
        }
        return session
    }

    /// Adds the token's id and expiry, so that it can be revoked and its expiry is known.
    private func completed(_ session: Session, _ token: Secret) async throws -> Session {
        guard let facts = TokenClaims(token) else { return session }
        var session = session
        session.kind = .personal(id: facts.id, name: nil)
        session.expiry = facts.expiry
        return session
    }

    private func tryOut(_ token: Secret, _ path: String) async throws {
        var request = HTTPRequest(.get, try profile.url.appending(path))
        token.withText { request.headers["Authorization"] = "Bearer \($0)" }
        let response = try await services.client.send(request)
        if [401, 403].contains(response.status.code) { throw AuthError.tokenRefused(server: profile.url.server) }
        _ = try response.requireSuccess()
    }

    // MARK: With a password

    /// Signs in with a user name and a password. On a terminal, a wrong password can be entered again.
    func with(user given: String?, password: Secret?) async throws -> Session {
        let remembered = try await services.preferences.value(Preferences.user, of: profile)
        var user = given ?? ""
        for attempt in 1... {
            if given == nil {
                let last = user.isEmpty ? remembered : user
                user = try await context.interaction.text("auth.login.user", "User name", default: last)
            }
            let secret: Secret
            if let password {
                secret = password
            } else {
                secret = try await context.interaction.secret("auth.login.password", "Password")
            }
            services.redactor.learn(secret)
            context.progress("signing in to \(profile.url.server)")
            do {
                let tokens = try await api(nil).signIn(user: user, password: secret)
                return Session(TokenAnswer(tokens, now: now), origin: profile.origin, userName: user)
            } catch let error as KamiwazaError where error.kind == .wrongPassword {
                guard password == nil, context.interaction.canAsk, attempt < 3 else { throw error }
                context.notice(error.message)
            }
        }
        throw InteractionError.declined(id: "auth.login.password")
    }

    // MARK: With a browser

    /// The sign-in providers of the server.
    func providers() async throws -> [SignInProvider] {
        try await api(nil).providers()
    }

    /// Signs in with a browser: by OpenID if the server's configuration is found, otherwise by the server's own sign-in
    /// page.
    func withBrowser(provider: SignInProvider?) async throws -> Session {
        guard context.interaction.canAsk else {
            throw AuthError.needsPerson("signing in with a browser", profile: profile.name)
        }
        if let configuration = try await openID(), configuration.offersAuthorizationCode {
            var flow = CodeFlow(
                configuration, clientID: services.client(of: profile), client: services.client,
                now: services.now)
            flow.notice = { [context] in context.notice($0) }
            // Keycloak's parameter to preselect a provider.
            if let provider { flow.extra = [("kc_idp_hint", provider.alias)] }
            return try await named(Session(try await flow.run(show), origin: profile.origin))
        }
        let answer = try await LoopbackReceiver.run(.init(now: services.now)) { receiver in
            let address = try api(nil).loginURL(
                provider: provider?.alias, redirectURI: receiver.redirectURIWithState.text,
                state: receiver.state.withText { $0 })
            try await show(address)
            return try await receiver.answer()
        }
        guard case .tokens(let tokens) = answer else {
            throw AuthError.notOffered("signing in to this program with a browser", profile: profile.name)
        }
        return try await named(Session(tokens, origin: profile.origin))
    }

    private func show(_ url: HTTPURL) async throws {
        try await context.showSignIn(at: url, services.browser)
    }

    // MARK: On another device

    func onAnotherDevice() async throws -> Session {
        guard context.interaction.canAsk else {
            throw AuthError.needsPerson("signing in on another device", profile: profile.name)
        }
        guard let configuration = try await openID(),
            var flow = DeviceFlow(
                configuration, clientID: services.client(of: profile), client: services.client,
                now: services.now)
        else { throw AuthError.notOffered("signing in on another device", profile: profile.name) }
        flow.notice = { [context] in context.notice($0) }
        let answer = try await flow.run { [context] code in context.showSignIn(with: code) }
        return try await named(Session(answer, origin: profile.origin))
    }

    private func openID() async throws -> OpenIDConfiguration? {
        var places = [profile.url, try profile.url.resolving("/")]
        if let issuer = try await api(nil).openIDIssuer() { places.insert(issuer, at: 0) }
        for place in places {
            do {
                if let found = try await OpenIDConfiguration.discover(at: place, using: services.client) {
                    return found
                }
            } catch let error as SignInError where error.kind == .badAnswer && place.scheme == .http {
                // Codes and tokens are not sent without TLS, so the platform's own sign-in page is used instead.
                continue
            }
        }
        return nil
    }

    /// Adds the user name that the server reports.
    private func named(_ session: Session) async throws -> Session {
        var session = session
        services.redactor.learn(session.accessToken)
        session.userName = try await api(session.accessToken).whoAmI().name
        return session
    }

    // MARK: Afterwards

    /// Exchanges a session for a personal access token with this machine's name.
    func remembered(_ session: Session) async throws -> Session {
        let name = "martlet on \(Machine.name)"
        let made = try await api(session.accessToken).makePersonalToken(name: name, lifetime: Machine.tokenLifetime)
        services.redactor.learn(made.token)
        return Session(
            accessToken: made.token,
            expiry: made.facts.expires ?? Timestamp(microseconds: now.microseconds + 8_640_000 * 1_000_000),
            received: now, kind: .personal(id: made.facts.id, name: name), origin: profile.origin,
            userName: session.userName)
    }

    private func api(_ token: Secret?) throws -> KamiwazaAPI {
        var api = try services.api(of: profile, signed: false)
        if let token { api.credential = .bearer(token) }
        return api
    }
}

/// The claims of a signed token (JWT). They are used only to show and to revoke the token; the server decides whether
/// it is valid.
struct TokenClaims {
    let id: String?
    let expiry: Timestamp?

    init?(_ token: Secret) {
        let payload = token.withText { text -> [UInt8]? in
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return Base64URL.decode(parts[1])
        }
        // Other kinds of token have no claims.
        guard let payload, let claims = try? JSON(parsing: payload).object else { return nil }
        id = claims["jti"]?.string
        expiry = claims["exp"]?.double.flatMap { seconds in
            seconds > 0 && seconds < 1e12 ? Timestamp(microseconds: Int64(seconds * 1_000_000)) : nil
        }
    }
}

/// What servers learn about this machine.
enum Machine {
    /// A remembered device stays signed in for a hundred days.
    static let tokenLifetime: Duration = .seconds(8_640_000)

    /// The host name, to recognise the token in a list.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "an unnamed machine" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

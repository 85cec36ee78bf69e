import AuthSignIn
import Capabilities
import Cryptography
import Glibc
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import Registry

/// The ways to sign in to one server. Each gives a session that is not stored yet.
struct SignInFlow: Sendable {
    let services: AuthServices
    let profile: ServerProfile
    let context: ActionContext

    private var now: Timestamp { services.surroundings.now() }

    // MARK: With a token

    /// A token that was made elsewhere, kept only when the server takes it.
    func with(token: Secret) async throws -> Session {
        services.surroundings.redactor.learn(token)
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

    /// What the server knows of the token, so that it can be revoked and its end be foreseen. Only a token that is the
    /// account's only one can be told from the others.
    private func completed(_ session: Session, _ token: Secret) async throws -> Session {
        guard let facts = TokenClaims(token) else { return session }
        var session = session
        session.kind = .personal(id: facts.id, name: nil)
        session.expiry = facts.expiry
        return session
    }

    private func tryOut(_ token: Secret, _ path: String) async throws {
        var request = HTTPRequest(.get, try profile.url.appending(path))
        var head = RequestHead(method: "GET", url: request.url.text)
        head.authorize(with: token)
        for (name, value) in head.headers { value.withText { request.headers[name] = $0 } }
        let response = try await services.client.send(request)
        if [401, 403].contains(response.status.code) { throw AuthError.tokenRefused(server: profile.url.server) }
        _ = try response.requireSuccess()
    }

    // MARK: With a password

    /// A user name and a password; a person who mistypes may try again.
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
            services.surroundings.redactor.learn(secret)
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

    /// The server's providers, for the person to choose from.
    func providers() async throws -> [SignInProvider] {
        try await api(nil).providers()
    }

    /// With a browser: by OpenID where the server's configuration can be found, else by the server's own page.
    func withBrowser(provider: SignInProvider?) async throws -> Session {
        guard context.interaction.canAsk else {
            throw AuthError.needsPerson("signing in with a browser", profile: profile.name)
        }
        if let configuration = try await openID(), configuration.offersAuthorizationCode {
            var flow = CodeFlow(
                configuration, clientID: services.client(of: profile), client: services.client,
                now: services.surroundings.now)
            flow.notice = { [context] in context.notice($0) }
            // How Keycloak is told which of its providers is meant.
            if let provider { flow.extra = [("kc_idp_hint", provider.alias)] }
            return try await named(Session(try await flow.run(show), origin: profile.origin))
        }
        let answer = try await LoopbackReceiver.run(.init(now: services.surroundings.now)) { receiver in
            let address = try api(nil).loginURL(
                provider: provider?.alias, redirectURI: receiver.redirectURIWithState.text,
                state: receiver.state.withText { $0 })
            try await show(address)
            return try await receiver.answer()
        }
        guard case .tokens(let tokens) = answer else {
            throw AuthError.notOffered("to sign in with this program and a browser", profile: profile.name)
        }
        return try await named(Session(tokens, origin: profile.origin))
    }

    private func show(_ url: HTTPURL) async throws {
        // The browser sends there what the address says, also for a caller who may not.
        try context.caller.grant.check(.host(url.host, port: url.port))
        context.notice("Sign in with your browser at this address:\n  \(url.text)")
        let browser = Browser(environment: services.surroundings.environment)
        if browser.isAvailable, await browser.open(url) { context.notice("It was opened in your browser.") }
        context.progress("waiting until you have signed in")
    }

    // MARK: On another device

    func onAnotherDevice() async throws -> Session {
        guard context.interaction.canAsk else {
            throw AuthError.needsPerson("signing in on another device", profile: profile.name)
        }
        guard let configuration = try await openID(),
            var flow = DeviceFlow(
                configuration, clientID: services.client(of: profile), client: services.client,
                now: services.surroundings.now)
        else { throw AuthError.notOffered("to sign in on another device", profile: profile.name) }
        flow.notice = { [context] in context.notice($0) }
        let answer = try await flow.run { [context] code in
            context.notice(
                "On any device, open\n  \(code.completeURI?.text ?? code.verificationURI.text)\nand enter the code "
                    + code.userCode)
            context.progress("waiting until you have signed in")
        }
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
                // Addresses without TLS are not used for codes and tokens; the platform's own page is what is left.
                continue
            }
        }
        return nil
    }

    /// The same session with the name of the person, as the server knows it.
    private func named(_ session: Session) async throws -> Session {
        var session = session
        services.surroundings.redactor.learn(session.accessToken)
        session.userName = try await api(session.accessToken).whoAmI().name
        return session
    }

    // MARK: Afterwards

    /// Exchanges a session for a personal access token that carries this machine's name.
    func remembered(_ session: Session) async throws -> Session {
        let name = "martlet on \(Machine.name)"
        let made = try await api(session.accessToken).makePersonalToken(name: name, lifetime: Machine.tokenLifetime)
        services.surroundings.redactor.learn(made.token)
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

/// What a token says of itself, when it is a signed one (JWT). It is believed for display and for revoking only: whether
/// the token is good, its server decides.
struct TokenClaims {
    let id: String?
    let expiry: Timestamp?

    init?(_ token: Secret) {
        let payload = token.withText { text -> [UInt8]? in
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return Base64URL.decode(parts[1])
        }
        // What is no JSON is a token of another kind, which says nothing of itself.
        guard let payload, let claims = try? JSON(parsing: payload).object else { return nil }
        id = claims["jti"]?.string
        expiry = claims["exp"]?.double.flatMap { seconds in
            seconds > 0 && seconds < 1e12 ? Timestamp(microseconds: Int64(seconds * 1_000_000)) : nil
        }
    }
}

/// What of this machine goes to servers.
enum Machine {
    /// A remembered device stays so for a hundred days.
    static let tokenLifetime: Duration = .seconds(8_640_000)

    /// The machine's own name, by which its token is found in a list.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "a machine without a name" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

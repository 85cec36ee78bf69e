import AuthSignIn
import Capabilities
import HTTPClient
import JSON
import KamiwazaKit
import Registry

/// The actions for signing in and out, and for the signed-in user.
struct SignInActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [login, logout, status, whoami] }

    private var login: Action {
        Action(
            "auth.login", "Sign in to a server", .writes, taking: LoginArguments.self
        ) { context, arguments in
            let profile = try await services.profile(forLogin: arguments.server?.text, context)
            if profile.isReadable {
                context.notice(
                    "\(profile.url.server) uses http without TLS: anyone on the network path can read your password "
                        + "and token")
            }
            try await services.openSecrets(for: profile)
            let flow = SignInFlow(services: services, profile: profile, context: context)
            var session: Session
            if let token = arguments.token {
                session = try await flow.with(token: token)
            } else {
                session = try await choose(flow, arguments)
                session = try await remembered(session, flow, arguments.isRemembered)
            }
            let former = try await services.adopt(session, for: profile, context)
            if let former, !former.accessToken.equals(session.accessToken) {
                await services.discard(former, of: profile, context)
            }
            if let name = session.userName {
                try await services.preferences.remember(name, as: Preferences.user, of: profile)
            }
            return SignedIn(profile, session)
        }
        .byName()
        .sending()
        .details(
            "On a terminal it asks for missing values. Otherwise it needs a user name and a password from "
                + "--password-stdin, --password-env or --password-fd, or a token from --token-stdin, --token-env or "
                + "--token-fd. A token is saved only after the server has accepted it."
        )
        .question("auth.login.method", "The sign-in method: one of the offered answers, word for word")
        .question("auth.login.user", "The user name")
        .question("auth.login.password", "The password")
        .question("auth.login.token", "The key for a server without accounts")
        .question("auth.login.remember", "Whether to stay signed in on this machine: true or false")
        .example("martlet auth login lab.example", "Add the server and ask for the rest")
        .example("martlet auth login lab --token-stdin < token.txt", "Sign in from a script")
        .example("martlet auth login lab --user ada --remember", "Stay signed in on this machine")
    }

    /// The session, or this machine's access token if the user wants to stay signed in.
    private func remembered(_ session: Session, _ flow: SignInFlow, _ isWanted: Bool) async throws -> Session {
        let question = "Stay signed in on this device?"
        let interaction = flow.context.interaction
        do {
            guard flow.profile.kind == .kamiwaza else { return session }
            if !isWanted {
                guard interaction.canAsk, try await interaction.confirm("auth.login.remember", question) else {
                    return session
                }
            }
            let token = try await flow.remembered(session)
            await services.discard(session, of: flow.profile, flow.context)
            return token
        } catch {
            await services.discard(session, of: flow.profile, flow.context)
            throw error
        }
    }

    private func choose(_ flow: SignInFlow, _ arguments: LoginArguments) async throws -> Session {
        guard flow.profile.kind == .kamiwaza else {
            // A server without accounts accepts only a key.
            let key = try await flow.context.interaction.secret(
                "auth.login.token", "Key for \(flow.profile.url.server)")
            return try await flow.with(token: key)
        }
        if arguments.onDevice { return try await flow.onAnotherDevice() }
        if let provider = arguments.provider {
            let known = try await flow.providers()
            guard let found = known.first(where: { $0.alias == provider || $0.name == provider }) else {
                throw AuthError.unknownProvider(provider, known: known.map(\.name))
            }
            return try await flow.withBrowser(provider: found)
        }
        if arguments.inBrowser { return try await flow.withBrowser(provider: nil) }
        let (user, password) = (arguments.user, arguments.password)
        if user != nil || password != nil || !flow.context.interaction.canAsk {
            return try await flow.with(user: user, password: password)
        }
        let providers = try await flow.providers()
        guard !providers.isEmpty else { return try await flow.with(user: nil, password: nil) }
        let options = ["User name and password"] + providers.map(\.name)
        let index = try await flow.context.interaction.choice(
            "auth.login.method", "How do you want to sign in to \(flow.profile.url.server)?", among: options)
        return index == 0
            ? try await flow.with(user: nil, password: nil) : try await flow.withBrowser(provider: providers[index - 1])
    }

    private var logout: Action {
        Action(
            "auth.logout", "Sign out of a server and revoke this machine's token", .writes,
            .argument(
                "server", "Server name; if omitted, the default server", as: String?.self, completion: .profiles)
        ) { context, name in
            let profile = try services.profiles.chosen(name)
            try await services.signOut(profile, context)
            return SignedOut(name: profile.name, server: profile.url.text)
        }
        .byName()
        .sending()
        .details("Your history with the server stays.")
    }

    private var status: Action {
        Action(
            "auth.status", "Show where you are signed in", .reads,
            .argument("server", "Show only this server", as: String?.self, completion: .profiles)
        ) { context, name in
            let names = try name.map { [try services.profiles.profile(named: $0).name] } ?? services.profiles.names
            var rows: [StatusRow] = []
            for name in names { rows.append(try await services.status(of: try services.profiles.profile(named: name))) }
            return StatusRows(
                rows: context.rows(rows, orSay: ServerActions.none), isAboutOne: name != nil)
        }
        .asDefault()
        .details("This sends no request. With a server name, the exit code is 3 if you are not signed in to it.")
    }

    private var whoami: Action {
        Action(
            "auth.whoami", "Show your account at a server", .reads,
            .argument(
                "server", "Server name; if omitted, the default server", as: String?.self, completion: .profiles)
        ) { context, name in
            let profile = try services.profiles.chosen(name)
            try await services.requireCredential(profile)
            return Identity(profile, try await services.api(of: profile).whoAmI())
        }
        .sending()
    }
}

/// The arguments of `auth.login`.
struct LoginArguments: ActionArguments {
    private(set) var server: HostValue?
    private(set) var (user, provider): (String?, String?)
    private(set) var (inBrowser, onDevice, isRemembered) = (false, false, false)
    private(set) var (password, token): (Secret?, Secret?)

    static let bindings = [
        bind(
            \.server,
            .argument("server", "A configured server, or the address of a new one", completion: .profiles)),
        bind(\.user, .option("user", "User name")),
        bind(\.provider, .option("provider", "Sign in with a browser through this identity provider")),
        bind(\.inBrowser, .flag("browser", "Sign in with a browser")),
        bind(\.onDevice, .flag("device", "Sign in with a browser on another device")),
        bind(\.isRemembered, .flag("remember", "Stay signed in on this device with its own access token")),
        bind(\.password, .secret("password", "Password")),
        bind(\.token, .secret("token", "Access token, used instead of any other sign-in method")),
    ]

    init() {}
}

/// The result of signing in.
struct SignedIn: Record {
    let name: String
    let server: String
    let user: String?
    let credential: String
    let expires: Timestamp?

    init(_ profile: ServerProfile, _ session: Session) {
        name = profile.name
        server = profile.url.text
        user = session.userName
        expires = session.expiry
        switch session.kind {
        case .tokens: credential = "session"
        case .personal(_, let name): credential = name.map { "access token '\($0)'" } ?? "access token"
        }
    }

    static let fields: [Field<SignedIn>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("server", "Address of its API") { $0.server },
        Field("user", "The signed-in user") { $0.user },
        Field("credential", "The stored credential") { $0.credential },
        Field("expires", "When the credential expires, if it does") { $0.expires },
    ]
}

/// The result of signing out.
struct SignedOut: Record {
    let name: String
    let server: String

    static let fields: [Field<SignedOut>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("server", "Address of its API") { $0.server },
        Field("state", "signed out", .state) { _ in SignInState.signedOut },
    ]
}

/// Whether requests to a server can be signed.
enum SignInState: String, Choice, Hashable {
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    case expired
    /// No key is stored, and the server may not need one.
    case noKey = "no-key"

    /// Whether a required credential is missing.
    var isLacking: Bool { self == .signedOut || self == .expired }
}

/// The sign-in state of one server.
struct StatusRow: Record {
    let name: String
    let server: String
    var state = SignInState.signedOut
    var user: String?
    var credential: String?
    var expires: Timestamp?
    let inUse: Bool

    init(_ profile: ServerProfile, inUse: Bool) {
        name = profile.name
        server = profile.url.text
        self.inUse = inUse
    }

    static let fields: [Field<StatusRow>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("state", "signed-in, signed-out, expired, or no-key if the server may not need one", .state) { $0.state },
        Field("user", "The signed-in user") { $0.user },
        Field("credential", "session, access token or environment") { $0.credential },
        Field("expires", "When the credential expires, if it does") { $0.expires },
        Field("server", "Address of its API") { $0.server },
        Field("in_use", "Whether it is the default server") { $0.inUse },
    ]
}

/// The rows. If the server was named, its state sets the exit code.
struct StatusRows: OutputValue {
    let rows: [StatusRow]
    let isAboutOne: Bool

    static var schema: Schema { [StatusRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { isAboutOne && rows.contains { $0.state.isLacking } ? .denied : .done }
}

/// The account as the server reports it.
struct Identity: Record {
    let server: String
    let user: KamiwazaUser

    init(_ profile: ServerProfile, _ user: KamiwazaUser) {
        server = profile.url.text
        self.user = user
    }

    static let fields: [Field<Identity>] = [
        Field("user", "The user name", .name) { $0.user.name },
        Field("email", "The email address") { $0.user.email },
        Field("groups", "The groups") { $0.user.groups },
        Field("roles", "The roles") { $0.user.roles },
        Field("subject", "The account id", .detail) { $0.user.subject },
        Field("server", "Address of the server") { $0.server },
    ]
}

import AuthSignIn
import Capabilities
import HTTPClient
import JSON
import KamiwazaKit
import Registry

/// Signing in, signing out, and who one is.
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
                    "\(profile.url.server) speaks http without TLS: everybody on the way there can read your password "
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
            "On a terminal it asks for what is missing. Elsewhere it takes a user name and a password from --password-stdin, "
                + "--password-env or --password-fd, or a token from --token-stdin and the like. A token is kept only after "
                + "the server has taken it."
        )
        .question("auth.login.method", "How to sign in, in the words of the question")
        .question("auth.login.user", "The user name")
        .question("auth.login.password", "The password")
        .question("auth.login.token", "The key of a server without accounts")
        .question("auth.login.remember", "Whether to stay signed in on this machine: true or false")
        .example("martlet auth login lab.example", "Sets the server up and asks for the rest")
        .example("martlet auth login lab --token-stdin < token.txt", "In a script")
        .example("martlet auth login lab --user ada --remember", "Stay signed in on this machine")
    }

    /// The session, or the access token of this machine that takes its place when somebody wants that.
    private func remembered(_ session: Session, _ flow: SignInFlow, _ isWanted: Bool) async throws -> Session {
        let question = "Remember this device, so that you stay signed in?"
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
            // A server without accounts takes a key and nothing else.
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
            "auth.logout", "Sign out of a server, and revoke this machine's token there", .writes,
            .argument("server", "The server", as: String?.self, completion: ServerActions.completion)
        ) { context, name in
            let profile = try services.profiles.chosen(name)
            try await services.signOut(profile, context)
            return SignedOut(name: profile.name, server: profile.url.text)
        }
        .byName()
        .sending()
        .details("What you did with the server stays in your history.")
    }

    private var status: Action {
        Action(
            "auth.status", "Show where you are signed in", .reads,
            .argument("server", "Only this server", as: String?.self, completion: ServerActions.completion)
        ) { context, name in
            let names = try name.map { [try services.profiles.profile(named: $0).name] } ?? services.profiles.names
            var rows: [StatusRow] = []
            for name in names { rows.append(try await services.status(of: try services.profiles.profile(named: name))) }
            return StatusRows(
                rows: context.rows(rows, orSay: ServerActions.none), isAboutOne: name != nil)
        }
        .asDefault()
        .details("No server is asked. With a server's name it ends with 3 when nobody is signed in there.")
    }

    private var whoami: Action {
        Action(
            "auth.whoami", "Ask a server who you are", .reads,
            .argument("server", "The server", as: String?.self, completion: ServerActions.completion)
        ) { context, name in
            let profile = try services.profiles.chosen(name)
            try await services.requireCredential(profile)
            return Identity(profile, try await services.api(of: profile).whoAmI())
        }
        .sending()
    }
}

/// What `auth.login` takes.
struct LoginArguments: ActionArguments {
    private(set) var server: HostValue?
    private(set) var (user, provider): (String?, String?)
    private(set) var (inBrowser, onDevice, isRemembered) = (false, false, false)
    private(set) var (password, token): (Secret?, Secret?)

    static let bindings = [
        bind(
            \.server,
            .argument(
                "server", "A server that is set up, or the address of a new one", completion: ServerActions.completion)),
        bind(\.user, .option("user", "The user name")),
        bind(\.provider, .option("provider", "Sign in with a browser and this provider")),
        bind(\.inBrowser, .flag("browser", "Sign in with a browser")),
        bind(\.onDevice, .flag("device", "Sign in with a browser on another device")),
        bind(\.isRemembered, .flag("remember", "Remember this device with an access token of its own")),
        bind(\.password, .secret("password", "The password")),
        bind(\.token, .secret("token", "An access token instead of everything else")),
    ]

    init() {}
}

/// What signing in came to.
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
        Field("name", "What the server is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("user", "Who is signed in") { $0.user },
        Field("credential", "What is kept for it") { $0.credential },
        Field("expires", "When that ends, where it does") { $0.expires },
    ]
}

/// What signing out came to.
struct SignedOut: Record {
    let name: String
    let server: String

    static let fields: [Field<SignedOut>] = [
        Field("name", "What the server is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("state", "signed out", .state) { _ in SignInState.signedOut },
    ]
}

/// Whether requests to a server can be signed.
enum SignInState: String, Choice, Hashable {
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    case expired
    /// No key is kept for a server that may want none.
    case noKey = "no-key"

    /// Whether requests surely lack a credential.
    var isLacking: Bool { self == .signedOut || self == .expired }
}

/// How it stands with one server.
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
        Field("name", "What the server is called", .name) { $0.name },
        Field("state", "signed-in, signed-out, expired, or no-key where none may be needed", .state) { $0.state },
        Field("user", "Who is signed in") { $0.user },
        Field("credential", "session, access token or environment") { $0.credential },
        Field("expires", "When that ends, where it does") { $0.expires },
        Field("server", "Where its API is") { $0.server },
        Field("in_use", "Whether commands mean it when they name none") { $0.inUse },
    ]
}

/// The rows; one that was asked for by name decides about the exit code.
struct StatusRows: OutputValue {
    let rows: [StatusRow]
    let isAboutOne: Bool

    static var schema: Schema { [StatusRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { isAboutOne && rows.contains { $0.state.isLacking } ? .denied : .done }
}

/// Who a server says one is.
struct Identity: Record {
    let server: String
    let user: KamiwazaUser

    init(_ profile: ServerProfile, _ user: KamiwazaUser) {
        server = profile.url.text
        self.user = user
    }

    static let fields: [Field<Identity>] = [
        Field("user", "The user name", .name) { $0.user.name },
        Field("email", "The address for mail") { $0.user.email },
        Field("groups", "The groups") { $0.user.groups },
        Field("roles", "The roles") { $0.user.roles },
        Field("subject", "The account's id", .detail) { $0.user.subject },
        Field("server", "The server that says so") { $0.server },
    ]
}

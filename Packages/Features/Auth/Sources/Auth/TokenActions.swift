import AuthSignIn
import Capabilities
import HTTPClient
import JSON
import KamiwazaKit
import Registry

/// Personal access tokens, which stand for a person where nobody can sign in.
struct TokenActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, create, revoke, rotate] }

    private static let server: Parameter<String?> = .option(
        "server", "The server, when it is not the one in use", as: String?.self, completion: ServerActions.completion)

    private func api(_ server: String?) async throws -> (ServerProfile, KamiwazaAPI) {
        let profile = try services.profiles.chosen(server)
        let api = try services.api(of: profile)
        try await services.requireCredential(profile)
        return (profile, api)
    }

    private var list: Action {
        Action("auth.pat.list", "List your personal access tokens at a server", .reads, Self.server) {
            context, server in
            let (profile, api) = try await api(server)
            let own = try await services.session(of: profile)?.tokenID
            return context.rows(
                try await api.personalTokens().map { TokenRow($0, isOwn: $0.id == own, now: context.host.now()) },
                orSay: "you have no personal access token there; 'martlet auth pat create NAME' makes one")
        }
        .asDefault()
        .sending()
    }

    private var create: Action {
        Action(
            "auth.pat.create", "Make a personal access token; it is shown only now", .writes,
            .argument("name", "What it is for", as: String.self),
            .option("days", "How long it is valid", in: 1...3650, default: 90), Self.server
        ) { context, name, days, server in
            guard !name.allSatisfy(\.isWhitespace) else { throw AuthError.emptyTokenName }
            let (_, api) = try await api(server)
            let made = try await api.makePersonalToken(name: name, lifetime: .seconds(days * 86_400))
            services.surroundings.redactor.learn(made.token)
            return MadeToken(made)
        }
        .byName()
        .sending()
        .example("martlet auth pat create ci --days 30 --json", "For a script; the member 'token' is what it needs")
    }

    private var revoke: Action {
        Action(
            "auth.pat.revoke", "Make a personal access token invalid", .destroys,
            .argument("id", "Its id, as the list shows it", as: String.self), Self.server
        ) { context, id, server in
            let (profile, api) = try await api(server)
            let isOwn = try await services.session(of: profile)?.tokenID == id
            do { try await api.revokePersonalToken(id) } catch let error as KamiwazaError where error.kind == .notFound
            {
                throw AuthError.tokenNotFound(id, profile: profile.name)
            }
            if isOwn {
                try await services.forgetCredentials(of: profile)
                context.notice("that was this machine's token, so you are signed out of \(profile.name)")
            }
            return Nothing()
        }
        .byName()
        .sending()
        .losing { arguments, _ in
            let id = arguments["id"]?.string ?? ""
            let (profile, api) = try await api(arguments["server"]?.string)
            let known = try await api.personalTokens()
            guard let token = known.first(where: { $0.id == id }) else {
                throw AuthError.tokenNotFound(id, profile: profile.name)
            }
            let name = token.name.map { " \(PlainText.escape($0))" } ?? ""
            return "Make the access token\(name) (\(PlainText.escape(id))) at \(profile.url.server) invalid"
        }
    }

    private var rotate: Action {
        Action(
            "auth.pat.rotate", "Replace this machine's access token by a new one", .writes,
            .argument("server", "The server", as: String?.self, completion: ServerActions.completion)
        ) { context, server in
            let (profile, api) = try await api(server)
            guard let old = try await services.session(of: profile), case .personal(let id, _) = old.kind else {
                throw AuthError.notOffered(
                    "anything to rotate: you are signed in without an access token of your own", profile: profile.name)
            }
            let flow = SignInFlow(services: services, profile: profile, context: context)
            let new = try await flow.remembered(old)
            // Stored before the old one goes, so that a crash in between leaves two tokens and not none.
            _ = try await services.adopt(new, for: profile, context)
            if let id {
                do { try await api.revokePersonalToken(id) } catch let error as KamiwazaError
                    where error.kind == .notFound
                {
                    // Somebody has revoked it already.
                }
            } else {
                context.notice(
                    "the old token names no id, so it was not revoked: find it with 'martlet auth pat list' and revoke it"
                )
            }
            return SignedIn(profile, new)
        }
        .byName()
        .sending()
    }
}

extension Session {
    /// What a personal access token is revoked by.
    var tokenID: String? {
        if case .personal(let id, _) = kind { id } else { nil }
    }
}

/// A personal access token in a list; never the token itself.
struct TokenRow: Record {
    enum State: String, Choice, Hashable {
        case active, expiring, expired, revoked
    }

    let facts: PersonalToken
    let isOwn: Bool
    let state: State

    init(_ facts: PersonalToken, isOwn: Bool, now: Timestamp) {
        self.facts = facts
        self.isOwn = isOwn
        state =
            if facts.isRevoked { .revoked } else if let end = facts.expires {
                end <= now ? .expired : end - now < .seconds(14 * 86_400) ? .expiring : .active
            } else { .active }
    }

    static let fields: [Field<TokenRow>] = [
        Field("id", "What it is revoked by", .name) { $0.facts.id },
        Field("name", "What it is for") { $0.facts.name },
        Field("state", "active, expiring, expired or revoked", .state) { $0.state },
        Field("created", "When it was made") { $0.facts.created },
        Field("expires", "When it ends, where it does") { $0.facts.expires },
        Field("this_machine", "Whether it is the one that is kept here") { $0.isOwn },
    ]
}

/// A token that was just made: the only time that it is shown.
struct MadeToken: Record {
    let id: String
    let name: String?
    let expires: Timestamp?
    private let token: String

    init(_ made: NewPersonalToken) {
        id = made.facts.id
        name = made.facts.name
        expires = made.facts.expires
        token = made.token.withText { $0 }
    }

    static let fields: [Field<MadeToken>] = [
        Field("token", "The token, which cannot be shown again", .name) { $0.token },
        Field("id", "What it is revoked by") { $0.id },
        Field("name", "What it is for") { $0.name },
        Field("expires", "When it ends, where it does") { $0.expires },
    ]
}

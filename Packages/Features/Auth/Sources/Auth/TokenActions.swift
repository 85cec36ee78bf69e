import AuthSignIn
import Capabilities
import HTTPClient
import JSON
import KamiwazaKit
import Registry

/// The actions for personal access tokens, which sign in scripts and services.
struct TokenActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, create, revoke, rotate] }

    static let server: Parameter<String?> = .option(
        "server", "Server name; if omitted, the default server", as: String?.self, completion: .profiles)

    private func api(_ server: String?) async throws -> (ServerProfile, KamiwazaAPI) {
        let profile = try services.profiles.chosen(server)
        let api = try services.api(of: profile)
        try await services.requireCredential(profile)
        return (profile, api)
    }

    private var list: Action {
        Action("auth.pat.list", "List your personal access tokens", .reads, Self.server) {
            context, server in
            context.rows(try await rows(server, context), orSay: Self.noTokens)
        }
        .asDefault()
        .sending()
    }

    /// The tokens at a server.
    func rows(_ server: String?, _ context: ActionContext) async throws -> [TokenRow] {
        let (profile, api) = try await api(server)
        let own = try await services.session(of: profile)?.tokenID
        return try await api.personalTokens().map { TokenRow($0, isOwn: $0.id == own, now: context.host.now()) }
    }

    static let noTokens = "you have no personal access token; create one with 'martlet auth pat create NAME'"

    private var create: Action {
        Action(
            "auth.pat.create", "Create a personal access token and show it once", .writes,
            .argument("name", "Name of the token, such as its purpose", as: String.self),
            .option("days", "Days until it expires", in: 1...3650, default: 90), Self.server
        ) { context, name, days, server in
            guard !name.allSatisfy(\.isWhitespace) else { throw AuthError.emptyTokenName }
            let (_, api) = try await api(server)
            let made = try await api.makePersonalToken(name: name, lifetime: .seconds(days * 86_400))
            context.host.redactor.learn(made.token)
            return MadeToken(made)
        }
        .byName()
        .sending()
        .example(
            "martlet auth pat create ci --days 30 --json", "Create a token for a script, which reads the member 'token'"
        )
    }

    private var revoke: Action {
        Action(
            "auth.pat.revoke", "Revoke a personal access token", .destroys,
            .argument("id", "Id of the token, from 'martlet auth pat list'", as: String.self), Self.server
        ) { context, id, server in
            let (profile, api) = try await api(server)
            let isOwn = try await services.session(of: profile)?.tokenID == id
            do { try await api.revokePersonalToken(id) } catch let error as KamiwazaError where error.kind == .notFound
            {
                throw AuthError.tokenNotFound(id, profile: profile.name)
            }
            if isOwn {
                try await services.forgetCredentials(of: profile)
                context.notice("this was this machine's token, so you are now signed out of \(profile.name)")
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
            return "Revoke the access token\(name) (\(PlainText.escape(id))) at \(profile.url.server)"
        }
    }

    private var rotate: Action {
        Action(
            "auth.pat.rotate", "Replace this machine's access token with a new one", .writes,
            .argument(
                "server", "Server name; if omitted, the default server", as: String?.self, completion: .profiles)
        ) { context, server in
            let (profile, api) = try await api(server)
            guard let old = try await services.session(of: profile), case .personal(let id, _) = old.kind else {
                throw AuthError.notOffered(
                    "a token to rotate: you are not signed in with an access token", profile: profile.name)
            }
            let flow = SignInFlow(services: services, profile: profile, context: context)
            let new = try await flow.remembered(old)
            // Stored before the old one is revoked: a crash in between leaves two valid tokens instead of none.
            _ = try await services.adopt(new, for: profile, context)
            if let id {
                do { try await api.revokePersonalToken(id) } catch let error as KamiwazaError
                    where error.kind == .notFound
                {
                    // It has already been revoked.
                }
            } else {
                context.notice(
                    "the old token has no id, so it was not revoked; find it with 'martlet auth pat list' and revoke it"
                )
            }
            return SignedIn(profile, new)
        }
        .byName()
        .sending()
    }
}

extension Session {
    /// The id that revokes a personal access token.
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
    private let isOwn: Bool
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
        Field("id", "Id of the token", .name) { $0.facts.id },
        Field("name", "Name of the token") { $0.facts.name },
        Field("state", "active, expiring, expired or revoked", .state) { $0.state },
        Field("created", "When it was created") { $0.facts.created },
        Field("expires", "When it expires, if it does") { $0.facts.expires },
        Field("this_machine", "Whether this machine uses it") { $0.isOwn },
    ]
}

/// A new token. It is shown only this once.
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
        Field("id", "Id of the token") { $0.id },
        Field("name", "Name of the token") { $0.name },
        Field("expires", "When it expires, if it does") { $0.expires },
    ]
}

import AuthSignIn
import Capabilities
import Cryptography
import FileKit
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import Registry
import Settings

/// The servers that profiles name.
struct ServerActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [add, list, use, set, remove, check] }

    /// What a list of servers says where there is none.
    static let none = "no server is set up yet; 'martlet auth server add NAME ADDRESS' adds one"

    /// Completes the names of profiles.
    static let completion = Completion.dynamic { _, host in host.settings.profiles }

    private var add: Action {
        Action(
            "auth.server.add", "Set up a server, after finding out what it is", .writes,
            .argument("name", "What you want to call it", as: String.self),
            .argument("address", "Its address, https where no scheme is given", as: HostValue.self),
            .option("kind", "What it is, when that should not be found out", as: ServerKind?.self),
            .flag("use", "Also make it the one that commands mean when they name none")
        ) { context, name, address, kind, use in
            let profile = try await services.add(name, address.text, kind, use: use, context)
            return ServerRow(profile, inUse: use || services.profiles.inUse ?? name == name)
        }
        .byName()
        .sending()
        .details(
            "An address is kept only after a server has answered there. When a name gets another server, its credentials "
                + "are removed. The authorities of --cacert are kept with it, and count for this server alone."
        )
        .example("martlet auth server add lab lab.example", "A Kamiwaza platform")
        .example("martlet auth server add lab lab.example --cacert lab-ca.pem", "One with an authority of its own")
        .example("martlet auth server add local http://127.0.0.1:11434/v1 --kind openai", "A local model server")
    }

    private var list: Action {
        Action("auth.server.list", "List the servers that are set up", .reads) { context in
            context.rows(
                try services.profiles.names.map { name in
                    ServerRow(try services.profiles.profile(named: name), inUse: services.profiles.inUse == name)
                }, orSay: Self.none)
        }
        .asDefault()
    }

    private var use: Action {
        Action(
            "auth.server.use", "Choose the server that commands mean when they name none", .writes,
            .argument("name", "The server", as: String.self, completion: Self.completion)
        ) { context, name in
            let profile = try services.profiles.profile(named: name)
            try await context.registry.one((any SettingsWriter).self).change([(["profile"], .string(name))])
            return ServerRow(profile, inUse: true)
        }
        .byName()
    }

    private var set: Action {
        Action(
            "auth.server.set", "Let other authorities vouch for a server, or only those that vouch for every server",
            .writes,
            .argument("name", "The server", as: String.self, completion: Self.completion),
            .flag("no-cacert", "Forget the authorities that count for it alone")
        ) { context, name, forgets in
            var profile = try services.profiles.profile(named: name)
            let file = try AuthorityFile.ofThisRun(context)
            guard forgets != (file != nil) else {
                throw ArgumentsFailure(
                    action: "auth.server.set",
                    problems: [ValueError("say what is to change: --cacert FILE or --no-cacert")])
            }
            profile.authority = file
            try await context.registry.one((any SettingsWriter).self).change([
                (AuthorityFile.key(of: name), file.map { .string($0) })
            ])
            return ServerRow(profile, inUse: services.profiles.inUse == name)
        }
        .byName()
        .example("martlet auth server set lab --cacert lab-ca.pem", "Trust its own authority for it, and for no other")
    }

    private var remove: Action {
        Action(
            "auth.server.remove", "Forget a server and its credentials", .destroys,
            .argument("name", "The server", as: String.self, completion: Self.completion)
        ) { context, name in
            let profile = try services.profiles.profile(named: name)
            try await services.signOut(profile, context)
            var changes: [(key: [String], value: JSON?)] = [(["profiles", name], nil)]
            // First, since a profile in use that does not exist would be an error.
            if services.profiles.inUse == name { changes.insert((["profile"], nil), at: 0) }
            try await context.registry.one((any SettingsWriter).self).change(changes)
            return ServerRow(profile, inUse: false)
        }
        .byName()
        .losing { arguments, _ in
            let profile = try services.profiles.profile(named: arguments["name"]?.string ?? "")
            return "Forget the server \(profile.name) (\(profile.url.text)) and its credentials"
        }
        .details(
            "You are signed out there first, as by 'martlet auth logout', which revokes this machine's token. What you did "
                + "with the server stays in your history.")
    }

    private var check: Action {
        Action(
            "auth.server.check", "Ask a server how it is", .reads,
            .argument("name", "The server", as: String?.self, completion: Self.completion)
        ) { context, name in
            let profile = try services.profiles.chosen(name)
            let start = ContinuousClock.now
            let health: JSONObject
            switch profile.kind {
            case .kamiwaza: health = try await services.api(of: profile, signed: false).health()
            case .gateway: health = try await ServerProbe(client: services.client).health(of: profile.url)
            case .openai:
                _ = try await ServerProbe(client: services.client).find(profile.url.text, kind: .openai)
                health = [:]
            }
            return ServerHealth(profile, health, latency: ContinuousClock.now - start)
        }
        .sending()
    }
}

extension AuthServices {
    /// Keeps a server under a name; credentials for another one of that name are removed.
    func add(
        _ name: String, _ address: String, _ kind: ServerKind?, use: Bool, _ context: ActionContext
    ) async throws -> ServerProfile {
        try ServerProfile.check(name)
        let authority = try AuthorityFile.ofThisRun(context)
        let (url, kind) = try await find(address, kind)
        var profile = ServerProfile(name: name, url: url, kind: kind, authority: authority)
        let former = profiles.names.contains(name) ? try usable(name) : nil
        if profiles.names.contains(name), former?.origin != profile.origin {
            // At the server that it was: its tokens would stay valid there, and nobody would have them.
            if let former { try await signOut(former, context) } else { try await forgetCredentials(of: profile) }
            context.notice("\(name) was another server before, so its credentials were removed")
        }
        var changes: [(key: [String], value: JSON?)] = [
            (["profiles", name, "server"], .string(url.text)), (["profiles", name, "kind"], kind.json),
        ]
        if let authority {
            changes.append((AuthorityFile.key(of: name), .string(authority)))
        } else if let former, former.origin == profile.origin {
            profile.authority = former.authority
        } else if profiles.names.contains(name), former?.authority != nil || former == nil {
            // Who vouched for one server has nothing to say about another.
            changes.append((AuthorityFile.key(of: name), nil))
        }
        if use || profiles.inUse == nil { changes.append((["profile"], .string(name))) }
        try await context.registry.one((any SettingsWriter).self).change(changes)
        return profile
    }

    private func find(_ address: String, _ kind: ServerKind?) async throws -> (url: HTTPURL, kind: ServerKind) {
        do {
            return try await ServerProbe(client: client).find(address, kind: kind)
        } catch {
            // https that was only assumed never becomes http by itself, so that somebody has to say it.
            let problem = (error as? KamiwazaError)?.cause ?? error
            guard !address.contains("://"), (problem as? HTTPError)?.kind == .tls else { throw error }
            throw KamiwazaError(
                .unreachable,
                "\(AnyFailure(error).message); https is meant where no scheme is given: if the server speaks http without "
                    + "TLS, name it as http://\(PlainText.escape(address))", cause: problem)
        }
    }

    /// What a profile is now; nil where its address is none, so that it can be given another.
    private func usable(_ name: String) throws(AuthError) -> ServerProfile? {
        do throws(AuthError) {
            return try profiles.profile(named: name)
        } catch {
            guard case .badAddress = error else { throw error }
            return nil
        }
    }

    /// Removes what was kept to sign in to a server, and what was remembered of it.
    func forgetCredentials(of profile: ServerProfile) async throws {
        // Under the lock of renewals, so that one which is on its way does not put a new session in its place.
        try await StoredSession(profile: profile, services: self).exclusively { [secrets] in
            guard try await secrets.secret(named: profile.sessionName) != nil else { return }
            try await secrets.remove(named: profile.sessionName)
        }
        try await preferences.clear(profile.name)
        keeper(for: profile).reset()
    }
}

/// A server as lists show it.
struct ServerRow: Record {
    let name: String
    let server: String
    let kind: ServerKind
    let inUse: Bool
    let authority: String?

    init(_ profile: ServerProfile, inUse: Bool) {
        name = profile.name
        server = profile.url.text
        kind = profile.kind
        self.inUse = inUse
        authority = profile.authority
    }

    static let fields: [Field<ServerRow>] = [
        Field("name", "What it is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("kind", "What it is") { $0.kind },
        Field("in_use", "Whether commands mean it when they name none") { $0.inUse },
        Field("cacert", "The file with the authorities that count for it alone") { row in
            row.authority.map { PlainText.escape($0) }
        },
    ]
}

/// What a server says about itself.
struct ServerHealth: Record {
    let name: String
    let server: String
    let state: String
    let version: String?
    let sessions: Int?
    let uptime: Duration?
    let latency: Duration

    init(_ profile: ServerProfile, _ health: JSONObject, latency: Duration) {
        name = profile.name
        server = profile.url.text
        let words = health["status"]?.string.map { PlainText.escape(String($0.prefix(40))) }
        let isWell =
            words.map { ["ok", "healthy", "up", "pass"].contains($0.lowercased()) } ?? (health["ok"]?.bool ?? true)
        state = isWell ? "ok" : words ?? "failed"
        version = health["version"]?.string.map { PlainText.escape(String($0.prefix(80))) }
        sessions = health["active_sessions"]?.int
        uptime = (health["uptime_seconds"] ?? health["uptime"])?.double.map { .seconds($0) }
        // More than milliseconds would be noise.
        self.latency = .milliseconds((latency / .milliseconds(1)).rounded(.up))
    }

    var exit: ExitCode { state == "ok" ? .done : .failed }

    static let fields: [Field<ServerHealth>] = [
        Field("name", "What it is called", .name) { $0.name },
        Field("state", "ok, or what the server says instead", .state) { $0.state },
        Field("server", "Where its API is") { $0.server },
        Field("version", "The server's version") { $0.version },
        Field("active_sessions", "How many sessions are active") { $0.sessions },
        Field("uptime", "How long it has been running") { $0.uptime },
        Field("latency", "How long the answer took") { $0.latency },
    ]
}

/// A PEM file with authorities that count for the server of one profile.
enum AuthorityFile {
    /// Its setting, below a profile.
    static func key(of profile: String) -> [String] { ["profiles", profile] + key }

    private static let key = ["auth"] + AuthSettings.authorities.declaration.key

    /// The file of `--cacert`, with its whole path; nil where the option was not used.
    ///
    /// - Throws: `AuthError.badAuthority` for one that cannot be read, or holds no certificate.
    static func ofThisRun(_ context: ActionContext) throws(AuthError) -> String? {
        guard let entry = context.host.settings[key], entry.origin == .flag, let path = entry.value.string else {
            return nil
        }
        let absolute = context.host.locations.absolute(path)
        try check(absolute)
        return absolute
    }

    private static func check(_ path: String) throws(AuthError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Files.read(path, limit: 4 << 20)
        } catch {
            throw .badAuthority(file: path, why: error.message)
        }
        do throws(CryptographyError) {
            guard try Certificate.chain(pem: bytes.span).isEmpty else { return }
        } catch {
            throw .badAuthority(file: path, why: error.message)
        }
        throw .badAuthority(file: path, why: "it holds no certificate")
    }
}

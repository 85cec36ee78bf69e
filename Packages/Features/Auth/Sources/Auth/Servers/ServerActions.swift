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

/// The actions for the servers of the profiles.
struct ServerActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [add, list, use, set, remove, check] }

    /// The message for an empty list of servers.
    static let none = "no server is configured; add one with 'martlet auth server add NAME ADDRESS'"

    private var add: Action {
        Action(
            "auth.server.add", "Add a server and detect its kind", .writes,
            .argument("name", "Name of your choice", as: String.self),
            .argument("address", "Address of the server; https if it has no scheme", as: HostValue.self),
            .option("kind", "Kind of server (default: detected)", as: ServerKind?.self),
            .flag("use", "Make it the default server")
        ) { context, name, address, kind, use in
            let profile = try await services.add(name, address.text, kind, use: use, context)
            return ServerRow(profile, inUse: use || services.profiles.inUse ?? name == name)
        }
        .byName()
        .sending()
        .details(
            "The address is saved only after a server has answered there. If the name gets another server, the old "
                + "credentials are removed. The file of --cacert is saved too, and applies to this server only."
        )
        .example("martlet auth server add lab lab.example", "A Kamiwaza platform")
        .example(
            "martlet auth server add lab lab.example --cacert lab-ca.pem", "A server with its own certificate authority"
        )
        .example("martlet auth server add local http://127.0.0.1:11434/v1 --kind openai", "A local model server")
    }

    private var list: Action {
        Action("auth.server.list", "List the configured servers", .reads) { context in
            context.rows(
                try services.profiles.names.map { name in
                    ServerRow(try services.profiles.profile(named: name), inUse: services.profiles.inUse == name)
                }, orSay: Self.none)
        }
        .asDefault()
    }

    private var use: Action {
        Action(
            "auth.server.use", "Choose the default server", .writes,
            .argument("name", "Server name", as: String.self, completion: .profiles)
        ) { context, name in
            let profile = try services.profiles.profile(named: name)
            try await context.registry.one((any SettingsWriter).self).change([(["profile"], .string(name))])
            return ServerRow(profile, inUse: true)
        }
        .byName()
    }

    private var set: Action {
        Action(
            "auth.server.set", "Set or remove the certificate authorities for a server",
            .writes,
            .argument("name", "Server name", as: String.self, completion: .profiles),
            .flag("no-cacert", "Remove the certificate authorities for this server")
        ) { context, name, forgets in
            var profile = try services.profiles.profile(named: name)
            let file = try AuthorityFile.ofThisRun(context)
            guard forgets != (file != nil) else {
                throw ArgumentsFailure(
                    action: "auth.server.set",
                    problems: [ValueError("specify either --cacert FILE or --no-cacert")])
            }
            profile.authority = file
            try await context.registry.one((any SettingsWriter).self).change([
                (AuthorityFile.key(of: name), file.map { .string($0) })
            ])
            return ServerRow(profile, inUse: services.profiles.inUse == name)
        }
        .byName()
        .details(
            "Give either --cacert FILE, which replaces the certificate authorities for this server, or --no-cacert."
        )
        .example(
            "martlet auth server set lab --cacert lab-ca.pem", "Trust its certificate authority, for this server only")
    }

    private var remove: Action {
        Action(
            "auth.server.remove", "Remove a server and its credentials", .destroys,
            .argument("name", "Server name", as: String.self, completion: .profiles)
        ) { context, name in
            let profile = try services.profiles.profile(named: name)
            try await services.signOut(profile, context)
            var changes: [(key: [String], value: JSON?)] = [(["profiles", name], nil)]
            // First, because the settings reject a default profile that does not exist.
            if services.profiles.inUse == name { changes.insert((["profile"], nil), at: 0) }
            try await context.registry.one((any SettingsWriter).self).change(changes)
            return ServerRow(profile, inUse: false)
        }
        .byName()
        .losing { arguments, _ in
            let profile = try services.profiles.profile(named: arguments["name"]?.string ?? "")
            return "Remove the server \(profile.name) (\(profile.url.text)) and its credentials"
        }
        .details(
            "You are signed out of the server first, as by 'martlet auth logout', which revokes this machine's token. "
                + "Your history with the server stays.")
    }

    private var check: Action {
        Action(
            "auth.server.check", "Check the health of a server", .reads,
            .argument(
                "name", "Server name; if omitted, the default server", as: String?.self, completion: .profiles)
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
    /// Saves a server under a name. Credentials for another server of that name are removed.
    func add(
        _ name: String, _ address: String, _ kind: ServerKind?, use: Bool, _ context: ActionContext
    ) async throws -> ServerProfile {
        try ServerProfile.check(name)
        let authority = try AuthorityFile.ofThisRun(context)
        let (url, kind) = try await find(address, kind)
        var profile = ServerProfile(name: name, url: url, kind: kind, authority: authority)
        let former = profiles.names.contains(name) ? try usable(name) : nil
        if profiles.names.contains(name), former?.origin != profile.origin {
            // Sign out of the old server, because its tokens would stay valid there and nobody would have them.
            if let former { try await signOut(former, context) } else { try await forgetCredentials(of: profile) }
            context.notice("\(name) was a different server before, so its credentials were removed")
        }
        var changes: [(key: [String], value: JSON?)] = [
            (["profiles", name, "server"], .string(url.text)), (["profiles", name, "kind"], kind.json),
        ]
        if let authority {
            changes.append((AuthorityFile.key(of: name), .string(authority)))
        } else if let former, former.origin == profile.origin {
            profile.authority = former.authority
        } else if profiles.names.contains(name), former?.authority != nil || former == nil {
            // The authorities for one server do not apply to another.
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
            // An assumed https is never changed to http automatically; the user must ask for http.
            let problem = (error as? KamiwazaError)?.cause ?? error
            guard !address.contains("://"), (problem as? HTTPError)?.kind == .tls else { throw error }
            throw KamiwazaError(
                .unreachable,
                "\(AnyFailure(error).message); https is the default scheme: if the server uses http without TLS, name "
                    + "it as http://\(PlainText.escape(address))", cause: problem)
        }
    }

    /// The current profile. Nil when its address is not valid, so that it can get a new one.
    private func usable(_ name: String) throws(AuthError) -> ServerProfile? {
        do throws(AuthError) {
            return try profiles.profile(named: name)
        } catch {
            guard case .badAddress = error else { throw error }
            return nil
        }
    }

    /// Removes the credentials and the preferences for a server.
    func forgetCredentials(of profile: ServerProfile) async throws {
        // Under the lock of renewals, so that a renewal in progress does not store a new session afterwards.
        try await StoredSession(profile: profile, services: self).exclusively { [secrets] in
            guard try await secrets.secret(named: profile.sessionName) != nil else { return }
            try await secrets.remove(named: profile.sessionName)
        }
        try await preferences.clear(profile.name)
        keeper(for: profile).reset()
    }
}

/// A server as it appears in lists.
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
        Field("name", "Name of the server", .name) { $0.name },
        Field("server", "Address of its API") { $0.server },
        Field("kind", "Kind of server") { $0.kind },
        Field("in_use", "Whether it is the default server") { $0.inUse },
        Field("cacert", "File with the certificate authorities for this server only") { row in
            row.authority.map { PlainText.escape($0) }
        },
    ]
}

/// The health that a server reports.
struct ServerHealth: Record {
    let name: String
    let server: String
    let state: String
    private let version: String?
    private let sessions: Int?
    private let uptime: Duration?
    private let latency: Duration

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
        self.latency = .milliseconds((latency / .milliseconds(1)).rounded(.up))
    }

    var exit: ExitCode { state == "ok" ? .done : .failed }

    static let fields: [Field<ServerHealth>] = [
        Field("name", "Name of the server", .name) { $0.name },
        Field("state", "ok, or the status that the server reports", .state) { $0.state },
        Field("server", "Address of its API") { $0.server },
        Field("version", "The server's version") { $0.version },
        Field("active_sessions", "Number of active sessions") { $0.sessions },
        Field("uptime", "How long it has been running") { $0.uptime },
        Field("latency", "How long the answer took") { $0.latency },
    ]
}

/// A PEM file with the certificate authorities for the server of one profile.
enum AuthorityFile {
    /// The key of the setting in a profile.
    static func key(of profile: String) -> [String] { ["profiles", profile] + key }

    private static let key = ["auth", AuthSettings.authoritiesKey]

    /// The absolute path of the `--cacert` file. Nil when the option was not used.
    ///
    /// - Throws: `AuthError.badAuthority` for a file that cannot be read or has no certificate.
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
        throw .badAuthority(file: path, why: "it contains no certificate")
    }
}

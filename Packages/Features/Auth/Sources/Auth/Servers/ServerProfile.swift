import AuthSignIn
import Capabilities
import HTTPClient
import HTTPCore
import Settings

/// A server that a profile names.
struct ServerProfile: Sendable {
    let name: String
    /// Where its API begins.
    let url: HTTPURL
    let kind: ServerKind
    /// The file with the authorities that count for it alone.
    var authority: String?

    /// The only server that its credentials are sent to.
    var origin: String { Session.origin(of: url) }

    /// What its session is called among the secrets.
    var sessionName: SecretName { SecretName("server.\(name).session") }

    /// Whether somebody on the way to the server could read along.
    var isReadable: Bool {
        url.scheme == .http && url.host != "localhost" && !url.host.hasPrefix("127.") && url.host != "::1"
    }

    /// Names end up in settings' keys, in names of secrets and in commands.
    static func check(_ name: String) throws(AuthError) {
        let allowed = name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        guard allowed, !name.isEmpty, name.utf8.count <= 64, !name.hasPrefix("-") else {
            throw .badProfileName(name)
        }
    }

    /// A name that fits an address: `lab.example:8443` is `lab-example-8443`.
    static func name(for url: HTTPURL) -> String {
        let text = url.port == url.scheme.defaultPort ? url.host : "\(url.host)-\(url.port)"
        let words = text.lowercased().utf8.split { !((97...122).contains($0) || (48...57).contains($0)) }
        return String(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-").prefix(64))
    }
}

/// The profiles as the settings have them.
struct ServerProfiles: ServerList {
    private let settings: FeatureSettings

    init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    var names: [String] { settings.servers.map(\.profile) }

    /// Of a platform every port, at which it serves its models.
    var servers: [String] {
        settings.servers.compactMap { ServerPattern.of($0.address, anyPort: $0.kind == .kamiwaza) }
    }

    /// The profile that commands mean when they name none.
    var inUse: String? { settings.profile }

    func profile(named name: String) throws(AuthError) -> ServerProfile {
        guard let server = settings.servers.first(where: { $0.profile == name }) else {
            throw .unknownProfile(name, known: names)
        }
        try ServerProfile.check(name)
        do throws(HTTPError) {
            return ServerProfile(
                name: name, url: try HTTPURL(server.address, assuming: .https),
                kind: server.kind, authority: AuthSettings.authority(of: name, settings))
        } catch {
            throw .badAddress(profile: name, why: error.message)
        }
    }

    /// The profile that was named, else the one in use, else the only one.
    func chosen(_ name: String?) throws(AuthError) -> ServerProfile {
        if let name { return try profile(named: name) }
        if let inUse, names.contains(inUse) { return try profile(named: inUse) }
        guard let first = names.first else { throw .noServer }
        guard names.count == 1 else { throw .ambiguousServer(known: names) }
        return try profile(named: first)
    }
}

extension ServerKind {
    /// What people call it.
    var name: String {
        switch self {
        case .kamiwaza: "Kamiwaza platform"
        case .gateway: "agent gateway"
        case .openai: "OpenAI-compatible server"
        }
    }
}

import AuthSignIn
import Capabilities
import HTTPClient
import HTTPCore
import Settings

/// The server of a profile.
struct ServerProfile: Sendable {
    let name: String
    /// The base address of its API.
    let url: HTTPURL
    let kind: ServerKind
    /// The file with the certificate authorities for this server only.
    var authority: String?

    /// The only origin that its credentials are sent to.
    var origin: String { Session.origin(of: url) }

    /// The name of the secret that holds its session.
    var sessionName: SecretName { SecretName("server.\(name).session") }

    /// Whether others on the network could read the traffic.
    var isReadable: Bool {
        url.scheme == .http && url.host != "localhost" && !url.host.hasPrefix("127.") && url.host != "::1"
    }

    /// Restricts names to characters that are safe in settings keys, secret names and commands.
    static func check(_ name: String) throws(AuthError) {
        let allowed = name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        guard allowed, !name.isEmpty, name.utf8.count <= 64, !name.hasPrefix("-") else {
            throw .badProfileName(name)
        }
    }

    /// A valid name for an address: `lab.example:8443` becomes `lab-example-8443`.
    static func name(for url: HTTPURL) -> String {
        let text = url.port == url.scheme.defaultPort ? url.host : "\(url.host)-\(url.port)"
        let words = text.lowercased().utf8.split { !((97...122).contains($0) || (48...57).contains($0)) }
        return String(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-").prefix(64))
    }

    /// Where its credentials may be sent.
    var destination: CredentialDestination { .profile(at: url) }
}

/// The profiles in the settings.
struct ServerProfiles: ServerList {
    private let settings: FeatureSettings

    init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    var names: [String] { settings.servers.map(\.profile) }

    /// For a platform this includes every port, because it serves its models on other ports.
    var servers: [String] {
        settings.servers.compactMap { ServerPattern.of($0.address, anyPort: $0.kind == .kamiwaza) }
    }

    /// The default profile.
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

    /// The named profile, or the default one, or the only one.
    func chosen(_ name: String?) throws(AuthError) -> ServerProfile {
        if let name { return try profile(named: name) }
        if let inUse, names.contains(inUse) { return try profile(named: inUse) }
        guard let first = names.first else { throw .noServer }
        guard names.count == 1 else { throw .ambiguousServer(known: names) }
        return try profile(named: first)
    }
}

extension ServerKind {
    /// The name to show to people.
    var name: String {
        switch self {
        case .kamiwaza: "Kamiwaza platform"
        case .gateway: "agent gateway"
        case .openai: "OpenAI-compatible server"
        }
    }
}

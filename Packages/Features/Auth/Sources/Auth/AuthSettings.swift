import AuthSignIn
import Capabilities
import HTTPClient
import Settings

/// The settings of Auth.
struct AuthSettings: SettingsRecord {
    /// Where secrets are kept.
    enum Keeper: String, Choice, Hashable {
        /// In Martlet's encrypted vault file.
        case file
        /// In the desktop keyring.
        case desktop
    }

    var vault = Keeper.file
    var keepUnlocked = Duration.zero
    var passphraseDescriptor: Int?
    var authorities: PathValue?
    var certificate: PathValue?
    var key: PathValue?
    var client = ""
    var resourceClients: [KnownClient] = []
    var clientDocument: String?

    /// The key of `authorities`, which profiles have too.
    static let authoritiesKey = "cacert"

    static let bindings = [
        bind(
            { $0.vault = $1 },
            Setting(
                "vault", "Where secrets are stored: an encrypted file or the desktop keyring", default: .file,
                risk: .sends)),
        bind(
            { $0.keepUnlocked = $1 },
            Setting(
                "keep-unlocked",
                "How long the vault stays unlocked after its passphrase was entered; 0s for one command only",
                default: .seconds(8 * 3600), risk: .widens)),
        bind(
            { $0.passphraseDescriptor = $1 },
            Setting(
                "passphrase-fd", "The file descriptor to read the vault passphrase from", in: 0...Int(Int32.max),
                flag: "passphrase-fd")),
        bind(
            { $0.authorities = $1 },
            Setting(
                authoritiesKey,
                "A PEM file with certificate authorities to trust in addition to the system's; in a profile, only for its server",
                default: nil, risk: .widens, flag: "cacert")),
        bind(
            { $0.certificate = $1 },
            Setting(
                "certificate",
                "A PEM file with your client certificate, sent to every server that asks for one; in a profile, only to its server",
                default: nil, risk: .sends)),
        bind(
            { $0.key = $1 },
            Setting(
                "certificate-key", "The PEM file with the key of the client certificate, if it is a separate file",
                default: nil, risk: .sends)),
        bind(
            { $0.client = $1 },
            Setting(
                "client", "The client id of this program at OpenID providers", default: "kamiwaza-platform",
                risk: .sends)),
        bind(
            { $0.resourceClients = $1 },
            Setting(
                "resource-clients",
                "Clients that you registered at the sign-in servers of MCP servers and other resources; those of all settings files count",
                default: [KnownClient](), risk: .sends
            ).joiningLayers()),
        bind(
            { $0.clientDocument = $1 },
            Setting(
                "client-id-document",
                "Address of a client id metadata document, used at sign-in servers of resources that accept one",
                default: nil, risk: .sends)),
    ]
}

extension AuthSettings {
    /// The certificate and key files for TLS.
    static func credentials(_ settings: FeatureSettings, _ environment: [String: String]) -> TrustCredentials {
        var credentials = TrustCredentials()
        // Settings in a profile apply only to the profile's server, even while the profile is the default.
        let general = AuthSettings(reading: settings.inProfile(""))
        if let file = general.authorities {
            credentials.authorities = .systemAnd(file: file.text)
        } else if let file = environment["SSL_CERT_FILE"], !file.isEmpty {
            // By convention this variable replaces the system's list. Debian's libcurl ignores it.
            credentials.authorities = .file(file)
        }
        credentials.identity = general.identity
        for server in settings.servers {
            let own = AuthSettings(reading: settings.inProfile(server.profile)).identity
            let authority = authority(of: server.profile, settings)
            guard own != nil || authority != nil else { continue }
            do {
                let url = try HTTPURL(server.address, assuming: .https)
                let key = "\(url.host):\(url.port)"
                if let own { credentials.identities[key] = own }
                if let authority { credentials.serverAuthorities[key] = .systemAnd(file: authority) }
            } catch {
                // A command that uses this server reports the invalid address.
            }
        }
        return credentials
    }

    /// The certificate authority file that applies only to a profile's server.
    static func authority(of profile: String, _ settings: FeatureSettings) -> String? {
        let own = AuthSettings(reading: settings.inProfile(profile)).authorities?.text
        return own == AuthSettings(reading: settings.inProfile("")).authorities?.text ? nil : own
    }

    private var identity: ClientIdentity? {
        certificate.map { ClientIdentity(certificate: $0.text, key: key?.text ?? $0.text) }
    }
}

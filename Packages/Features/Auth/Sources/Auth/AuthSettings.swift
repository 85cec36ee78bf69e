import Capabilities
import HTTPClient
import Settings

/// The settings of Auth.
enum AuthSettings {
    /// Where secrets are kept.
    enum Keeper: String, Choice, Hashable {
        /// In Martlet's encrypted vault file.
        case file
        /// In the desktop keyring.
        case desktop
    }

    static let vault = Setting(
        "vault", "Where secrets are stored: an encrypted file or the desktop keyring", default: Keeper.file,
        risk: .sends)
    static let keepUnlocked = Setting(
        "keep-unlocked", "How long the vault stays unlocked after its passphrase was entered; 0s for one command only",
        default: Duration.seconds(8 * 3600), risk: .widens)
    static let passphraseDescriptor = Setting<Int?>(
        "passphrase-fd", "The file descriptor to read the vault passphrase from", in: 0...Int(Int32.max),
        flag: "passphrase-fd")
    static let authorities = Setting<PathValue?>(
        "cacert",
        "A PEM file with certificate authorities to trust in addition to the system's; in a profile, only for its server",
        default: nil, risk: .widens,
        flag: "cacert")
    static let certificate = Setting<PathValue?>(
        "certificate",
        "A PEM file with your client certificate, sent to every server that asks for one; in a profile, only to its server",
        default: nil,
        risk: .sends)
    static let key = Setting<PathValue?>(
        "certificate-key", "The PEM file with the key of the client certificate, if it is a separate file",
        default: nil,
        risk: .sends)
    static let client = Setting(
        "client", "The client id of this program at OpenID providers", default: "kamiwaza-platform",
        risk: .sends)

    static let declarations = [
        vault.declaration, keepUnlocked.declaration, passphraseDescriptor.declaration, authorities.declaration,
        certificate.declaration, key.declaration, client.declaration,
    ]

    /// The certificate and key files for TLS.
    static func credentials(_ settings: FeatureSettings, _ environment: [String: String]) -> TrustCredentials {
        var credentials = TrustCredentials()
        // Settings in a profile apply only to the profile's server, even while the profile is the default.
        let general = settings.inProfile("")
        if let file = general[authorities] {
            credentials.authorities = .systemAnd(file: file.text)
        } else if let file = environment["SSL_CERT_FILE"], !file.isEmpty {
            // By convention this variable replaces the system's list. Debian's libcurl ignores it.
            credentials.authorities = .file(file)
        }
        credentials.identity = identity(general)
        for server in settings.servers {
            let own = identity(settings.inProfile(server.profile))
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
        let own = settings.inProfile(profile)[authorities]?.text
        return own == settings.inProfile("")[authorities]?.text ? nil : own
    }

    private static func identity(_ settings: FeatureSettings) -> ClientIdentity? {
        settings[certificate].map { file in
            ClientIdentity(certificate: file.text, key: settings[key]?.text ?? file.text)
        }
    }
}

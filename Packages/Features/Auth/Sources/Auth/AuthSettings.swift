import Capabilities
import HTTPClient
import Settings

/// The settings of Auth.
enum AuthSettings {
    /// Where secrets are kept.
    enum Keeper: String, Choice, Hashable {
        /// In an encrypted file of Martlet's own.
        case file
        /// With the desktop's keyring.
        case desktop
    }

    static let vault = Setting(
        "vault", "Where secrets are kept: an encrypted file, or the desktop's keyring", default: Keeper.file,
        risk: .sends)
    static let keepUnlocked = Setting(
        "keep-unlocked", "How long the vault stays open after its passphrase was given; 0s for one command",
        default: Duration.seconds(8 * 3600), risk: .widens)
    static let passphraseDescriptor = Setting<Int?>(
        "passphrase-fd", "The descriptor from which the vault's passphrase is read", in: 0...Int(Int32.max),
        flag: "passphrase-fd")
    static let authorities = Setting<PathValue?>(
        "cacert",
        "A PEM file with authorities that are trusted beside those of the system; below a profile, for its server alone",
        default: nil, risk: .widens,
        flag: "cacert")
    static let certificate = Setting<PathValue?>(
        "certificate",
        "A PEM file with a certificate of your own, shown to every server that asks for one; below a profile, to its server alone",
        default: nil,
        risk: .sends)
    static let key = Setting<PathValue?>(
        "certificate-key", "The PEM file with that certificate's key, when it is another file", default: nil,
        risk: .sends)
    static let client = Setting(
        "client", "The name under which this program is registered with OpenID providers", default: "kamiwaza-platform",
        risk: .sends)

    static let declarations = [
        vault.declaration, keepUnlocked.declaration, passphraseDescriptor.declaration, authorities.declaration,
        certificate.declaration, key.declaration, client.declaration,
    ]

    /// The files that TLS is set up with.
    static func credentials(_ settings: FeatureSettings, _ environment: [String: String]) -> TrustCredentials {
        var credentials = TrustCredentials()
        // That of a profile is for the profile's server and no other, also while the profile is in use.
        let general = settings.inProfile("")
        if let file = general[authorities] {
            credentials.authorities = .systemAnd(file: file.text)
        } else if let file = environment["SSL_CERT_FILE"], !file.isEmpty {
            // As everywhere else, this variable replaces the system's list; Debian's libcurl does not look at it.
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
                // Whoever wants to use a server with such an address is told.
            }
        }
        return credentials
    }

    /// The file with the authorities that count for a profile's server and no other.
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

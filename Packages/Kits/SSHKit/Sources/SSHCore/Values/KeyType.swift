/// The type of a public key, by its name in SSH.
public struct KeyType: Sendable, Hashable, CustomStringConvertible {
    /// The name on the wire, such as `ssh-ed25519`.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// Ed25519.
    public static let ed25519 = KeyType("ssh-ed25519")
    /// ECDSA over the curve P-256.
    public static let ecdsa256 = KeyType("ecdsa-sha2-nistp256")
    /// ECDSA over the curve P-384.
    public static let ecdsa384 = KeyType("ecdsa-sha2-nistp384")
    /// ECDSA over the curve P-521.
    public static let ecdsa521 = KeyType("ecdsa-sha2-nistp521")
    /// RSA, whatever the hash of its signatures.
    public static let rsa = KeyType("ssh-rsa")
    /// DSA, which servers no longer have.
    public static let dsa = KeyType("ssh-dss")
    /// Ed25519 inside a security key (FIDO).
    public static let securityKeyEd25519 = KeyType("sk-ssh-ed25519@openssh.com")
    /// ECDSA inside a security key.
    public static let securityKeyECDSA = KeyType("sk-ecdsa-sha2-nistp256@openssh.com")

    /// The types of keys that are not certificates.
    public static let plain: [KeyType] = [
        .ed25519, .ecdsa256, .ecdsa384, .ecdsa521, .rsa, .dsa, .securityKeyEd25519, .securityKeyECDSA,
    ]

    private static let certificateSuffix = "-cert-v01@openssh.com"

    /// The types by all names that ssh accepts in its files. Names of signatures by a type are names of the type there.
    private static let byName: [String: KeyType] = {
        var types: [String: KeyType] = [
            "rsa-sha2-256": .rsa, "rsa-sha2-512": .rsa,
            "webauthn-sk-ecdsa-sha2-nistp256@openssh.com": .securityKeyECDSA,
        ]
        for type in plain {
            types[type.name] = type
            types[type.certificate.name] = type.certificate
        }
        types["rsa-sha2-256" + certificateSuffix] = KeyType.rsa.certificate
        types["rsa-sha2-512" + certificateSuffix] = KeyType.rsa.certificate
        return types
    }()

    /// The type that a name in a file or on the wire stands for. Nil for a name that ssh does not know either.
    public init?(named name: String) {
        guard let type = Self.byName[name] else { return nil }
        self = type
    }

    /// Whether it is a certificate: a key with the signature of an authority.
    public var isCertificate: Bool { name.hasSuffix(Self.certificateSuffix) }

    /// The type of certificates for keys of this type.
    var certificate: KeyType {
        let stem = name.hasSuffix("@openssh.com") ? String(name.dropLast("@openssh.com".count)) : name
        return isCertificate ? self : KeyType(stem + Self.certificateSuffix)
    }

    /// The short name in messages of ssh: `ED25519`.
    public var description: String {
        let short =
            switch name.first {
            case "e": "ECDSA"
            case "s" where name.hasPrefix("sk-ssh"): "ED25519-SK"
            case "s" where name.hasPrefix("sk-ecdsa"): "ECDSA-SK"
            case "s" where name.hasPrefix("ssh-rsa"): "RSA"
            case "s" where name.hasPrefix("ssh-dss"): "DSA"
            default: "ED25519"
            }
        return isCertificate ? short + "-CERT" : short
    }
}

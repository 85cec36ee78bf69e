public import Capabilities

/// What a certificate is worth, after the system and the pins were asked.
public enum Verdict: Sendable, Hashable {
    /// The system vouches for it; an old pin does not matter.
    case trustedBySystem
    /// It is the one that a person accepted. What is still wrong with it is told, not refused.
    case pinned(warnings: [CertificateDefect])
    /// A person accepted another one for this server.
    case changed(from: Pin)
    /// Nobody has accepted it.
    case unknown

    public init(_ certificate: PresentedCertificate, pin: Pin?) {
        if certificate.defects.isEmpty {
            self = .trustedBySystem
        } else if let pin {
            self =
                pin.certificate.fingerprint == certificate.fingerprint
                ? .pinned(warnings: certificate.defects.filter(\.mattersBesidePin)) : .changed(from: pin)
        } else {
            self = .unknown
        }
    }

    /// Whether a connection goes on.
    public var isAccepted: Bool {
        switch self {
        case .trustedBySystem, .pinned: true
        case .changed, .unknown: false
        }
    }

    /// One word for programs.
    public var word: String {
        switch self {
        case .trustedBySystem: "system"
        case .pinned: "pinned"
        case .changed: "changed"
        case .unknown: "unknown"
        }
    }
}

extension CertificateDefect {
    /// A pin stands for the chain, which is what it was made for; a name or a date is another matter.
    fileprivate var mattersBesidePin: Bool {
        switch self {
        case .wrongName, .expired, .notYetValid, .revoked: true
        case .selfSigned, .unknownIssuer, .weakKey, .other: false
        }
    }
}

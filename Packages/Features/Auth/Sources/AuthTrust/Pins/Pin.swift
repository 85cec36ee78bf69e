public import Capabilities

/// A certificate that a person has accepted for one server.
public struct Pin: Sendable, Hashable {
    public var server: ServerAddress
    public var certificate: PinnedCertificate
    public var acceptedAt: Timestamp
    public var how: Acceptance

    public init(server: ServerAddress, certificate: PinnedCertificate, acceptedAt: Timestamp, how: Acceptance) {
        self.server = server
        self.certificate = certificate
        self.acceptedAt = acceptedAt
        self.how = how
    }

    /// How the person said yes.
    public enum Acceptance: String, Choice, Hashable {
        /// Answered a question after having seen the certificate.
        case asked
        /// Named the fingerprint in a command.
        case fingerprint
    }
}

/// The host and port that a pin belongs to.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    /// In lower case, an IPv6 address without brackets.
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// What of a certificate is kept, so that a later one can be compared with it.
public struct PinnedCertificate: Sendable, Hashable {
    /// SHA-256 of the whole certificate, which is what decides.
    public var fingerprint: [UInt8]
    public var keyFingerprint: [UInt8]
    /// The certificate itself, as DER.
    public var encoded: [UInt8]
    public var subject: String
    public var issuer: String
    public var names: [String]
    public var notBefore: Timestamp
    public var notAfter: Timestamp

    init(
        fingerprint: [UInt8], keyFingerprint: [UInt8], encoded: [UInt8], subject: String, issuer: String,
        names: [String], notBefore: Timestamp, notAfter: Timestamp
    ) {
        self.fingerprint = fingerprint
        self.keyFingerprint = keyFingerprint
        self.encoded = encoded
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    public init(_ shown: PresentedCertificate) {
        self.init(
            fingerprint: shown.fingerprint, keyFingerprint: shown.keyFingerprint, encoded: shown.encoded,
            subject: shown.subject, issuer: shown.issuer, names: shown.names, notBefore: shown.notBefore,
            notAfter: shown.notAfter)
    }
}

extension PresentedCertificate {
    /// The server that showed it.
    public var server: ServerAddress { ServerAddress(host: host.lowercased(), port: port) }
}

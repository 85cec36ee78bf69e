/// Judges a server's certificate inside the handshake, so it must answer at once and never ask anybody.
public protocol TrustStore: AnyObject, Sendable {
    func judge(_ certificate: PresentedCertificate) -> TrustJudgement
}

/// What a server showed of itself, and what the system found wrong with it.
public struct PresentedCertificate: Sendable, Hashable {
    public var host: String
    public var port: Int
    /// SHA-256 of the leaf certificate.
    public var fingerprint: [UInt8]
    /// The leaf certificate as DER.
    public var encoded: [UInt8]
    /// Every defect in words; none means that the system trusts it for this host.
    public var defects: [String]

    public init(host: String, port: Int, fingerprint: [UInt8], encoded: [UInt8], defects: [String]) {
        self.host = host
        self.port = port
        self.fingerprint = fingerprint
        self.encoded = encoded
        self.defects = defects
    }
}

/// The verdict on a certificate.
public enum TrustJudgement: Sendable, Hashable {
    case accepted
    /// Refused, with the reason and what a person can do about it.
    case refused(String)
}

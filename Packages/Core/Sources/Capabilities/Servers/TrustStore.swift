/// Judges a server's certificate inside the handshake, so it must answer at once and never ask anybody.
public protocol TrustStore: AnyObject, Sendable {
    func judge(_ certificate: PresentedCertificate) -> TrustJudgement
}

/// The verdict on a certificate.
public enum TrustJudgement: Sendable, Hashable {
    case accepted
    /// Refused, with the reason and what a person can do about it.
    case refused(String)
}

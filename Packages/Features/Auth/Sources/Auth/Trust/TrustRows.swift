import AuthTrust
import Capabilities
import Cryptography

/// An accepted certificate in a list.
struct PinRow: Record {
    let pin: Pin

    init(_ pin: Pin) {
        self.pin = pin
    }

    static let fields: [Field<PinRow>] = [
        Field("server", "The server that it is accepted for", .name) { $0.pin.server.description },
        Field("subject", "Whom it names") { PlainText.escape($0.pin.certificate.subject) },
        Field("expires", "When it ends") { $0.pin.certificate.notAfter },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "By a question (asked) or a command that named it (fingerprint)") { $0.pin.how },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.pin.certificate.fingerprint) },
    ]
}

/// An accepted certificate with everything that is kept of it.
struct PinDetail: Record {
    let pin: Pin

    init(_ pin: Pin) {
        self.pin = pin
    }

    static let fields: [Field<PinDetail>] = [
        Field("server", "The server that it is accepted for", .name) { $0.pin.server.description },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "By a question (asked) or a command that named it (fingerprint)") { $0.pin.how },
        Field("subject", "Whom it names") { PlainText.escape($0.pin.certificate.subject) },
        Field("issuer", "Who signed it") { PlainText.escape($0.pin.certificate.issuer) },
        Field("names", "The hosts that it is for") { $0.pin.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it begins") { $0.pin.certificate.notBefore },
        Field("expires", "When it ends") { $0.pin.certificate.notAfter },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.pin.certificate.fingerprint) },
        Field("key_fingerprint", "The SHA-256 of its key") { Fingerprint.text($0.pin.certificate.keyFingerprint) },
        Field("certificate", "The certificate itself as Base64 of its DER", .detail) {
            Base64.encode($0.pin.certificate.encoded)
        },
    ]
}

/// What a server shows, and whether it is trusted.
struct VerifiedServer: Record {
    let certificate: PresentedCertificate
    let verdict: Verdict

    init(_ certificate: PresentedCertificate, _ verdict: Verdict) {
        self.certificate = certificate
        self.verdict = verdict
    }

    var exit: ExitCode { verdict.isAccepted ? .done : .denied }

    private var trusted: String? {
        guard case .changed(let pin) = verdict else { return nil }
        return Fingerprint.text(pin.certificate.fingerprint)
    }

    static let fields: [Field<VerifiedServer>] = [
        Field("server", "The server", .name) { $0.certificate.server.description },
        Field("state", "trusted or refused", .state) { $0.verdict.isAccepted ? "trusted" : "refused" },
        Field("by", "system, pinned, changed or unknown") { $0.verdict.word },
        Field("defects", "What is wrong with the certificate") { $0.certificate.defects.map(\.description) },
        Field("subject", "Whom it names") { PlainText.escape($0.certificate.subject) },
        Field("issuer", "Who signed it") { PlainText.escape($0.certificate.issuer) },
        Field("names", "The hosts that it is for") { $0.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it begins") { $0.certificate.notBefore },
        Field("expires", "When it ends") { $0.certificate.notAfter },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.certificate.fingerprint) },
        Field("trusted_fingerprint", "The SHA-256 that was accepted before, when it has changed") { $0.trusted },
    ]
}

public import Capabilities
import Cryptography

/// The verdict on a certificate, from the system's trust and the pins.
public enum Verdict: Sendable, Hashable {
    /// The system trusts it; an old pin does not matter.
    case trustedBySystem
    /// It is the certificate that the user accepted. Remaining defects are reported as warnings.
    case pinned(warnings: [CertificateDefect])
    /// The user accepted a different certificate for this server.
    case changed(from: Pin)
    /// The user has not accepted it.
    case unknown

    init(_ certificate: PresentedCertificate, pin: Pin?) {
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

    /// Whether the connection may continue.
    public var isAccepted: Bool {
        switch self {
        case .trustedBySystem, .pinned: true
        case .changed, .unknown: false
        }
    }

    /// A single word for programs.
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
    /// A pinned certificate is accepted with all its defects. Those of the chain are not mentioned; a wrong name or date, or a
    /// revocation, is reported as a warning.
    fileprivate var mattersBesidePin: Bool {
        switch self {
        case .wrongName, .expired, .notYetValid, .revoked: true
        case .selfSigned, .unknownIssuer, .weakKey, .other: false
        }
    }
}

/// Explains the defects of a certificate to the user, with the facts to recognise it.
struct Explanation {
    let certificate: PresentedCertificate
    let verdict: Verdict

    /// What happened, in one line.
    var headline: String {
        switch verdict {
        case .changed:
            "the certificate of \(certificate.server) has CHANGED: it was renewed, or someone is intercepting the "
                + "connection"
        case .unknown, .trustedBySystem, .pinned:
            "the certificate of \(certificate.server) is not trusted: "
                + certificate.defects.map(\.description).joined(separator: ", and ")
        }
    }

    /// The whole explanation, one fact per line.
    var lines: [String] {
        var lines = [headline]
        if case .changed(let pin) = verdict {
            lines += ["  problems of the new certificate:"] + certificate.defects.map { "    \(defect($0))" }
            lines += ["  trusted since \(day(pin.acceptedAt)):"] + facts(pin.certificate)
            lines += ["  presented now:"] + facts(PinnedCertificate(certificate))
            if pin.certificate.keyFingerprint == certificate.keyFingerprint {
                lines.append("  both have the same key, which is common after a renewal")
            }
        } else {
            if certificate.defects.count > 1 { lines += certificate.defects.map { "  \(defect($0))" } }
            lines += facts(PinnedCertificate(certificate))
        }
        return lines
    }

    private func defect(_ defect: CertificateDefect) -> String {
        switch defect {
        case .wrongName:
            certificate.names.isEmpty
                ? "it contains no host name"
                : "it was issued for \(names(certificate.names)), not for \(certificate.host)"
        case .expired: "it expired on \(day(certificate.notAfter))"
        case .notYetValid: "it is not valid before \(day(certificate.notBefore)); check this machine's clock"
        default: defect.description
        }
    }

    private func facts(_ certificate: PinnedCertificate) -> [String] {
        [
            "    subject  \(PlainText.escape(certificate.subject))",
            "    issuer   \(PlainText.escape(certificate.issuer))",
            "    names    \(certificate.names.isEmpty ? "none" : names(certificate.names))",
            "    valid    \(day(certificate.notBefore)) to \(day(certificate.notAfter))",
            // In two halves, because the whole does not fit on one line of most terminals.
            "    SHA-256  \(Fingerprint.text(Array(certificate.fingerprint.prefix(16)))):",
            "             \(Fingerprint.text(Array(certificate.fingerprint.dropFirst(16))))",
        ]
    }

    private func names(_ names: [String]) -> String {
        let shown = names.prefix(8).map { PlainText.escape($0) }.joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }

    private func day(_ time: Timestamp) -> String { String(time.iso8601.prefix(10)) }
}

/// A fingerprint as users read, copy and type it.
public enum Fingerprint {
    /// `AB:CD:…`, the format of browsers and the openssl program.
    public static func text(_ bytes: [UInt8]) -> String {
        Hexadecimal.encode(bytes, separator: ":", uppercase: true)
    }

    /// Parses 32 bytes in hexadecimal, with optional colons, blanks and a leading `sha256:`. Nil for anything else.
    public static func bytes(_ text: String) -> [UInt8]? {
        var rest = text.lowercased()[...]
        for prefix in ["sha256 fingerprint=", "sha-256:", "sha256:", "sha256="] where rest.hasPrefix(prefix) {
            rest = rest.dropFirst(prefix.count)
            break
        }
        guard let bytes = Hexadecimal.decode(String(rest.filter { $0 != ":" && $0 != " " })), bytes.count == 32 else {
            return nil
        }
        return bytes
    }
}

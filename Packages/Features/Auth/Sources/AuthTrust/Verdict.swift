public import Capabilities
import Cryptography

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

/// Tells a person what is wrong with a certificate, and everything by which to recognise it.
struct Explanation {
    let certificate: PresentedCertificate
    let verdict: Verdict

    /// One line: what happened.
    var headline: String {
        switch verdict {
        case .changed:
            "the certificate of \(certificate.server) has CHANGED: it was renewed, or somebody stands between you and the "
                + "server"
        case .unknown, .trustedBySystem, .pinned:
            "the certificate of \(certificate.server) is not trusted: "
                + certificate.defects.map(\.description).joined(separator: ", and ")
        }
    }

    /// The whole explanation, a fact on each line.
    var lines: [String] {
        var lines = [headline]
        if case .changed(let pin) = verdict {
            lines += ["  what is wrong with the new one:"] + certificate.defects.map { "    \(defect($0))" }
            lines += ["  trusted since \(day(pin.acceptedAt)):"] + facts(pin.certificate)
            lines += ["  shown now:"] + facts(PinnedCertificate(certificate))
            if pin.certificate.keyFingerprint == certificate.keyFingerprint {
                lines.append("  both have the same key, as a renewed certificate often has")
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
                ? "it names no host at all"
                : "it was issued for \(names(certificate.names)), not for \(certificate.host)"
        case .expired: "it expired on \(day(certificate.notAfter))"
        case .notYetValid: "it is valid from \(day(certificate.notBefore)) on only; is this machine's clock right?"
        default: defect.description
        }
    }

    private func facts(_ certificate: PinnedCertificate) -> [String] {
        [
            "    subject  \(PlainText.escape(certificate.subject))",
            "    issuer   \(PlainText.escape(certificate.issuer))",
            "    names    \(certificate.names.isEmpty ? "none" : names(certificate.names))",
            "    valid    \(day(certificate.notBefore)) to \(day(certificate.notAfter))",
            // In two halves, as the whole does not fit on a line of most terminals.
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

/// A fingerprint as people read, copy and type it.
public enum Fingerprint {
    /// `AB:CD:…`, as browsers and the openssl program show it.
    public static func text(_ bytes: [UInt8]) -> String {
        Hexadecimal.encode(bytes, separator: ":", uppercase: true)
    }

    /// Reads 32 bytes in hexadecimal, with or without colons, blanks and a leading `sha256:`; nil for anything else.
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

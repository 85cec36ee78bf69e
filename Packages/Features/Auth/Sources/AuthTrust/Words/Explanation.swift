import Capabilities

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

public import Capabilities
public import JSON

/// Why a server's certificate, or something about trust, was refused.
public enum TrustError: Failure {
    /// Nobody was there to be asked about a certificate.
    case untrusted(PresentedCertificate, Verdict, program: String)
    /// The person said no.
    case declined(PresentedCertificate, Verdict)
    /// The server shows another certificate than the one whose fingerprint was named.
    case otherFingerprint(PresentedCertificate, expected: [UInt8])
    case malformedFingerprint(String)
    case noPin(ServerAddress, known: [ServerAddress])
    case noCertificate(String)
    case file(String)

    public var code: String {
        switch self {
        case .untrusted(_, .changed, _), .declined(_, .changed): "auth.certificate-changed"
        case .untrusted, .declined: "auth.certificate-unknown"
        case .otherFingerprint: "auth.certificate-other"
        case .malformedFingerprint: "auth.fingerprint-malformed"
        case .noPin: "auth.pin-unknown"
        case .noCertificate: "auth.certificate-none"
        case .file: "auth.certificate-file"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .untrusted, .declined, .otherFingerprint: .denied
        case .malformedFingerprint, .noPin, .file: .usage
        case .noCertificate: .failed
        }
    }

    public var message: String {
        switch self {
        case .untrusted(let certificate, let verdict, let program):
            (Explanation(certificate: certificate, verdict: verdict).lines + [
                "  nobody is there to ask; when you know that this is your server, trust it with:",
                "    \(Self.command(certificate, program))",
            ]).joined(separator: "\n")
        case .declined(let certificate, _):
            "the certificate of \(certificate.server) was not trusted, so nothing was sent there"
        case .otherFingerprint(let certificate, let expected):
            "\(certificate.server) shows the certificate \(Fingerprint.text(certificate.fingerprint)) and not "
                + "\(Fingerprint.text(expected)), so it was not trusted; ask whoever runs the server which is right"
        case .malformedFingerprint(let text):
            "'\(PlainText.escape(String(text.prefix(100))))' is no SHA-256 fingerprint; that is 64 hexadecimal digits, "
                + "with or without colons"
        case .noPin(let server, let known):
            "no certificate is pinned for \(server); "
                + (known.isEmpty
                    ? "none is pinned for any server" : "pinned: \(known.map(\.description).joined(separator: ", "))")
        case .noCertificate(let server): "\(server) shows no certificate: it does not speak TLS there"
        case .file(let words): words
        }
    }

    public var details: JSONObject {
        guard case .untrusted(let certificate, let verdict, let program) = self else { return [:] }
        var details: JSONObject = [
            "server": .string("\(certificate.server)"),
            "fingerprint": .string(Fingerprint.text(certificate.fingerprint)),
            "defects": .array(certificate.defects.map { .string($0.description) }),
            "command": .string(Self.command(certificate, program)),
        ]
        if case .changed(let pin) = verdict {
            details["trusted"] = .string(Fingerprint.text(pin.certificate.fingerprint))
        }
        return details
    }

    /// What to type so that this certificate, and no other, is trusted.
    public static func command(_ certificate: PresentedCertificate, _ program: String) -> String {
        // Shells take brackets for a pattern, and some refuse one that fits no file.
        let server = "\(certificate.server)"
        let word = server.contains("[") ? "'\(server)'" : server
        return "\(program) auth trust add \(word) --fingerprint \(Fingerprint.text(certificate.fingerprint))"
    }
}

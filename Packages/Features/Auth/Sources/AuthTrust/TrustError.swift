public import Capabilities
public import JSON

/// Why a certificate or a command about trust was rejected.
public enum TrustError: Failure {
    /// The certificate is not trusted, and nobody was there to ask.
    case untrusted(PresentedCertificate, Verdict, program: String)
    /// The user declined.
    case declined(PresentedCertificate, Verdict)
    /// The server's certificate does not have the given fingerprint.
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
                "  nobody is there to ask; if you know that this is your server, trust it with:",
                "    \(Self.command(certificate, program))",
            ]).joined(separator: "\n")
        case .declined(let certificate, _):
            "you did not trust the certificate of \(certificate.server), so nothing was sent to it"
        case .otherFingerprint(let certificate, let expected):
            "\(certificate.server) has the certificate \(Fingerprint.text(certificate.fingerprint)), not "
                + "\(Fingerprint.text(expected)), so it was not trusted; ask the server operator which is right"
        case .malformedFingerprint(let text):
            "'\(PlainText.escape(String(text.prefix(100))))' is not a SHA-256 fingerprint; use 64 hexadecimal digits, "
                + "with or without colons"
        case .noPin(let server, let known):
            "no certificate is pinned for \(server); "
                + (known.isEmpty
                    ? "none is pinned for any server" : "pinned: \(known.map(\.description).joined(separator: ", "))")
        case .noCertificate(let server): "\(server) has no certificate: it does not use TLS"
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

    /// The command that trusts exactly this certificate.
    public static func command(_ certificate: PresentedCertificate, _ program: String) -> String {
        // Shells treat brackets as a pattern, and some reject one that matches no file.
        let server = "\(certificate.server)"
        let word = server.contains("[") ? "'\(server)'" : server
        return "\(program) auth trust add \(word) --fingerprint \(Fingerprint.text(certificate.fingerprint))"
    }
}

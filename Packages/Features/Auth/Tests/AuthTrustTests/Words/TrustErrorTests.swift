import AuthTrust
import Capabilities
import HTTPTesting
import Testing

@Suite("Trust error messages")
struct TrustErrorTests {
    private func shown(_ defects: [CertificateDefect]) throws -> PresentedCertificate {
        .of(try TestCertificates.shared().selfSigned, host: "lab.example", port: 8443, defects)
    }

    private func message(_ certificate: PresentedCertificate, _ verdict: Verdict = .unknown) -> String {
        TrustError.untrusted(certificate, verdict, program: "martlet").message
    }

    @Test("Several defects have one line each, with details")
    func several() throws {
        var certificate = try shown([
            .selfSigned, .wrongName, .expired, .notYetValid, .weakKey(bits: 1024), .revoked, .other("it is odd"),
        ])
        certificate.notBefore = try #require(Timestamp(iso8601: "2030-05-06T00:00:00Z"))
        certificate.notAfter = try #require(Timestamp(iso8601: "2020-03-04T00:00:00Z"))
        certificate.names = ["a.example", "b.example"]
        let lines = message(certificate).split(separator: "\n").map(String.init)
        for line in [
            "  it is self-signed", "  it was issued for a.example, b.example, not for lab.example",
            "  it expired on 2020-03-04",
            "  it is not valid before 2030-05-06; check this machine's clock",
            "  its key of 1024 bits is too short", "  it was revoked", "  it is odd",
            "    names    a.example, b.example", "    valid    2030-05-06 to 2020-03-04",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.last?.hasPrefix("    martlet auth trust add lab.example:8443 --fingerprint ") == true)
        #expect(!message(certificate).hasSuffix("."))
    }

    @Test("An address in brackets is quoted in the command for the shell")
    func brackets() throws {
        let certificate = PresentedCertificate.of(
            try TestCertificates.shared().selfSigned, host: "::1", port: 8443, [.selfSigned])
        #expect(message(certificate).contains("martlet auth trust add '[::1]:8443' --fingerprint "))
    }

    @Test("Many names are shortened, and an empty list shows none")
    func names() throws {
        var certificate = try shown([.wrongName])
        certificate.names = (1...12).map { "n\($0).example" }
        #expect(message(certificate).contains("n8.example and 4 more"))
        #expect(!message(certificate).contains("n9.example"))
        certificate.names = []
        #expect(message(certificate).contains("    names    none"))
        certificate.defects = [.wrongName, .expired]
        #expect(message(certificate).contains("  it contains no host name"))
    }

    @Test("Text from the certificate cannot control the terminal or add lines")
    func harmless() throws {
        var certificate = try shown([.wrongName, .selfSigned])
        certificate.subject = "CN=\u{1B}[2Jevil\n    martlet auth trust add evil.example"
        certificate.issuer = certificate.subject
        certificate.names = ["\u{1B}]0;owned\u{07}", "x\r\ny"]
        let text = message(certificate)
        #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0.value == 0x7F })
        #expect(text.split(separator: "\n").filter { $0.contains("martlet auth trust add") }.count == 3)
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("    martlet auth trust add") }.count == 1)
    }

    @Test("A renewal with the same key is reported")
    func sameKey() throws {
        let certificate = try shown([.selfSigned])
        var pin = Pin.of(try TestCertificates.shared().selfSigned, host: "lab.example", port: 8443)
        pin.certificate.fingerprint = Array(repeating: 7, count: 32)
        #expect(message(certificate, .changed(from: pin)).contains("both have the same key"))
        pin.certificate.keyFingerprint = Array(repeating: 7, count: 32)
        #expect(!message(certificate, .changed(from: pin)).contains("both have the same key"))
    }

    @Test("Each error has its code and exit code")
    func codes() throws {
        let certificate = try shown([.selfSigned])
        let changed = Verdict.changed(from: .of(try TestCertificates.shared().good, port: 443))
        let server = ServerAddress(host: "lab.example", port: 443)
        let rows: [(TrustError, String, ExitCode)] = [
            (.untrusted(certificate, .unknown, program: "m"), "auth.certificate-unknown", .denied),
            (.untrusted(certificate, changed, program: "m"), "auth.certificate-changed", .denied),
            (.declined(certificate, .unknown), "auth.certificate-unknown", .denied),
            (.declined(certificate, changed), "auth.certificate-changed", .denied),
            (.otherFingerprint(certificate, expected: [1]), "auth.certificate-other", .denied),
            (.malformedFingerprint("x\u{1B}"), "auth.fingerprint-malformed", .usage),
            (.noPin(server, known: []), "auth.pin-unknown", .usage),
            (.noPin(server, known: [server]), "auth.pin-unknown", .usage),
            (.noCertificate("lab.example:80"), "auth.certificate-none", .failed),
        ]
        for (error, code, exit) in rows {
            #expect(error.code == code && error.exit == exit)
            #expect(!error.message.hasSuffix(".") && !error.message.contains("\u{1B}"))
        }
    }

    @Test(
        "Each verdict has one word for programs",
        arguments: [
            (Verdict.trustedBySystem, "system", true), (.pinned(warnings: []), "pinned", true),
            (.unknown, "unknown", false),
        ])
    func words(verdict: Verdict, word: String, isAccepted: Bool) {
        #expect(verdict.word == word && verdict.isAccepted == isAccepted)
    }
}

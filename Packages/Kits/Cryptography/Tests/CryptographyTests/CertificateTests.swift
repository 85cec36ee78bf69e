import Capabilities
import CoreTesting
import Cryptography
import Testing

@Suite("Certificates")
struct CertificateTests {
    private static let names = ["example.org", "*.lab.example.org", "127.0.0.1", "::1", "2001:db8::7"]

    @Test(
        "A parsed certificate has the same fields as in the openssl tool",
        arguments: [PrivateKey.Kind.p256, .rsa(bits: 2048)])
    func tool(key: PrivateKey.Kind) throws {
        let authority = try draft("Test Authority", authority: true, key: key).selfSigned()
        let certificate = try draft("example.org", Self.names, key: key).signed(by: authority).certificate
        try TemporaryDirectory.runNow { directory in
            let file = "\(directory)/certificate.pem"
            try write(certificate.pem, to: file)
            func tool(_ options: String) -> String { line(run("openssl x509 -noout -in \(file) \(options)")) }
            #expect(tool("-subject -nameopt RFC2253") == "subject=\(certificate.subject)")
            #expect(tool("-issuer -nameopt RFC2253") == "issuer=\(certificate.issuer)")
            #expect(tool("-serial") == "serial=\(certificate.serial)")
            #expect(
                tool("-fingerprint -sha256")
                    == "sha256 Fingerprint=\(Hexadecimal.encode(certificate.fingerprint, separator: ":", uppercase: true))"
            )
            let dates = run("openssl x509 -noout -in \(file) -dates -dateopt iso_8601").split(separator: "\n")
            #expect(dates.first == "notBefore=\(spaced(certificate.notBefore))")
            #expect(dates.last == "notAfter=\(spaced(certificate.notAfter))")
            let key = line(
                run("openssl x509 -pubkey -noout -in \(file) | openssl pkey -pubin -outform der | sha256sum"))
            #expect(key == "\(Hexadecimal.encode(certificate.keyFingerprint))  -")
            let text = run("openssl x509 -noout -in \(file) -text")
            #expect(text.contains("Public-Key: (\(certificate.key.bits) bit)"))
            #expect(text.contains("Signature Algorithm: \(certificate.signatureAlgorithm)"))
            #expect(
                text.contains(
                    "DNS:example.org, DNS:*.lab.example.org, IP Address:127.0.0.1, "
                        + "IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:0:7"))
            try write(authority.chainPEM, to: "\(directory)/authority.pem")
            let verdict = run("openssl verify -x509_strict -CAfile \(directory)/authority.pem \(file)")
            #expect(verdict.hasSuffix("certificate.pem: OK\n"))
        }
        #expect(certificate.commonName == "example.org")
        #expect(certificate.dnsNames == Array(Self.names[..<2]))
        #expect(certificate.addresses == Array(Self.names[2...]))
        #expect(certificate.issuer == "CN=Test Authority")
        #expect(!certificate.isSelfIssued)
        #expect(authority.certificate.isSelfIssued)
        #expect(certificate.key.kind == (key == .p256 ? .ellipticCurve : .rsa))
    }

    private func line(_ text: String) -> String { text.hasSuffix("\n") ? String(text.dropLast()) : text }

    private func spaced(_ time: Timestamp) -> String {
        String(time.iso8601.map { $0 == "T" ? " " : $0 })
    }

    @Test(
        "A certificate matches a host by name, by a wildcard for one label, or by address",
        arguments: [
            ("example.org", true), ("EXAMPLE.org", true), ("example.org.", true), ("www.example.org", false),
            ("a.lab.example.org", true), ("a.b.lab.example.org", false), ("lab.example.org", false),
            (".lab.example.org", false), (".example.org", false), ("*.lab.example.org", false), ("", false),
            (".", false), ("example.org\0", false), ("example.org\0.evil", false), ("127.0.0.1", true),
            ("127.0.0.2", false), ("::1", true), ("[::1]", true), ("0:0::1", true), ("2001:db8::7", true),
            ("2001:db8::8", false), ("127.1", false), ("test", false),
        ])
    func hosts(host: String, expected: Bool) throws {
        let certificate = try draft("test", Self.names).selfSigned().certificate
        #expect(certificate.matches(host: host) == expected)
    }

    @Test("A common name counts only if the certificate has no alternative names")
    func commonName() throws {
        #expect(try draft("old.example.org").selfSigned().certificate.matches(host: "old.example.org"))
        #expect(try !draft("old.example.org", ["new.org"]).selfSigned().certificate.matches(host: "old.example.org"))
        #expect(try !draft("old.example.org", ["127.0.0.1"]).selfSigned().certificate.matches(host: "old.example.org"))
    }

    @Test("Names in other scripts stay readable, and control characters are escaped")
    func escaping() throws {
        #expect(try draft("Grüße").selfSigned().certificate.subject == "CN=Grüße")
        for hostile in ["a\u{1B}[31m", "a\u{9B}31m", "a\u{202E}b", "a\nb", "a\u{2028}b", "a\u{7F}"] {
            let certificate = try draft(hostile).selfSigned().certificate
            for text in [certificate.subject, certificate.issuer, certificate.commonName ?? ""] {
                #expect(
                    !text.unicodeScalars.contains {
                        [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
                    })
                #expect(text.contains("a\\"))
            }
        }
        #expect(try draft("a,O=b+c=d").selfSigned().certificate.subject == "CN=a\\,O=b\\+c=d")
    }

    @Test("A PEM chain keeps its order, skips other text, and can be written back unchanged")
    func chain() throws {
        let root = try draft("root", authority: true).selfSigned()
        let middle = try draft("middle", authority: true).signed(by: root)
        let leaf = try draft("leaf").signed(by: middle)
        #expect(leaf.chain.map(\.subject) == ["CN=leaf", "CN=middle"])
        let text = "some words\n" + leaf.chainPEM + root.key.description + "\n" + root.chainPEM
        #expect(try Certificate.chain(pem: Array(text.utf8).span) == leaf.chain + root.chain)
        let key = try leaf.key.pem()
        let chain = Array(leaf.chainPEM.utf8)
        let again = try key.withBytes { key in try Identity(chainPEM: chain.span, keyPEM: key) }
        #expect(again.certificate == leaf.certificate)
    }

    @Test(
        "A text without a complete certificate is refused",
        arguments: [
            "", "words", "-----BEGIN CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        ])
    func badText(text: String) {
        let error = #expect(throws: CryptographyError.self) { try Certificate(pem: text) }
        #expect(error?.kind == .malformed)
    }

    @Test("A chain with one broken certificate is refused as a whole")
    func brokenChain() throws {
        let pem = try draft().selfSigned().chainPEM
        let text = Array((pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").utf8)
        #expect(throws: CryptographyError.self) { try Certificate.chain(pem: text.span) }
    }

    @Test("A truncated certificate and one with trailing bytes are refused")
    func cuts() throws {
        let der = try draft("test", Self.names).selfSigned().certificate.encoded
        for count in der.indices {
            let error = #expect(throws: CryptographyError.self) { try Certificate(der: Array(der[..<count])) }
            #expect(error?.kind == .malformed)
        }
        #expect(throws: CryptographyError.self) { try Certificate(der: der + [0]) }
        #expect(try Certificate(der: der).encoded == der)
    }

    @Test("A certificate with changed bytes is parsed or refused, but never crashes", arguments: [1, 2, 3, 4])
    func flips(seed: UInt64) throws {
        let der = try draft("test", Self.names).selfSigned().certificate.encoded
        var generator = SeededGenerator(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<2000 {
            var changed = der
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            do {
                let certificate = try Certificate(der: changed)
                _ = certificate.matches(host: "example.org")
                _ = certificate.matches(host: "::1")
                read += 1
            } catch {
                #expect(error.kind == .malformed)
                refused += 1
            }
        }
        // Without both outcomes this test would show nothing.
        #expect(read > 0 && refused > 0)
    }

    @Test("Random bytes are not parsed as a certificate")
    func noise() {
        var generator = SeededGenerator(seed: 7)
        for length in 0..<500 {
            let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(throws: CryptographyError.self) { try Certificate(der: noise) }
            #expect(throws: CryptographyError.self) { try Certificate.chain(pem: noise.span) }
        }
    }
}

import Capabilities
import Cryptography
import Testing

@Suite("Keys and identities")
struct IdentityTests {
    @Test("A key that belongs to another certificate is refused")
    func foreignKey() throws {
        let one = try draft("one").selfSigned()
        let two = try draft("two").selfSigned()
        let error = #expect(throws: CryptographyError.self) { try Identity(chain: one.chain, key: two.key) }
        #expect(error?.kind == .key)
        #expect(throws: CryptographyError.self) { try Identity(chain: [], key: one.key) }
    }

    @Test("An encrypted key is refused without a password prompt, and invalid keys are refused")
    func passwords() throws {
        let locked = Array(
            run("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x").utf8)
        try #require(locked.count > 100)
        for text in [locked, [], Array("words".utf8), Array(try draft().selfSigned().chainPEM.utf8)] {
            let error = #expect(throws: CryptographyError.self) { try PrivateKey(pem: text.span) }
            #expect(error?.kind == .malformed)
        }
    }

    @Test(
        "Keys of every kind from the openssl tool are read",
        arguments: ["EC -pkeyopt ec_paramgen_curve:P-384", "ED25519", "RSA"])
    func kinds(algorithm: String) throws {
        let text = Array(run("openssl genpkey -algorithm \(algorithm) 2>/dev/null").utf8)
        let key = try PrivateKey(pem: text.span)
        #expect([.ellipticCurve, .ed25519, .rsa].contains(key.facts.kind))
        #expect("\(key)" == "‹redacted›")
        #expect(try key.pem().equals(secret(text)))
    }

    @Test("Drafts that a certificate cannot express are refused")
    func drafts() throws {
        var far = draft()
        far.notAfter = Timestamp(microseconds: .max)
        let bad = [
            draft(""), draft(String(repeating: "a", count: 65)), draft("a", [""]), draft("a", ["a b"]),
            draft("a", ["a\0b"]), draft("a", ["grüße.org"]), draft("a", [String(repeating: "a", count: 256)]),
            draft(key: .rsa(bits: 512)), draft(key: .rsa(bits: -1)), draft(key: .rsa(bits: 1 << 30)), far,
        ]
        for draft in bad {
            let error = #expect(throws: CryptographyError.self) { try draft.selfSigned() }
            #expect(error?.kind == .parameters)
        }
    }

    @Test("A name cannot inject a name of another kind into a certificate")
    func smuggling() throws {
        let certificate = try draft("a", ["a.org,IP:10.0.0.1"]).selfSigned().certificate
        #expect(certificate.addresses.isEmpty)
        #expect(!certificate.matches(host: "10.0.0.1"))
    }

    @Test("A certificate for this machine is valid only for its names, and is read back from one text with its key")
    func forThisMachine() throws {
        let now = Timestamp(microseconds: 1_800_000_000_000_000)
        let made = try CertificateDraft.local("lab", also: ["lab.local", "::1"], from: now, days: 2).selfSigned()
        let certificate = made.certificate
        #expect(certificate.dnsNames == ["localhost", "lab.local"])
        #expect(certificate.addresses.count == 2)
        #expect(["localhost", "127.0.0.1", "::1", "lab.local"].allSatisfy { certificate.matches(host: $0) })
        #expect(!certificate.matches(host: "example.org") && !certificate.matches(host: "10.0.0.1"))
        #expect(certificate.notBefore < now)
        #expect(certificate.notAfter - now == .seconds(2 * 86_400))
        let text = try made.pem().withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let read = try Identity(chainPEM: text.span, keyPEM: text.span)
        #expect(read.chain == made.chain)
        let pem = try made.key.pem()
        #expect(try read.key.pem().equals(pem))
    }

    @Test("Serial numbers are positive, have the same length, and differ")
    func serials() throws {
        let serials = try (0..<20).map { _ in try draft().selfSigned().certificate.serial }
        #expect(Set(serials).count == 20)
        #expect(serials.allSatisfy { $0.count == 32 && !$0.hasPrefix("-") })
    }
}

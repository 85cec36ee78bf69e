import Capabilities
import Testing

@testable @_spi(Fuzzing) import SSHCore

struct HostKeyTests {
    @Test("A key of each type reads as itself", arguments: ["B", "C", "D", "E", "F", "G", "X"])
    func reads(letter: String) throws {
        let key = try #require(HostKey.named(letter))
        #expect(key.text == TestKeys(own: "")[letter])
        #expect(try HostKey(blob: key.blob) == key)
        // A cut at any place, and anything after the end, is found.
        for count in 0..<key.blob.count where letter != "X" {
            #expect(throws: SSHError.self) { try HostKey(blob: Array(key.blob.prefix(count))) }
        }
        if letter != "X" { #expect(throws: SSHError.self) { try HostKey(blob: key.blob + [0]) } }
    }

    @Test("The fingerprint is that of ssh-keygen")
    func fingerprint() throws {
        #expect(
            try #require(HostKey.named("B")).fingerprint == "SHA256:trB+Vvy1pnfC3jdlaRQLVa6f+BFUeXUx+jXcsFiEpic")
    }

    @Test("Lengths beyond the bytes, unknown types and short RSA keys are refused")
    func refuses() {
        func name(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + text.utf8 }
        let blobs: [[UInt8]] = [
            [], [0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 1], name("ssh-new") + name("x"), name("rsa-sha2-512"),
            name("ssh-ed25519") + [0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 32),
            name("ssh-rsa") + name("\u{3}") + [0, 0, 0, 65, 0, 0x7F] + [UInt8](repeating: 1, count: 63),
            name("ssh-rsa") + [0, 0, 0, 1, 0x80] + name("\u{1}"),
            name("ecdsa-sha2-nistp256") + name("nistp384") + [0, 0, 0, 65, 4] + [UInt8](repeating: 1, count: 64),
            name("ecdsa-sha2-nistp256") + name("nistp256") + [0, 0, 0, 33, 2] + [UInt8](repeating: 1, count: 32),
            [UInt8](repeating: 0, count: (1 << 16) + 1),
        ]
        for blob in blobs {
            #expect(failure { () throws(SSHError) in try HostKey(blob: blob) }?.kind == .key, "\(blob.prefix(40))")
        }
    }

    @Test("Types have the names of ssh")
    func types() {
        #expect(KeyType(named: "rsa-sha2-512") == .rsa && KeyType(named: "ssh-new") == nil)
        #expect(
            KeyType.plain.map(\.description) == [
                "ED25519", "ECDSA", "ECDSA", "ECDSA", "RSA", "DSA", "ED25519-SK", "ECDSA-SK",
            ])
        #expect(KeyType(named: "sk-ssh-ed25519-cert-v01@openssh.com")?.isCertificate == true)
        #expect(KeyType(named: "sk-ssh-ed25519-cert-v01@openssh.com")?.description == "ED25519-SK-CERT")
    }

    @Test("What was found by fuzzing is read or refused")
    func fuzzed() {
        let seeds = [
            "", "Host\0", "\"", "Match all\nMatch host", "ProxyJump [", "|1|", "@", "@revoked ", "[web]:2222", "web \0",
            "ssh://ssh://a%4A@@.b",
        ]
        for seed in seeds {
            SSHFuzzTarget.configuration(Array(seed.utf8))
            SSHFuzzTarget.knownHosts(Array(seed.utf8))
            SSHFuzzTarget.address(Array(seed.utf8))
        }
    }
}

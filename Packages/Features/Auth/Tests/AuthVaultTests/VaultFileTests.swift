import Capabilities
import CoreTesting
import Cryptography
import Testing

@testable import AuthVault

@Suite("Vault file", .timeLimit(.minutes(5)))
struct VaultFileTests {
    private let secret = "sk-the-secret-in-the-body"

    private func sealed(_ form: VaultHeader.Form? = nil) throws -> (bytes: [UInt8], key: VaultKey) {
        let key = try VaultKey.test()
        let header = try VaultHeader(form ?? .passphrase(.cheap), key: key)
        var content = VaultContent()
        try content.store(Secret(secret), named: "openai", at: .test)
        let body = content.encoded()
        return (try VaultFile.seal(body.span, header: header, key: key), key)
    }

    /// The reason why reading or opening was refused, or nil if the secrets were read.
    private func refusal(_ bytes: [UInt8], _ key: VaultKey) async -> VaultError.Kind? {
        await reason {
            let file = try VaultFile(parsing: bytes, path: "/v")
            guard try key.fits(file.header) else { throw VaultError(.wrongPassphrase, "") }
            _ = try VaultContent(reading: file.open(key), path: "/v")
        }
    }

    private func mended(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes[..<82]) + Digest.sha256(Array(bytes[..<82])) + Array(bytes[VaultHeader.size...])
    }

    @Test("A sealed vault opens again, with a passphrase and with a key file")
    func roundTrip() throws {
        for form in [VaultHeader.Form.passphrase(try .cheap), .keyFile] {
            let (bytes, key) = try sealed(form)
            let file = try VaultFile(parsing: bytes, path: "/v")
            #expect(file.header.form == form)
            let content = try VaultContent(reading: file.open(key), path: "/v")
            #expect(content["openai"]?.text == secret)
            #expect(content.records["openai"]?.changed == .test)
        }
    }

    @Test("Random names and texts are read back unchanged")
    func properties() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "\\", "\u{0}", "\n", "\u{1F468}\u{200D}\u{1F469}", "é", "e\u{301}", "\u{2028}", "a", "{", "\u{7F}",
            "߿", "￿",
        ]
        for _ in 0..<100 {
            var content = VaultContent()
            for number in 0..<Int.random(in: 0...20, using: &random) {
                let text = (0...Int.random(in: 0...30, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }
                try content.store(
                    Secret(text.joined()), named: SecretName("n\(number)"),
                    at: Timestamp(microseconds: Int64.random(in: 0...1 << 52, using: &random)))
            }
            let again = try VaultContent(reading: SecretBytes(copying: content.encoded().span), path: "/v")
            #expect(again.records.count == content.records.count, "seed \(seed)")
            for (name, record) in content.records {
                let other = again.records[name]
                #expect(Array(other?.value.text.utf8 ?? "".utf8) == Array(record.value.text.utf8), "seed \(seed)")
                #expect(other?.changed == record.changed, "seed \(seed)")
            }
        }
    }

    @Test("A file cut at any length is reported as incomplete")
    func cut() async throws {
        let (bytes, key) = try sealed()
        for length in bytes.indices {
            #expect(await refusal(Array(bytes[..<length]), key) == .cut, "\(length) bytes")
        }
    }

    @Test("A file with extra bytes is damaged")
    func longer() async throws {
        let (bytes, key) = try sealed()
        #expect(await refusal(bytes + [0], key) == .damaged)
    }

    @Test("An accidental change of any header byte is detected", arguments: [1, 0x80, 0xFF] as [UInt8])
    func headerDamage(mask: UInt8) async throws {
        let (bytes, key) = try sealed()
        for index in 0..<VaultHeader.size {
            var changed = bytes
            changed[index] ^= mask
            let expected: VaultError.Kind =
                switch index {
                case 0..<8: .notVault
                // Version 1 with its lowest bit changed is 0, which is not a newer version.
                case 8..<10 where index == 8 || mask != 1: .newer
                default: .damaged
                }
            #expect(await refusal(changed, key) == expected, "byte \(index)")
        }
    }

    @Test("A deliberate change of any header byte is detected", arguments: [1, 0x80, 0xFF] as [UInt8])
    func headerForgery(mask: UInt8) async throws {
        let (bytes, key) = try sealed()
        for index in 10..<82 {
            var changed = bytes
            changed[index] ^= mask
            let expected: [VaultError.Kind] =
                switch index {
                // Other parameters within bounds are detected by the seal, because the key is already known here.
                case 10..<14: [.parameters, .changed]
                case 14..<78: [.wrongPassphrase]
                default: [.cut, .damaged]
                }
            let refusal = await refusal(mended(changed), key)
            #expect(refusal.map(expected.contains) == true, "byte \(index): \(String(describing: refusal))")
        }
    }

    @Test("A change of any body byte is detected")
    func body() async throws {
        let (bytes, key) = try sealed()
        for index in VaultHeader.size..<bytes.count {
            var changed = bytes
            changed[index] ^= 1
            #expect(await refusal(changed, key) == .changed, "byte \(index)")
        }
    }

    @Test("The body of one vault does not open with the header of another")
    func swapped() async throws {
        let (first, key) = try sealed(.passphrase(.cheap))
        let (second, _) = try sealed(.keyFile)
        #expect(first.count == second.count)
        #expect(await refusal(Array(second[..<VaultHeader.size] + first[VaultHeader.size...]), key) == .changed)
    }

    @Test(
        "Unsafe work parameters are rejected before any work",
        arguments: [
            [1, 20, 32, 16], [1, 21, 1, 1], [1, 255, 255, 255], [1, 0, 1, 1], [1, 4, 0, 1], [1, 4, 1, 0],
            [1, 19, 8, 1],
            [1, 17, 8, 16], [2, 4, 1, 1], [0, 0, 0, 0], [3, 0, 0, 0],
        ] as [[UInt8]])
    func parameters(numbers: [UInt8]) async throws {
        var (bytes, key) = try sealed()
        bytes.replaceSubrange(10..<14, with: numbers)
        #expect(await refusal(mended(bytes), key) == .parameters)
    }

    @Test("Equal secrets give different files, and no secret is readable")
    func fresh() throws {
        let (first, second) = (try sealed().bytes, try sealed().bytes)
        #expect(first[..<VaultHeader.size] == second[..<VaultHeader.size])
        #expect(first[VaultHeader.size...].prefix(12) != second[VaultHeader.size...].prefix(12), "the nonce is new")
        #expect(!contains(first, secret) && !contains(first, "openai"))
    }

    @Test("Sealed content that cannot be parsed is damaged, and not quoted")
    func notJSON() async throws {
        for text in ["{\"secrets\": {\"a\": 5}}", "[]", "{\"secrets\": {\"a\": {\"value\": 7}}}", "sk-oops", ""] {
            let error = #expect(throws: VaultError.self) {
                _ = try VaultContent(reading: SecretBytes(copying: Array(text.utf8).span), path: "/v")
            }
            #expect(error?.kind == .damaged, "\(text)")
            #expect(error?.message.contains("sk-oops") == false)
        }
    }

    // Created by a Python program from the description of the header, with hashlib, hmac and the package
    // `cryptography`, so that neither the description nor the format changes unnoticed.
    @Test("A file written by another program from the format description opens")
    func madeElsewhere() throws {
        let bytes = try #require(Hexadecimal.decode(Fixtures.madeElsewhere))
        let file = try VaultFile(parsing: bytes, path: "/v")
        let key = try VaultKey(
            passphrase: SecretBytes(Secret("correct horse")), salt: file.header.salt, scrypt: .cheap)
        #expect(try key.fits(file.header))
        let content = try VaultContent(reading: file.open(key), path: "/v")
        #expect(content["openai"]?.text == "sk-from-elsewhere")
        #expect(content.records["openai"]?.changed.iso8601 == "2026-11-21T09:30:00Z")
    }
}

import Capabilities
import Testing

@testable import Cryptography

@Suite("Sealing")
struct SealingTests {
    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let text =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
    private static let sealed =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"

    @Test(
        "Boxes match the GCM specification, cases 13 to 16",
        arguments: [
            (
                String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "", "",
                "530f8afbc74536b9a963b4f1c4cb738b"
            ),
            (
                String(repeating: "00", count: 32), String(repeating: "00", count: 12), "",
                String(repeating: "00", count: 16), "cea7403d4d606b6e074ec5d3baf39d18",
                "d0d1c8a799996bf0265b98b5d48ab919"
            ),
            (key, "cafebabefacedbaddecaf888", "", text, sealed, "b094dac5d93471bdec1a502270e3cc6c"),
            (
                key, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", String(text.dropLast(8)),
                String(sealed.dropLast(8)), "76fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ])
    func vectors(key: String, nonce: String, context: String, text: String, sealed: String, tag: String) throws {
        let key = try SealingKey(secret(bytes(key)))
        let plain = try bytes(text)
        let box = try key.seal(plain.span, authenticating: bytes(context), nonce: bytes(nonce))
        #expect(Hexadecimal.encode(box.encoded) == nonce + sealed + tag)
        #expect(try array(key.open(box, authenticating: bytes(context))) == plain)
    }

    private func seal(_ text: String, _ key: SealingKey, _ context: [UInt8] = []) throws -> SealedBox {
        let text = Array(text.utf8)
        return try key.seal(text.span, authenticating: context)
    }

    @Test("A flipped bit in the box, the context or the key always gives the same error")
    func flips() throws {
        let key = try SealingKey.random()
        let context = Array("header".utf8)
        let box = try seal("a text of some length", key, context).encoded
        var messages: Set<String> = []
        func fails(_ key: SealingKey, _ box: [UInt8], _ context: [UInt8]) {
            let error = #expect(throws: CryptographyError.self) {
                try key.open(SealedBox(encoded: box), authenticating: context)
            }
            #expect(error?.kind == .notAuthentic)
            messages.insert(error?.message ?? "")
        }
        for bit in 0..<(box.count * 8) {
            var changed = box
            changed[bit / 8] ^= 1 << (bit % 8)
            fails(key, changed, context)
        }
        for bit in 0..<(context.count * 8) {
            var changed = context
            changed[bit / 8] ^= 1 << (bit % 8)
            fails(key, box, changed)
        }
        fails(key, box, [])
        fails(try SealingKey.random(), box, context)
        #expect(messages.count == 1)
    }

    @Test("A box that is truncated or has trailing bytes is not opened")
    func cuts() throws {
        let key = try SealingKey.random()
        let box = try seal("a text of some length", key).encoded
        for count in 0..<box.count {
            let error = #expect(throws: CryptographyError.self) {
                try key.open(SealedBox(encoded: Array(box[..<count])))
            }
            #expect(error?.kind == .notAuthentic)
        }
        #expect(throws: CryptographyError.self) { try key.open(SealedBox(encoded: box + [0])) }
    }

    @Test("Sealing the same text twice gives different boxes")
    func nonces() throws {
        let key = try SealingKey.random()
        let boxes = try (0..<100).map { _ in try seal("123", key) }
        #expect(Set(boxes.map { Array($0.encoded[..<12]) }).count == 100)
        for box in boxes { #expect(try array(key.open(box)) == Array("123".utf8)) }
    }

    @Test("A megabyte is sealed and opened")
    func large() throws {
        let key = try SealingKey.random()
        let text = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let box = try key.seal(text.span)
        #expect(try array(key.open(box)) == text)
    }

    @Test("A key of the wrong size is refused", arguments: [0, 16, 31, 33])
    func keySizes(size: Int) throws {
        let error = #expect(throws: CryptographyError.self) { try SealingKey(Random.secret(size)) }
        #expect(error?.kind == .parameters)
    }

    @Test("Secret bytes are not revealed by printing or reflection, and compare by content")
    func hidden() throws {
        let one = SecretBytes(Secret("hunter2"))
        #expect("\(one)" == "‹redacted›")
        #expect(String(reflecting: one) == "‹redacted›")
        var dumped = ""
        dump(one, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect(Mirror(reflecting: one).children.isEmpty)
        #expect(one.equals(secret(Array("hunter2".utf8))))
        #expect(!one.equals(secret(Array("hunter3".utf8))))
    }

    @Test("Random bytes differ, and absurd counts are refused")
    func random() throws {
        #expect(try Random.bytes(32) != Random.bytes(32))
        #expect(try !Random.secret(32).equals(Random.secret(32)))
        #expect(try Random.bytes(0).isEmpty)
        for count in [-1, Int.max] {
            #expect(throws: CryptographyError.self) { try Random.bytes(count) }
            #expect(throws: CryptographyError.self) { try Random.secret(count) }
        }
    }
}

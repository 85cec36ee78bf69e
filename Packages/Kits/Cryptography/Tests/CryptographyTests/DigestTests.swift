import Capabilities
import Cryptography
import Testing

@Suite("Digests")
struct DigestTests {
    @Test(
        "Digests match the FIPS 180 test vectors",
        arguments: [
            (
                "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
        ])
    func vectors(text: String, sha1: String, sha256: String, sha512: String) {
        #expect(Hexadecimal.encode(Digest.sha1(Array(text.utf8))) == sha1)
        #expect(Hexadecimal.encode(Digest.sha256(Array(text.utf8))) == sha256)
        #expect(Hexadecimal.encode(Digest.sha512(Array(text.utf8))) == sha512)
    }

    @Test(
        "A million letters hashed in uneven pieces give the digest of the whole", arguments: Digest.Algorithm.allCases)
    func pieces(algorithm: Digest.Algorithm) {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        var digest = Digest(algorithm)
        var start = 0
        var size = 1
        while start < text.count {
            let end = min(start + size, text.count)
            digest.update(text.span.extracting(start..<end))
            (start, size) = (end, size * 3 % 7919)
        }
        let hash = digest.finish()
        #expect(hash.count == algorithm.size)
        #expect(hash == Digest.hash(text.span, algorithm))
        if algorithm == .sha256 {
            #expect(
                Hexadecimal.encode(hash) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        }
    }

    @Test("The WebSocket accept key matches the example of RFC 6455")
    func webSocket() {
        let key = "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        #expect(Base64.encode(Digest.sha1(Array(key.utf8))) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(
        "HMAC codes match the test vectors of RFC 4231",
        arguments: [
            (
                String(repeating: "0b", count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "4a656665", "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                String(repeating: "aa", count: 131),
                "This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
            ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ])
    func codes(key: String, message: String, code: String) throws {
        let made = try HMAC.sha256(Array(message.utf8).span, key: secret(bytes(key)))
        #expect(Hexadecimal.encode(made) == code)
    }

    @Test(
        "HMAC codes with SHA-1 match the test vectors of RFC 2202",
        arguments: [
            (String(repeating: "0b", count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
            ("4a656665", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (
                String(repeating: "aa", count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ), ("", "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d"),
        ])
    func oldCodes(key: String, message: String, code: String) throws {
        let (message, key) = (Array(message.utf8), try bytes(key))
        let made = HMAC.sha1(message.span, key: key.span)
        #expect(Hexadecimal.encode(made) == code)
    }

    private func same(_ left: [UInt8], _ right: [UInt8]) -> Bool { ConstantTime.equal(left.span, right.span) }

    @Test("A comparison detects a difference at every position and in length")
    func constantTime() {
        let value = [UInt8](0..<32)
        #expect(same(value, Array(0..<32)))
        #expect(same([UInt8](), [UInt8]()))
        #expect(!same(value, value.dropLast()))
        for index in value.indices {
            var other = value
            other[index] ^= 1
            #expect(!same(value, other))
        }
    }
}

import Capabilities
import CoreTesting
import Testing

@Suite("Base64 and hexadecimal digits")
struct Base64Tests {
    @Test(
        "Bytes are encoded as in the examples of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64URL.encode(Array(text.utf8)) == String(encoded.prefix { $0 != "=" }))
    }

    @Test("The two last characters and the padding are those of the standard")
    func alphabet() {
        #expect(Base64.encode([]) == "")
        #expect(Base64.encode([0xFF]) == "/w==")
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    }

    @Test("Bytes of any length are decoded from what they were encoded to", arguments: [1, 2, 3] as [UInt64])
    func roundTrip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes, "seed \(seed)")
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes, "seed \(seed)")
        }
    }

    @Test("Base64 texts that decode to the same bytes differ only in line breaks and missing padding")
    func base64() {
        for (text, bytes) in [
            ("", [UInt8]()), ("/w==", [255]), ("/w", [255]), ("+/8=", [251, 255]), ("AAAA", [0, 0, 0]),
        ] {
            #expect(Base64.decode(text) == bytes)
        }
        #expect(Base64.decode("AA\r\nAA\n") == [0, 0, 0])
        for text in ["/x==", "/w=", "/w===", "/w====", "+/9=", "AAAA=", "AAAA====", "=", "A", "A=", "/w==/w==", "-_"] {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
        #expect(Base64URL.decode("_w") == [255] && Base64URL.decode("_x") == nil && Base64URL.decode("-_9") == nil)
    }

    @Test("Base64URL uses exactly the alphabet of the standard")
    func addresses() {
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64URL.encode(Array("fooba".utf8)) == "Zm9vYmE")
        #expect(Base64URL.decode("-__-") == [0xFB, 0xFF, 0xFE])
        #expect(Base64URL.decode("Zm9vYmE") == Array("fooba".utf8))
        #expect(Base64URL.decode("a") == nil)
        #expect(Base64URL.decode("ab==") == nil)
        #expect(Base64URL.decode("a+/b") == nil)
    }

    @Test("Hexadecimal digits are encoded and decoded, and other text is refused")
    func hexadecimal() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
        #expect(Hexadecimal.decode(Hexadecimal.encode(all, uppercase: true)) == all)
        #expect(Hexadecimal.encode([1, 0xAB], separator: ":", uppercase: true) == "01:AB")
        for bad in ["0", "0g", "g0", "00 ", "0x00", "é0"] { #expect(Hexadecimal.decode(bad) == nil) }
    }

    @Test(
        "A number has as many digits as asked for, or as it needs",
        arguments: [
            (0, 16, "0000000000000000"), (0xAB, 4, "00ab"), (0x1_2345, 4, "12345"), (.max, 16, "ffffffffffffffff"),
        ] as [(UInt64, Int, String)])
    func digits(number: UInt64, count: Int, digits: String) {
        #expect(Hexadecimal.digits(of: number, count: count) == digits)
    }
}

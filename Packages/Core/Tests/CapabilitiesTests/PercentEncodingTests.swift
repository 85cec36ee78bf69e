import Capabilities
import CoreTesting
import Testing

@Suite("PercentEncoding")
struct PercentEncodingTests {
    @Test(
        "Everything but letters, digits and four signs is escaped",
        arguments: [
            ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b+c", "a%20b%2Bc"),
            ("/?#[]@!$&'()*,;=", "%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2C%3B%3D"),
            ("100%", "100%25"), ("\u{E9}\n\0", "%C3%A9%0A%00"),
        ])
    func encoding(text: String, encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.encode(text, uppercase: false).uppercased() == encoded.uppercased())
    }

    @Test("The caller says which bytes are kept")
    func keeping() {
        let encoded = PercentEncoding.encode("a/b c/\u{E9}", uppercase: false) { $0 == 47 || $0 == 97 }
        #expect(encoded == "a/%62%20%63/%c3%a9")
    }

    @Test("A text is decoded from what it was encoded to", arguments: [1, 2, 3] as [UInt64])
    func roundTrip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("aZ09-._~ +&=%?#/\u{E9}\u{1F426}\n\"<\0")
        for _ in 0..<300 {
            let text = String((0..<8).compactMap { _ in letters.randomElement(using: &generator) })
            #expect(PercentEncoding.decode(PercentEncoding.encode(text)[...]) == text, "seed \(seed)")
            #expect(
                PercentEncoding.decode(PercentEncoding.encode(text)[...], plusIsSpace: true) == text, "seed \(seed)")
        }
    }

    @Test("A plus is a space only in queries and forms")
    func plus() {
        #expect(PercentEncoding.decode("a+b%2B") == "a+b+")
        #expect(PercentEncoding.decode("a+b%2b", plusIsSpace: true) == "a b+")
    }

    @Test(
        "Malformed escapes and invalid UTF-8 are refused", arguments: ["%", "a%4", "%zz", "%+1", "%ff", "%C3", "%%41"])
    func malformed(text: String) {
        #expect(PercentEncoding.decode(text[...]) == nil)
        #expect(PercentEncoding.decode(text[...], plusIsSpace: true) == nil)
    }
}

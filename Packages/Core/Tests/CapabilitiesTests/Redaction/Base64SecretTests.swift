import Capabilities
import CoreTesting
import Testing

@Suite("Redaction of Base64")
struct Base64SecretTests {
    private static let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bit by bit, as RFC 4648 describes it.
    private static func base64(_ text: String, forAddresses: Bool, padded: Bool = true) -> String {
        let bits = text.utf8.flatMap { byte in (0..<8).map { byte >> (7 - UInt8($0)) & 1 } }
        var encoded = ""
        for start in stride(from: 0, to: bits.count, by: 6) {
            let group = (0..<6).reduce(0) { $0 << 1 | Int(start + $1 < bits.count ? bits[start + $1] : 0) }
            encoded.unicodeScalars.append(Unicode.Scalar(signs[group]))
        }
        if padded { encoded += String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4) }
        return forAddresses ? encoded.replacing("+", with: "-").replacing("/", with: "_") : encoded
    }

    @Test(
        "A secret in Base64 is removed, alone and inside a longer text, in both alphabets",
        arguments: 1...40 as ClosedRange<UInt64>)
    func found(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = Array("abcXYZ019~?>ü漢 /+")
        let length = Int.random(in: 6...40, using: &random)
        let secret = String((0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
        let redactor = Redactor()
        redactor.learn(Secret(secret))
        for before in ["", "a", "ad", "ada:", "ada::"] {
            for after in ["", "z", "zz", "zzz"] {
                for forAddresses in [false, true] {
                    let text = Self.base64(before + secret + after, forAddresses: forAddresses)
                    let shown = redactor.redact("found \(text) there")
                    #expect(shown.contains(Redactor.mark), "seed \(seed): \(secret) in \(text)")
                    // Any rest that is still shown encodes less than one whole character of the secret.
                    let own = (before.utf8.count * 8 + 5) / 6..<((before.utf8.count + secret.utf8.count) * 8 / 6)
                    let middle = String(decoding: Array(text.utf8)[own], as: UTF8.self)
                    #expect(!shown.contains(middle), "seed \(seed)")
                }
            }
        }
    }

    @Test("The beginning of a secret is removed from a cut text, plain and in Base64", arguments: [false, true])
    func cut(isEncoded: Bool) {
        let secret = "correct horse battery staple"
        let redactor = Redactor()
        redactor.learn(Secret(secret))
        let whole = isEncoded ? Self.base64("ada:" + secret, forAddresses: false) : secret
        for length in 24..<whole.utf8.count {
            let shown = redactor.redact("refused: \(whole.prefix(length))")
            let middle = String(whole.dropFirst(8).prefix(12))
            #expect(shown.contains(Redactor.mark) && !shown.contains(middle), "\(shown)")
        }
        // Ordinary words are kept, even if a secret begins with them.
        #expect(redactor.redact("correct horse") == "correct horse")
    }

    @Test("Another text in Base64 stays")
    func others() {
        let redactor = Redactor()
        redactor.learn(Secret("correct horse"))
        let text = "the picture is \(Self.base64("wrong horse of mine", forAddresses: false))"
        #expect(redactor.redact(text) == text)
    }
}

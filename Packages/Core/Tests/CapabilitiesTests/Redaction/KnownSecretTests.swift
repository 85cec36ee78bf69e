import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Redaction of known secrets")
struct KnownSecretTests {
    @Test("Beyond the limit the least recently registered secrets are forgotten, and no form of the others is")
    func forgotten() {
        let redactor = Redactor()
        redactor.learn(Secret("kept=words"))
        // The percent-encoded form of the first secret.
        redactor.learn(Secret("kept%3Dwords"))
        for number in 0..<1005 {
            redactor.learn(Secret("Tr0ub4dor-\(number)-Zq9"))
            redactor.learn(Secret("kept=words"))
        }
        #expect(redactor.redact("is kept=words") == "is \(Redactor.mark)")
        #expect(redactor.redact("is kept%3Dwords") == "is \(Redactor.mark)")
        #expect(redactor.redact("is Tr0ub4dor-1004-Zq9") == "is \(Redactor.mark)")
        #expect(redactor.redact("is Tr0ub4dor-6-Zq9") == "is \(Redactor.mark)")
        #expect(redactor.redact("is Tr0ub4dor-5-Zq9").contains("-5-"))
    }

    private func redactor(_ secrets: String...) -> Redactor {
        let redactor = Redactor()
        for secret in secrets { redactor.learn(Secret(secret)) }
        return redactor
    }

    private static func percentEncoded(_ text: String, kept: String = "-._~", isUpper: Bool = true) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            if (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || kept.unicodeScalars.contains(scalar)
            {
                return String(Character(scalar))
            }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: isUpper)
        }.joined()
    }

    /// Secrets with all characters that programs escape.
    static let secrets = [
        "plain0", "correct horse battery", "a/b?c=d&e#f%20", "quo\"te\\back", "line\nbreak\r\ntab\t", "pässwört",
        "пароль-секрет", "\u{1F511}\u{1F511}\u{1F511}", "a+b c+d", "ctrl\u{1}\u{1F}\u{7F}", "e\u{301}e\u{301}e\u{301}",
        "!$'()*,;:@[]", "\u{2028}\u{2029}",
    ]

    @Test("A secret is removed plain, percent-encoded in every way, and in JSON text", arguments: secrets)
    func forms(_ secret: String) throws {
        let redactor = redactor(secret)
        let form = Self.percentEncoded(secret)
        let json = JSON.string(secret).text()
        let texts = [
            secret, form, Self.percentEncoded(secret, isUpper: false),
            Self.percentEncoded(secret, kept: "-._~!$'()*,;:@/"),
            form.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+"),
            String(json.dropFirst().dropLast()),
        ]
        for text in texts {
            #expect(redactor.redact("before \(text) after") == "before \(mark) after", "\(text)")
            #expect(redactor.redact("\(text)-\(text)") == "\(mark)-\(mark)", "\(text)")
        }
    }

    @Test("A secret is removed when everything beyond ASCII is escaped, as some programs write JSON")
    func asciiJSON() {
        #expect(redactor("pässwört").redact("{\"x\":\"p\\u00e4ssw\\u00f6rt\"}") == "{\"x\":\"\(mark)\"}")
        #expect(redactor("k\u{1F511}\u{1F511}").redact("k\\ud83d\\udd11\\ud83d\\udd11") == mark)
    }

    @Test("A secret next to letters is removed")
    func inside() {
        #expect(redactor("hunter2").redact("xhunter2y-hunter2-HUNTER2") == "x\(mark)y-\(mark)-HUNTER2")
    }

    @Test("A secret of less than six bytes is not registered, because it would match ordinary words")
    func short() {
        #expect(redactor("abcde").redact("abcde abcdef") == "abcde abcdef")
        #expect(redactor("abcdef").redact("abcde abcdef") == "abcde \(mark)")
        // Two characters of three bytes each reach the minimum of six.
        #expect(redactor("日本").redact("x日本y") == "x\(mark)y")
        #expect(redactor("").redact("nothing") == "nothing")
    }

    @Test("Overlapping secrets are removed completely and leave one mark")
    func overlaps() {
        #expect(redactor("abcdef", "defghi").redact("-abcdefghi-") == "-\(mark)-")
        #expect(redactor("abcdef", "abcdefghi").redact("-abcdefghi-abcdef-") == "-\(mark)-\(mark)-")
        #expect(redactor("bcdefg", "abcdefghi").redact("abcdefghi") == mark)
        #expect(redactor("aaaaaa").redact("aaaaaaaa") == mark)
        #expect(redactor("secret").redact("token=secretsecret&x") == "token=\(mark)&x")
    }

    @Test("Multi-byte characters next to a secret stay intact")
    func unicode() {
        let redactor = redactor("schlüssel-ä", "\u{1F511}\u{1F511}")
        #expect(redactor.redact("ü schlüssel-ä ß") == "ü \(mark) ß")
        #expect(redactor.redact("\u{1F512}\u{1F511}\u{1F511}\u{1F513}") == "\u{1F512}\(mark)\u{1F513}")
    }

    @Test("Secrets are removed from the texts of a JSON value at any depth")
    func json() {
        let value: JSON = ["a": ["b": [1, "x hunter2 y", ["c": "hunter2"]]], "n": nil]
        let clean: JSON = ["a": ["b": [1, .string("x \(mark) y"), ["c": .string(mark)]]], "n": nil]
        #expect(redactor("hunter2").redact(value) == clean)
    }

    @Test("Secrets can be registered repeatedly, and while others redact")
    func together() async {
        let redactor = Redactor()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        let secret = "secret-\(number)-\(round)-x"
                        redactor.learn(Secret(secret))
                        redactor.learn(Secret(secret))
                        #expect(redactor.redact("<\(secret)>") == "<\(mark)>")
                    }
                }
            }
        }
    }

    @Test("In random texts every secret is removed and nothing else is lost")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("abc/ \"\\%ü\u{1F511}\n")
        func word(_ length: Int) -> String {
            String((0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
        }
        for _ in 0..<300 {
            let secret = "S" + word(8) + "T"
            let parts = (0..<4).map { _ in word(Int.random(in: 0..<6, using: &generator)) }
            let redactor = Redactor()
            redactor.learn(Secret(secret))
            #expect(
                redactor.redact(parts.joined(separator: secret)) == parts.joined(separator: mark), "seed \(seed)")
        }
    }
}

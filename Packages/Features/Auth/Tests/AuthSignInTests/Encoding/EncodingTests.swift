import Capabilities
import CoreTesting
import Testing

@testable import AuthSignIn

@Suite("Sign-in encodings")
struct EncodingTests {
    @Test("A form is parsed back to the same fields", arguments: [1, 2, 3] as [UInt64])
    func form(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("aZ09-._~ +&=%?#/\u{E9}\u{1F426}\n\"<")
        for _ in 0..<300 {
            var form = FormFields()
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let word = { (least: Int, generator: inout SeededGenerator) in
                    String(
                        (0..<Int.random(in: least...8, using: &generator)).compactMap { _ in
                            letters.randomElement(using: &generator)
                        })
                }
                form.append(word(1, &generator), word(0, &generator))
            }
            let read = try #require(FormFields(parsing: form.text), "seed \(seed)")
            #expect(read.fields.map(\.name) == form.fields.map(\.name), "seed \(seed)")
            #expect(read.fields.map(\.value) == form.fields.map(\.value), "seed \(seed)")
            #expect(form.text.utf8.allSatisfy { $0 > 32 && $0 < 127 }, "seed \(seed)")
        }
    }

    @Test("A plus is a space, a name without '=' has no value, and repeated names are detected")
    func formDetails() throws {
        let form = try #require(FormFields(parsing: "a=b+c&d&a=%41"))
        #expect(form["a"] == "b c")
        #expect(form.all("d") == [""])
        #expect(form["d"] == nil)
        #expect(form.repeated == ["a"])
    }

    @Test("A malformed form is rejected", arguments: ["a=%", "a=%4", "a=%zz", "%ff=1", "a=%C3"])
    func malformed(text: String) {
        #expect(FormFields(parsing: text) == nil)
    }

    @Test("The PKCE challenge matches the RFC 7636 example, and a new verifier has the required length")
    func pkce() throws {
        let pkce = PKCE(verifier: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let (one, other) = (try PKCE(), try PKCE())
        #expect((43...128).contains(one.verifier.revealed.utf8.count))
        #expect(!one.verifier.equals(other.verifier))
        #expect(!"\(one)".contains(one.verifier.revealed))
    }

    @Test("Server text becomes one short line without control characters or secrets")
    func words() throws {
        let line = ServerText.line("no\r\n\u{1B}[31m s3cret\u{301} red", hiding: [Secret("s3cret"), Secret("")])
        #expect(line == "no \\u{1B}[31m ‹redacted›\u{301} red")
        #expect(ServerText.line(" \n ") == nil)
        #expect(try #require(ServerText.line(String(repeating: "x", count: 5000))).count == 301)
    }
}

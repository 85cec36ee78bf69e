import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Redaction of stored conversations")
struct KeepingTests {
    private static let secret = "hunter2-ünd-more"
    private static let key = "sk-proj-abcdefghijklmnopqrstuvwxyz012345"
    private static let pem = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAtheKeyItself
        -----END RSA PRIVATE KEY-----
        """

    private func redactor() -> Redactor {
        let redactor = Redactor()
        redactor.learn(Secret(Self.secret), named: "lab")
        return redactor
    }

    @Test("Known secrets in every form become a mark with their name, and text that only looks like a secret stays")
    func texts() {
        let redactor = redactor()
        #expect(redactor.kept("is \(Self.secret)!") == "is ‹redacted:lab›!")
        #expect(redactor.kept("is hunter2-%C3%BCnd-more!") == "is ‹redacted:lab›!")
        #expect(redactor.kept("is \(Self.key)!") == "is ‹redacted›!")
        #expect(!redactor.kept(Self.pem).contains("theKeyItself"))
        for code in [
            "password = getpass()", "token: \"changeme-please\"", "https://ada:pw@example.com/",
            "x = 'a1B2c3D4e5F6g7H8i9'",
        ] {
            #expect(redactor.kept(code) == code, "nobody can tell it from a placeholder")
        }
    }

    @Test("Every part of a message is redacted, and signed reasoning with a secret is left out")
    func messages() {
        let text = "a \(Self.secret) b"
        let call = ToolCall(id: "1", name: "t", input: ["x": ["y": .string(text)], "n": 1])
        let message = Message(
            .assistant,
            [
                .text(text), .refusal(text), .reasoning(Reasoning(text)), .reasoning(Reasoning(text, signature: "s")),
                .reasoning(Reasoning("fine", signature: "s")), .call(call),
                .malformedCall(MalformedCall(id: "2", name: "t", text: text, reason: "r")),
                .result(ToolResult(call: "1", content: text)),
                .attachment(Attachment(name: "a", mediaType: "text/plain", bytes: Array(text.utf8))),
                .attachment(Attachment(name: "b", mediaType: "image/png", bytes: [0x89, 0xFF, 0xFE])),
            ])
        let kept = redactor().kept(message)
        #expect(kept.parts.count == 9 && !"\(kept)".contains(Self.secret))
        #expect(kept.calls[0].input == ["x": ["y": "a ‹redacted:lab› b"], "n": 1])
        #expect(kept.parts.contains(.reasoning(Reasoning("fine", signature: "s"))))
        #expect(redactor().kept(kept) == kept)
    }

    @Test("Names of input members, tools and attachments are redacted, and no member is lost")
    func names() throws {
        let (first, second) = ("\(Self.secret)", "hunter2-%C3%BCnd-more")
        let input: JSON = [first: 1, second: ["\(Self.key)": 2], "‹redacted:lab›": 3, "plain": 4]
        let message = Message(
            .assistant,
            [
                .call(ToolCall(id: "1", name: "use_\(Self.secret)", input: input)),
                .malformedCall(MalformedCall(id: "2", name: Self.key, text: "{", reason: "no end: \(Self.key)")),
                .attachment(Attachment(name: "\(Self.secret).png", mediaType: "image/png", bytes: [0x89, 0xFF])),
                .attachment(Attachment(name: "\(Self.key).txt", mediaType: "text/plain", bytes: [65])),
            ])
        let kept = redactor().kept(message)
        for text in ["\(kept)", kept.calls[0].input.text()] {
            for secret in [Self.secret, second, Self.key] { #expect(!text.contains(secret), "\(text)") }
        }
        #expect(
            kept.calls[0].input == [
                "‹redacted:lab›": 1, "‹redacted:lab› 2": ["‹redacted›": 2], "‹redacted:lab› 3": 3, "plain": 4,
            ])
        #expect(kept.calls[0].name == "redacted", "a name that providers take")
        #expect(redactor().kept(kept) == kept)
    }

    @Test(
        "Redaction in pieces equals redaction of the whole, and never outputs the beginning of a secret",
        arguments: 0..<200)
    func pieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let redactor = redactor()
        let texts = [
            Self.secret, Self.key, Self.pem, "sk-short", "-----BEGIN", "hunter2", "words ", "ü", "\n", "eyJ", " a b ",
        ]
        let whole = (0..<12).map { _ in texts.randomElement(using: &random) ?? "" }.joined(separator: " ")
        var (kept, waiting) = ("", "")
        var rest = Substring(whole)
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...9, using: &random))
            rest = rest.dropFirst(piece.count)
            let step = redactor.keptSoFar(waiting + piece)
            kept += step.kept
            waiting = step.rest
            #expect(
                !kept.hasSuffix("hunter2-") && !kept.contains("sk-proj-a") && !kept.contains("MIIE"), "seed \(seed)")
        }
        #expect(kept + redactor.kept(waiting) == redactor.kept(whole), "seed \(seed)")
    }

    @Test("Text that does not look like a secret is not held back")
    func plain() {
        let redactor = redactor()
        for text in ["Half an ans", "a -----BEGIN CERTIFICATE-----\nMII", "risk", "the end."] {
            #expect(redactor.keptSoFar(text) == (text, ""), "\(text)")
        }
        #expect(redactor.keptSoFar("say hunt") == ("say ", "hunt"))
        #expect(redactor.keptSoFar("say sk-pr") == ("say ", "sk-pr"))
    }
}

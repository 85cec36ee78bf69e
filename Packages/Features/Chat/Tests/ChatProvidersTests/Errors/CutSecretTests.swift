import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

/// Errors show at most 500 characters of a server's words. These are so long that the cut goes through the key.
@Suite("A key that a server repeats at the end of long words", .timeLimit(.minutes(5)))
struct CutSecretTests {
    private static let words = String(repeating: "x", count: 485) + " " + Fixture.key

    private func expectClean(
        _ script: @escaping ScriptedServer.Script, as id: String = "openai",
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await Fixture.run(as: id, script) { fixture in
            let provider = try await fixture.provider()
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(provider) }
            let message = try #require(error).message
            #expect(message.contains("xxxx") && !message.contains("sk-test"), "\(message)")
        }
    }

    @Test("is not even shown by its beginning in a refusal", arguments: ["application/json", "text/plain"])
    func refusal(type: String) async throws {
        try await expectClean {
            try $0.reply(401, type == "text/plain" ? Self.words : Stream.error(Self.words), type: type)
        }
    }

    @Test("is not even shown by its beginning in an error of a stream")
    func stream() async throws {
        try await expectClean { try $0.stream(Stream.first + "data: \(Stream.error(Self.words))\n\n") }
    }

    @Test("is not even shown by its beginning in an error that is called one")
    func namedError() async throws {
        let error = #"{"type":"error","error":{"type":"x","message":"\#(Self.words)"}}"#
        let event = "event: error\ndata: \(error)\n\n"
        try await expectClean({ try $0.stream(event) }, as: "anthropic")
    }

    @Test("is not even shown by its beginning in an answer that is none")
    func malformed() async throws {
        let text = String(repeating: "x", count: 90) + " \(Fixture.key)"
        try await expectClean { try $0.stream("data: \(text)\n\n") }
        try await expectClean { try $0.reply("{\(text)}") }
    }
}

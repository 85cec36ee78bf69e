import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

/// Errors show at most 500 characters of a server's message. These are long enough that the cut goes through the key.
@Suite("Key repeated at the end of a long server message", .timeLimit(.minutes(5)))
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

    @Test("A refusal does not show even the beginning of the key", arguments: ["application/json", "text/plain"])
    func refusal(type: String) async throws {
        try await expectClean {
            try $0.reply(401, type == "text/plain" ? Self.words : Stream.error(Self.words), type: type)
        }
    }

    @Test("An error in a stream does not show even the beginning of the key")
    func stream() async throws {
        try await expectClean { try $0.stream(Stream.first + "data: \(Stream.error(Self.words))\n\n") }
    }

    @Test("A named error event does not show even the beginning of the key")
    func namedError() async throws {
        let error = #"{"type":"error","error":{"type":"x","message":"\#(Self.words)"}}"#
        let event = "event: error\ndata: \(error)\n\n"
        try await expectClean({ try $0.stream(event) }, as: "anthropic")
    }

    @Test("An invalid answer does not show even the beginning of the key")
    func malformed() async throws {
        let text = String(repeating: "x", count: 90) + " \(Fixture.key)"
        try await expectClean { try $0.stream("data: \(text)\n\n") }
        try await expectClean { try $0.reply("{\(text)}") }
    }
}

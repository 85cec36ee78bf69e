import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import OpenAIDialect
import Testing

@Suite("OpenAI-compatible server", .timeLimit(.minutes(5)))
struct CompatibleTests {
    /// Asks a profile with these quirks at the scripted server.
    private func ask(
        _ quirks: OpenAIQuirks, path: String = "", _ script: @escaping ScriptedServer.Script,
        _ body: (Heard, Result<ChatAnswer, any Error>, ServerRecord) throws -> Void
    ) async throws {
        try await ScriptedServer.run(script) { server in
            var setup = ProviderSetup(environment: [:])
            let address = "http://127.0.0.1:\(server.port)\(path)"
            setup.servers = [ChatServer(name: "lab", address: address, kind: .compatible(quirks))]
            let provider = try await ProviderDirectory(setup).provider(named: "lab")
            let heard = Heard()
            let result: Result<ChatAnswer, any Error>
            do { result = .success(try await heard.ask(provider)) } catch { result = .failure(error) }
            try body(heard, result, server.record)
            await setup.client.close()
        }
    }

    @Test(
        "The server is reached at the configured address, with only a missing version added",
        arguments: [("", "/v1"), ("/", "/v1"), ("/v1", "/v1"), ("/v1/", "/v1"), ("/openai/v2", "/openai/v2")])
    func address(path: String, base: String) async throws {
        try await ask(.compatible, path: path) {
            try $0.stream(Stream.hello)
        } _: { heard, result, record in
            #expect(heard.text == "Hello")
            #expect(record.requests.map(\.target) == ["\(base)/chat/completions"])
            #expect(record.requests.first?.headers["Authorization"] == nil)
        }
    }

    @Test("An old llama.cpp server reports its failure in an error field")
    func errorField() async throws {
        try await ask(.llamaCpp) {
            try $0.stream(Stream.first + Stream.text("Hel") + "error: {\"code\":500,\"message\":\"slot lost\"}\n\n")
        } _: { heard, result, _ in
            let error = #expect(throws: ChatError.self) { try result.get() }
            #expect(error?.kind == .serverFailed)
            #expect(error?.message.contains("slot lost") == true)
            #expect(heard.text == "Hel")
        }
    }

    @Test("Llama-cpp-python cuts the connection when the context overflows, and that is not an answer")
    func overflow() async throws {
        try await ask(.llamaCpp) {
            try $0.stream(Stream.first)
        } _: { _, result, record in
            let error = #expect(throws: ChatError.self) { try result.get() }
            #expect(error?.kind == .badAnswer || error?.kind == .streamLost)
            #expect(record.requests.count == 4)
        }
    }

    @Test("Ollama sends a call in one piece, which is passed on as one")
    func wholeCall() async throws {
        let call =
            #"{"role":"assistant","content":"","tool_calls":[{"id":"c9","index":0,"type":"function","function":{"name":"now","arguments":"{\"zone\":\"UTC\"}"}}]}"#
        try await ask(.ollama) {
            try $0.stream(Stream.chunk(call) + Stream.chunk("{}", finish: "\"tool_calls\"") + Stream.done)
        } _: { heard, result, _ in
            let answer = try result.get()
            #expect(answer.finish == .calls)
            #expect(answer.message.calls == [ToolCall(id: "c9", name: "now", input: ["zone": "UTC"])])
            #expect(heard.events.contains(.call(ToolCall(id: "c9", name: "now", input: ["zone": "UTC"]))))
        }
    }

    @Test("LiteLLM without a key answers with plain text, which is shown")
    func plainWords() async throws {
        try await ask(.liteLLM) {
            try $0.reply(500, "Internal Server Error", type: "text/plain")
        } _: { _, result, record in
            let error = #expect(throws: ChatError.self) { try result.get() }
            #expect(error?.message.contains("Internal Server Error") == true)
            #expect(record.requests.count == 1)
        }
    }
}

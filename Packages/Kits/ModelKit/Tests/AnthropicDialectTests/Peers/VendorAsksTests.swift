import AnthropicDialect
import Capabilities
import DialectTesting
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import Synchronization
import Testing

@Suite("Requests of the vendor's library", .timeLimit(.minutes(5)))
struct VendorAsksTests {
    @Test("Requests of every kind arrive whole, and refusals name the field")
    func requests() async throws {
        let asked = Asked()
        let chat = Route(.post, "/v1/messages", "messages", "Answers", .upload("The request")) { _, body in
            try await asked.answer(body.bytes())
        }
        let models = Route(.get, "/v1/models", "models", "The models") { _ in
            let all = ["a", "b"].map { ModelDescription(id: $0, provider: "us", contextTokens: 9) }
            return HTTPAnswer.json(JSON.object(AnthropicDialect.modelList(all)))
        }
        try await VendorPeer.withServer([chat, models]) { url in
            let lines = try await VendorPeer.lines("anthropic_ask.py", [url])
            #expect(
                lines == [
                    "models [('a', 'a', 9), ('b', 'b', 9)]", "streamed hello (10+2 tokens)",
                    "refused 400 invalid_request_error messages[0].content[0].text must be a string, not an integer",
                ])
        }
        #expect(asked.requests.map(\.chat) == [Self.pictures, Self.calls, Self.stream])
    }

    private static var pictures: ChatRequest {
        var options = ModelOptions()
        (options.maxTokens, options.stop, options.effort) = (100, ["END"], .low)
        options.thinking = .tokens(4096)
        let question: [Message.Part] = [
            .text("What is this?"),
            .attachment(
                Attachment(name: "image", mediaType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])),
            .attachment(Attachment(name: "a.pdf", mediaType: "application/pdf", bytes: Array("%PDF".utf8))),
        ]
        return ChatRequest(
            model: "a", messages: [Message(.system, "Be brief."), Message(.user, question)], options: options,
            streams: false, extras: ["metadata": ["user_id": "ada"]])
    }

    private static var calls: ChatRequest {
        var options = ModelOptions()
        (options.maxTokens, options.temperature) = (5, 0.5)
        var request = ChatRequest(
            model: "b",
            messages: [
                Message(.user, "Read both."),
                Message(
                    .assistant,
                    [
                        .reasoning(Reasoning("hm", signature: "sig")), .reasoning(Reasoning("", sealed: "data")),
                        .call(ToolCall(id: "c1", name: "read", input: ["path": "a"])),
                    ]), Message(.tool, [.result(ToolResult(call: "c1", content: "no file", isError: true))]),
                Message(.user, "Go on."),
            ],
            tools: [
                ToolDescription(
                    name: "read", summary: "Reads a file",
                    input: ["type": "object", "properties": ["path": ["type": "string"]]], effect: .writes)
            ], options: options, streams: false, extras: ["session_id": "s1"])
        request.toolChoice = .auto
        return request
    }

    private static var stream: ChatRequest {
        var options = ModelOptions()
        options.maxTokens = 9
        return ChatRequest(model: "c", messages: [Message(.user, "hi")], options: options)
    }
}

/// Answers requests and records them.
private final class Asked: Sendable {
    private let all = Mutex<[AnthropicRequest]>([])
    var requests: [AnthropicRequest] { all.withLock { $0 } }

    func answer(_ body: [UInt8]) -> HTTPAnswer {
        let request: AnthropicRequest
        do {
            request = try AnthropicRequest(parsing: body)
        } catch {
            let refusal = error.refusal ?? ServerRefusal(message: error.message)
            return .json(JSON.object(AnthropicDialect.envelope(refusal)), status: .badRequest)
        }
        all.withLock { $0.append(request) }
        let usage = Usage(inputTokens: 10, outputTokens: 2)
        let spoken = Spoken("hello", [.text("hello")], .stop, "end_turn", usage)
        guard request.chat.streams else { return .json(JSON.object(spoken.reply)) }
        return .events { events in for frame in spoken.frames { try await events.send(frame) } }
    }
}

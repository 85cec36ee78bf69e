import Capabilities
import DialectTesting
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import OpenAIDialect
import Synchronization
import Testing

@Suite("Requests of the vendor's library", .timeLimit(.minutes(5)))
struct VendorAsksTests {
    @Test("Requests of every kind arrive whole, and refusals name the field")
    func requests() async throws {
        let asked = Asked()
        let chat = Route(.post, "/v1/chat/completions", "chat", "Answers", .upload("The request")) { _, body in
            try await asked.answer(body.bytes())
        }
        let models = Route(.get, "/v1/models", "models", "The models") { _ in
            let all = ["a", "b"].map { ModelDescription(id: $0, provider: "us", contextTokens: 9) }
            return HTTPAnswer.json(JSON.object(OpenAIDialect.modelList(all, created: 1)))
        }
        try await VendorPeer.withServer([chat, models]) { url in
            let lines = try await VendorPeer.lines("openai_ask.py", ["\(url)/v1"])
            #expect(
                lines == [
                    "models [('a', 'us'), ('b', 'us')]", "streamed hello (12 tokens)",
                    "refused 400 invalid_request_error messages[0].content[0].text invalid_type",
                ])
        }
        #expect(asked.requests.map(\.chat) == [Self.pictures, Self.calls, Self.stream])
        #expect(asked.requests.map(\.wantsUsage) == [false, false, true])
    }

    private static var pictures: ChatRequest {
        var options = ModelOptions()
        (options.temperature, options.topP, options.maxTokens) = (0.5, 1, 100)
        (options.stop, options.seed, options.effort) = (["END"], 7, .low)
        let question: [Message.Part] = [
            .text("What is this?"),
            .attachment(
                Attachment(name: "image", mediaType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])),
            .attachment(Attachment(name: "a.pdf", mediaType: "application/pdf", bytes: Array("%PDF".utf8))),
        ]
        return ChatRequest(
            model: "a", messages: [Message(.system, "Be brief."), Message(.user, question)], options: options,
            streams: false, extras: ["user": "ada", "session_id": "s1"])
    }

    private static var calls: ChatRequest {
        var options = ModelOptions()
        (options.maxTokens, options.stop) = (5, ["x", "y"])
        let bad = MalformedCall(
            id: "c2", name: "read", text: #"{"path":"#,
            reason: "the input is not JSON: line 1, column 9: expected a value, found the end of the text")
        var request = ChatRequest(
            model: "b",
            messages: [
                Message(.user, "Read both."),
                Message(
                    .assistant,
                    [.call(ToolCall(id: "c1", name: "read", input: ["path": "a"])), .malformedCall(bad)]),
                Message(.tool, [.result(ToolResult(call: "c1", content: "text of a"))]),
                Message(.tool, [.result(ToolResult(call: "c2", content: "bad JSON"))]),
            ],
            tools: [
                ToolDescription(
                    name: "read", summary: "Reads a file",
                    input: ["type": "object", "properties": ["path": ["type": "string"]]], effect: .writes)
            ], options: options, schema: AnswerSchema(name: "answer", schema: ["type": "object"]), streams: false)
        request.toolChoice = .auto
        return request
    }

    private static var stream: ChatRequest {
        ChatRequest(model: "c", messages: [Message(.user, "hi")])
    }
}

/// Answers requests and records them.
private final class Asked: Sendable {
    private let all = Mutex<[OpenAIRequest]>([])
    var requests: [OpenAIRequest] { all.withLock { $0 } }

    func answer(_ body: [UInt8]) -> HTTPAnswer {
        let request: OpenAIRequest
        do {
            request = try OpenAIRequest(parsing: body)
        } catch {
            let refusal = error.refusal ?? ServerRefusal(message: error.message)
            return .json(JSON.object(OpenAIDialect.envelope(refusal)), status: .badRequest)
        }
        all.withLock { $0.append(request) }
        let usage = Usage(inputTokens: 10, outputTokens: 2)
        let spoken = Spoken("hello", [.text("hello")], .stop, "stop", usage)
        guard request.chat.streams else { return .json(JSON.object(spoken.reply)) }
        let frames = spoken.frames(includesUsage: request.wantsUsage)
        return .events { events in for frame in frames { try await events.send(ServerSentEvent(data: frame)) } }
    }
}

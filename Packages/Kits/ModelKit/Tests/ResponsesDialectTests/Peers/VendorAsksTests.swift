import Capabilities
import DialectTesting
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import ResponsesDialect
import Synchronization
import Testing

@Suite("Requests of the vendor's library", .timeLimit(.minutes(5)))
struct VendorAsksTests {
    @Test("Requests of every kind arrive whole, and refusals name the field")
    func requests() async throws {
        let asked = Asked()
        let chat = Route(.post, "/responses", "responses", "Answers", .upload("The request")) { _, body in
            try await asked.answer(body.bytes())
        }
        try await VendorPeer.withServer([chat]) { url in
            let lines = try await VendorPeer.lines("responses_ask.py", [url])
            #expect(
                lines == [
                    "streamed hello (12 tokens)",
                    "refused 400 invalid_request_error input[0].content[0].text invalid_type",
                ])
        }
        #expect(asked.requests.map(\.chat) == [Self.pictures, Self.calls, Self.stream])
    }

    private static var pictures: ChatRequest {
        var options = ModelOptions()
        (options.temperature, options.topP, options.maxTokens, options.effort) = (0.5, 1, 100, .low)
        let question: [Message.Part] = [
            .text("What is this?"),
            .attachment(
                Attachment(name: "image", mediaType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])),
            .attachment(Attachment(name: "a.pdf", mediaType: "application/pdf", bytes: Array("%PDF".utf8))),
        ]
        return ChatRequest(
            model: "a", messages: [Message(.system, "Be brief."), Message(.user, question)], options: options,
            streams: false, extras: ["user": "ada"])
    }

    private static var calls: ChatRequest {
        let sealed =
            #"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}"#
        let answer: [Message.Part] = [
            .reasoning(Reasoning("hm", sealed: sealed)), .text("Yes."),
            .call(ToolCall(id: "c1", name: "read", input: ["path": "a"])),
        ]
        return ChatRequest(
            model: "b",
            messages: [
                Message(.user, "Read both."), Message(.assistant, answer),
                Message(.tool, [.result(ToolResult(call: "c1", content: "text of a"))]),
            ],
            tools: [
                ToolDescription(
                    name: "read", summary: "Reads a file",
                    input: ["type": "object", "properties": ["path": ["type": "string"]]], effect: .writes)
            ], schema: AnswerSchema(name: "answer", schema: ["type": "object"]), streams: false)
    }

    private static var stream: ChatRequest {
        ChatRequest(model: "c", messages: [Message(.user, "hi")])
    }
}

/// Answers requests and records them.
private final class Asked: Sendable {
    private let all = Mutex<[ResponsesRequest]>([])
    var requests: [ResponsesRequest] { all.withLock { $0 } }

    func answer(_ body: [UInt8]) -> HTTPAnswer {
        let request: ResponsesRequest
        do {
            request = try ResponsesRequest(parsing: body)
        } catch {
            let refusal = error.refusal ?? ServerRefusal(message: error.message)
            return .json(JSON.object(ResponsesDialect.envelope(refusal)), status: .badRequest)
        }
        all.withLock { $0.append(request) }
        let usage = Usage(inputTokens: 10, outputTokens: 2)
        let spoken = Spoken("hello", [.text("hello")], .stop, "completed", usage)
        guard request.chat.streams else { return .json(JSON.object(spoken.reply)) }
        return .events { events in for frame in spoken.frames { try await events.send(frame) } }
    }
}

import Capabilities
import CoreTesting
import JSON
import OpenAIDialect
import Testing

@Suite("Requests from our client to our server")
struct RoundTripTests {
    @Test("A random request is read back equal")
    func requests() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let request = Self.request(&random)
            let body = try OpenAIDialect(.openAI).body(of: request)
            let read = try OpenAIRequest(parsing: Array(JSON.object(body).text().utf8))
            try #require(read.chat == request, "seed \(seed)")
            #expect(read.wantsUsage == request.streams)
        }
    }

    private static func request(_ random: inout SeededGenerator) -> ChatRequest {
        var request = ChatRequest(
            model: ["gpt-5", "gpt-4o", "x"].randomElement(using: &random) ?? "x",
            messages: [Message(.system, word(&random)), Message(.user, word(&random))], streams: .random(using: &random)
        )
        for number in 0..<Int.random(in: 0..<4, using: &random) {
            let call = ToolCall(
                id: "c\(number)", name: "read", input: ["a": .string(word(&random)), "b": [1, 2.5, nil]])
            var answer: [Message.Part] = Bool.random(using: &random) ? [.text(word(&random))] : []
            if Bool.random(using: &random) { answer.append(.refusal(word(&random))) }
            request.messages += [
                Message(.assistant, answer + [.call(call)]),
                Message(.tool, [.result(ToolResult(call: call.id, content: word(&random)))]),
            ]
        }
        if Bool.random(using: &random) {
            let bytes = (0..<Int.random(in: 0..<9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let files = [
                Attachment(name: "image", mediaType: "image/png", bytes: bytes),
                Attachment(name: "ä.pdf", mediaType: "application/pdf", bytes: bytes),
            ]
            request.messages.append(Message(.user, [.text(word(&random))] + files.map(Message.Part.attachment)))
        }
        if Bool.random(using: &random) { request.options.temperature = Double.random(in: 0...2, using: &random) }
        if Bool.random(using: &random) { request.options.maxTokens = Int.random(in: 1...99_999, using: &random) }
        if Bool.random(using: &random) { request.options.stop = [word(&random), word(&random)] }
        if Bool.random(using: &random) { request.options.seed = Int.random(in: .min ... .max, using: &random) }
        if Bool.random(using: &random) {
            request.options.effort = ModelOptions.Effort.allCases.randomElement(using: &random)
        }
        if Bool.random(using: &random) {
            request.tools = [ToolDescription(name: "read", summary: word(&random), input: ["a": 1], effect: .writes)]
            request.schema = AnswerSchema(name: "answer", schema: ["type": "object"])
            request.toolChoice = [.auto, .never, .required, .tool("read")].randomElement(using: &random)
            request.parallelCalls = [true, false].randomElement(using: &random)
            request.extras = ["session_id": .string(word(&random))]
        }
        return request
    }

    private static func word(_ random: inout SeededGenerator) -> String {
        let pieces = ["a", "é", "😀", "\"", "\\", "\n", "\u{2028}", "</user>", "\u{0}", " "]
        return "w"
            + (0..<Int.random(in: 0..<6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }
}

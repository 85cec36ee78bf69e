import AnthropicDialect
import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Requests from our client to our server")
struct RoundTripTests {
    @Test("A random request is read back equal")
    func requests() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let request = Self.request(&random)
            let body = try AnthropicDialect().body(of: request)
            var read = try AnthropicRequest(parsing: Array(JSON.object(body).text().utf8)).chat
            // An effort is written in the form that the model understands.
            read.options.thinking = nil
            try #require(read == request, "seed \(seed)")
        }
    }

    private static func request(_ random: inout SeededGenerator) -> ChatRequest {
        var request = ChatRequest(
            model: ["claude-haiku-4-5", "claude-opus-4-8", "x"].randomElement(using: &random) ?? "x",
            messages: [Message(.system, word(&random)), Message(.user, word(&random))], streams: .random(using: &random)
        )
        for number in 0..<Int.random(in: 0..<4, using: &random) {
            let call = ToolCall(
                id: "c\(number)", name: "read", input: ["a": .string(word(&random)), "b": [1, 2.5, nil]])
            var answer: [Message.Part] = Bool.random(using: &random) ? [.text(word(&random))] : []
            if Bool.random(using: &random) {
                answer.insert(.reasoning(Reasoning(word(&random), signature: word(&random))), at: 0)
            }
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
            let parts = [.text(word(&random))] + files.map(Message.Part.attachment)
            request.messages += [Message(.assistant, word(&random)), Message(.user, parts)]
        }
        request.options.maxTokens = Int.random(in: 64_000...99_999, using: &random)
        if Bool.random(using: &random) {
            request.options.effort = [.low, .medium, .high].randomElement(using: &random)
        } else if Bool.random(using: &random) {
            request.options.temperature = Double.random(in: 0...1, using: &random)
        }
        if Bool.random(using: &random) { request.options.stop = [word(&random), word(&random)] }
        if Bool.random(using: &random) {
            request.tools = [ToolDescription(name: "read", summary: word(&random), input: ["a": 1], effect: .writes)]
            request.toolChoice = [.auto, .never, .required, .tool("read")].randomElement(using: &random)
            if request.toolChoice != .never { request.parallelCalls = Bool.random(using: &random) ? false : nil }
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

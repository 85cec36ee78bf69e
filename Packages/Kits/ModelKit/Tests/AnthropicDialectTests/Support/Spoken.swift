import AnthropicDialect
import Capabilities
import DialectTesting
import HTTPCore
import JSON

/// An answer that our server writes, as events and as a whole.
struct Spoken: Sendable {
    let name: String
    let answer: ChatAnswer
    /// The stop reason on the wire.
    let word: String

    init(
        _ name: String, _ parts: [Message.Part], _ finish: ChatAnswer.Finish, _ word: String, _ usage: Usage = Usage()
    ) {
        self.name = name
        self.word = word
        let start = ChatStart(id: "msg_1", model: "a-model")
        answer = ChatAnswer(start: start, message: Message(.assistant, parts), finish: finish, usage: usage)
    }

    var frames: [ServerSentEvent] {
        var writer = AnthropicWriter(id: "msg_1", model: "asked-for")
        var frames: [AnthropicWriter.Frame] = []
        for event in answer.events { writer.write(event, into: &frames) }
        writer.end(answer, into: &frames)
        return frames.map { ServerSentEvent(type: $0.name, data: $0.data) }
    }

    var reply: JSONObject { AnthropicWriter(id: "msg_1", model: "asked-for").reply(answer) }

    /// How a client reads it: refusals are text, broken input is an object, and unknown usage is zero.
    var expected: Reading {
        var reading = Reading(answer)
        (reading.text, reading.refusal) = (reading.text + reading.refusal, "")
        reading.calls.removeAll { $0.hasSuffix(", done") }
        reading.calls += answer.message.parts.compactMap { part in
            guard case .malformedCall(let call) = part else { return nil }
            let input: JSON = ["invalid_json": .string(call.text)]
            return "\(call.id) \(call.name) \(input.text())"
        }
        (reading.badCalls, reading.results, reading.usage.cost) = ([], [], nil)
        reading.usage.inputTokens = reading.usage.inputTokens ?? 0
        reading.usage.outputTokens = reading.usage.outputTokens ?? 0
        return reading
    }

    static let all = [
        Spoken(
            "text", [.text("Grüße 😀\n\u{2028}\"quoted\"")], .stop, "end_turn", Usage(inputTokens: 3, outputTokens: 9)),
        Spoken("thoughts", [.reasoning(Reasoning("hm")), .text("ok")], .length, "max_tokens"),
        Spoken("a refusal", [.refusal("No.")], .refused, "refusal"),
        Spoken("another reason", [.text("The")], .other("pause_turn"), "pause_turn"),
        Spoken(
            "calls",
            [
                .text("Let me see."), .call(ToolCall(id: "c1", name: "read", input: ["path": "a", "n": 1.5])),
                .call(ToolCall(id: "c2", name: "list", input: [:])),
                .malformedCall(MalformedCall(id: "c3", name: "list", text: "{\"a\":", reason: "cut")),
            ], .calls, "tool_use",
            Usage(inputTokens: 10, outputTokens: 2, cachedTokens: 4, cacheWriteTokens: 3, reasoningTokens: 0)),
        Spoken(
            "an agent's work",
            [
                .text("Looking."), .call(ToolCall(id: "t1", name: "Bash", input: ["command": "ls"], isDone: true)),
                .result(ToolResult(call: "t1", content: "a\nb")), .text(" Done."),
            ], .stop, "end_turn", Usage(inputTokens: 10, outputTokens: 4, cost: Cost(nanodollars: 250_000_000))),
    ]
}

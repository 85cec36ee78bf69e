import Capabilities
import DialectTesting
import HTTPCore
import JSON
import ResponsesDialect

/// An answer that our server writes, as events and as a whole.
struct Spoken: Sendable {
    let name: String
    let answer: ChatAnswer
    /// The status on the wire.
    let word: String

    init(
        _ name: String, _ parts: [Message.Part], _ finish: ChatAnswer.Finish, _ word: String, _ usage: Usage = Usage()
    ) {
        self.name = name
        self.word = word
        let start = ChatStart(id: "resp_1", model: "a-model")
        answer = ChatAnswer(start: start, message: Message(.assistant, parts), finish: finish, usage: usage)
    }

    var frames: [ServerSentEvent] {
        var writer = ResponsesWriter(id: "resp_1", created: 1_760_000_000, model: "asked-for")
        var frames: [ResponsesWriter.Frame] = []
        for event in answer.events { writer.write(event, into: &frames) }
        writer.end(answer, into: &frames)
        return frames.map { ServerSentEvent(type: $0.name, data: $0.data) }
    }

    var reply: JSONObject { ResponsesWriter(id: "resp_1", created: 1_760_000_000, model: "asked-for").reply(answer) }

    /// How a client reads it: without server-side tools and without the cost.
    var expected: Reading {
        var reading = Reading(answer)
        reading.calls.removeAll { $0.hasSuffix(", done") }
        (reading.results, reading.usage.cost) = ([], nil)
        if reading.usage.inputTokens != nil {
            reading.usage.cachedTokens = reading.usage.cachedTokens ?? 0
            reading.usage.cacheWriteTokens = reading.usage.cacheWriteTokens ?? 0
            reading.usage.reasoningTokens = reading.usage.reasoningTokens ?? 0
        }
        return reading
    }

    static let all = [
        Spoken(
            "text", [.text("Grüße 😀\n\u{2028}\"quoted\"")], .stop, "completed", Usage(inputTokens: 3, outputTokens: 9)),
        Spoken("thoughts", [.reasoning(Reasoning("hm")), .text("ok")], .length, "incomplete"),
        Spoken("a refusal", [.refusal("No.")], .refused, "completed"),
        Spoken("a filter", [.text("The")], .refused, "incomplete"),
        Spoken("another reason", [.text("The")], .other("incomplete"), "incomplete"),
        Spoken(
            "calls",
            [
                .text("Let me see."), .call(ToolCall(id: "c1", name: "read", input: ["path": "a", "n": 1.5])),
                .call(ToolCall(id: "c2", name: "list", input: [:])),
                .malformedCall(MalformedCall(id: "c3", name: "list", text: "{\"a\":", reason: "cut")),
            ], .calls, "completed",
            Usage(inputTokens: 10, outputTokens: 2, cachedTokens: 4, cacheWriteTokens: 3, reasoningTokens: 0)),
        Spoken(
            "an agent's work",
            [
                .text("Looking."), .call(ToolCall(id: "t1", name: "Bash", input: ["command": "ls"], isDone: true)),
                .result(ToolResult(call: "t1", content: "a\nb")), .text(" Done."),
            ], .stop, "completed", Usage(inputTokens: 10, outputTokens: 4, cost: Cost(nanodollars: 250_000_000))),
    ]
}

import Capabilities
import DialectTesting
import HTTPCore
import JSON
import OpenAIDialect

/// An answer that our server writes, as events and as a whole.
struct Spoken: Sendable {
    let name: String
    let answer: ChatAnswer
    /// The finish reason on the wire.
    let word: String

    init(
        _ name: String, _ parts: [Message.Part], _ finish: ChatAnswer.Finish, _ word: String, _ usage: Usage = Usage()
    ) {
        self.name = name
        self.word = word
        let start = ChatStart(id: "chatcmpl-1", model: "a-model")
        answer = ChatAnswer(start: start, message: Message(.assistant, parts), finish: finish, usage: usage)
    }

    func frames(isRich: Bool = false, includesUsage: Bool = true) -> [[UInt8]] {
        var writer = OpenAIWriter(id: "chatcmpl-1", created: 1_760_000_000, model: "asked-for")
        writer.isRich = isRich
        writer.includesUsage = includesUsage
        var frames: [[UInt8]] = []
        for event in answer.events { writer.write(event, into: &frames) }
        writer.end(answer, into: &frames)
        return frames
    }

    var reply: JSONObject { OpenAIWriter(id: "chatcmpl-1", created: 1, model: "asked-for").reply(answer) }

    static let all = [
        Spoken("text", [.text("Grüße 😀\n\u{2028}\"quoted\"")], .stop, "stop", Usage(inputTokens: 3, outputTokens: 9)),
        Spoken("thoughts", [.reasoning(Reasoning("hm")), .text("ok")], .length, "length"),
        Spoken("a refusal", [.refusal("No.")], .refused, "stop"),
        Spoken("a filter", [.text("The")], .refused, "content_filter"),
        Spoken(
            "calls",
            [
                .text("Let me see."), .call(ToolCall(id: "c1", name: "read", input: ["path": "a", "n": 1.5])),
                .call(ToolCall(id: "c2", name: "list", input: [:])),
                .malformedCall(MalformedCall(id: "c3", name: "list", text: "{\"a\":", reason: "cut")),
            ], .calls, "tool_calls",
            Usage(inputTokens: 1, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0, cost: Cost(nanodollars: 5))),
    ]

    static let agent = Spoken(
        "an agent's work",
        [
            .text("Looking."), .call(ToolCall(id: "t1", name: "Bash", input: ["command": "ls"], isDone: true)),
            .result(ToolResult(call: "t1", content: "a\nb", duration: .milliseconds(12), exitCode: 0)), .text("Done."),
        ], .stop, "stop", Usage(inputTokens: 10, outputTokens: 4, cost: Cost(nanodollars: 250_000_000)))
}

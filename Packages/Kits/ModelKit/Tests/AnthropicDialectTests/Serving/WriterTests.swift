import AnthropicDialect
import Capabilities
import DialectTesting
import HTTPCore
import JSON
import ModelKit
import Testing

@Suite("What the server side writes is what it was told")
struct WriterTests {
    @Test("our reader puts the same answer together", arguments: Spoken.all.indices)
    func again(_ number: Int) throws {
        let spoken = Spoken.all[number]
        #expect(try hear(spoken.frames).reading == spoken.expected)

        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        let whole = try AnthropicDialect().answer(in: body, into: &events)
        #expect(Reading(whole) == spoken.expected)
        #expect(events.first == .began(ChatStart(id: "msg_1", model: "a-model")))
    }

    @Test("every event has a name, which its data repeats, and no line break")
    func names() throws {
        for event in Spoken.all.flatMap(\.frames) {
            #expect(try JSON(parsing: Array(event.data))["type"] == .string(event.type))
            #expect(!event.data.contains(10) && !event.data.contains(13))
        }
    }

    @Test("blocks begin and end in order, with texts of one kind in one block")
    func blocks() throws {
        let types = Spoken.all[4].frames.map(\.type).filter { $0 != "content_block_delta" }
        let block = ["content_block_start", "content_block_stop"]
        #expect(types == ["message_start"] + block + block + block + block + ["message_delta", "message_stop"])
    }

    @Test("proofs of thoughts are in a whole answer, for them to be sent back")
    func proofs() throws {
        let thoughts: [Message.Part] = [
            .reasoning(Reasoning("hm", signature: "sig")), .reasoning(Reasoning("", sealed: "data")), .text("ok"),
        ]
        let spoken = Spoken("proofs", thoughts, .stop, "end_turn")
        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        #expect(try AnthropicDialect().answer(in: body, into: &events).message.parts == thoughts)
    }

    @Test("proofs of thoughts are streamed before their block ends, and sealed thoughts as blocks of their own")
    func streamedProofs() throws {
        let thoughts: [Message.Part] = [
            .reasoning(Reasoning("hm", signature: "sig")), .reasoning(Reasoning("", sealed: "data")),
            .reasoning(Reasoning("", signature: "kept back")), .call(ToolCall(id: "c", name: "t", input: [:])),
        ]
        let heard = try hear(Spoken("proofs", thoughts, .calls, "tool_use").frames)
        #expect(heard.answer.message.parts == thoughts)
    }

    @Test("the first event tells what the input took, where that is known by then")
    func startUsage() throws {
        var writer = AnthropicWriter(id: "x", model: "m")
        var frames: [AnthropicWriter.Frame] = []
        let usage = Usage(inputTokens: 70, outputTokens: 1, cachedTokens: 20)
        for event in [ChatEvent.began(ChatStart()), .usage(usage), .text("Hi")] { writer.write(event, into: &frames) }
        let start = try JSON(parsing: try #require(frames.first).data)
        #expect(start["type"] == "message_start")
        #expect(start["message"]?["usage"]?["input_tokens"] == 50)
        #expect(start["message"]?["usage"]?["cache_read_input_tokens"] == 20)
    }

    @Test("a reason that clients have no word for is told as the usual one", arguments: ["abort", "STOP"])
    func reasons(_ word: String) {
        let spoken = Spoken("odd", [.text("The")], .other(word), "end_turn")
        #expect(spoken.reply["stop_reason"] == "end_turn")
    }

    @Test("a failure in the midst of a stream is read as one, with its words")
    func failure() throws {
        var writer = AnthropicWriter(id: "x", model: "m")
        var frames: [AnthropicWriter.Frame] = []
        writer.write(.text("Half"), into: &frames)
        writer.fail(ServerRefusal(message: "it broke", type: "overloaded_error"), into: &frames)
        let reading = try hear(frames.map { ServerSentEvent(type: $0.name, data: $0.data) }).reading
        #expect(reading.text == "Half" && reading.failure == "model.failed" && reading.words == "it broke")
        #expect(frames.last?.name == "error")
    }

    @Test(
        "an error goes with its status",
        arguments: [
            (400, "invalid_request_error"), (401, "authentication_error"),
            (418, "invalid_request_error"), (429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error"),
        ])
    func statuses(_ status: Int, _ type: String) {
        #expect(AnthropicDialect.errorType(status: status) == type)
    }

    /// Hears events as they would come from a parser.
    private func hear(_ events: [ServerSentEvent]) throws -> Heard {
        let text = events.map { "event: \($0.type)\ndata: \($0.text)\n\n" }.joined()
        return try AnthropicDialectTests.hear([Array(text.utf8)])
    }
}

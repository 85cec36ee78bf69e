import AnthropicDialect
import Capabilities
import DialectTesting
import HTTPCore
import JSON
import ModelKit
import Testing

@Suite("Answer writer")
struct WriterTests {
    @Test("Our reader reads back the same answer", arguments: Spoken.all.indices)
    func again(_ number: Int) throws {
        let spoken = Spoken.all[number]
        #expect(try hear(spoken.frames).reading == spoken.expected)

        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        let whole = try AnthropicDialect().answer(in: body, into: &events)
        #expect(Reading(whole) == spoken.expected)
        #expect(events.first == .began(ChatStart(id: "msg_1", model: "a-model")))
    }

    @Test("Every event has a name, repeated in its data, and no line break")
    func names() throws {
        for event in Spoken.all.flatMap(\.frames) {
            #expect(try JSON(parsing: Array(event.data))["type"] == .string(event.type))
            #expect(!event.data.contains(10) && !event.data.contains(13))
        }
    }

    @Test("Blocks begin and end in order, with text of one kind in one block")
    func blocks() throws {
        let types = Spoken.all[4].frames.map(\.type).filter { $0 != "content_block_delta" }
        let block = ["content_block_start", "content_block_stop"]
        #expect(types == ["message_start"] + block + block + block + block + ["message_delta", "message_stop"])
    }

    @Test("A whole answer contains the signatures of its reasoning, to be sent back")
    func proofs() throws {
        let thoughts: [Message.Part] = [
            .reasoning(Reasoning("hm", signature: "sig")), .reasoning(Reasoning("", sealed: "data")), .text("ok"),
        ]
        let spoken = Spoken("proofs", thoughts, .stop, "end_turn")
        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        #expect(try AnthropicDialect().answer(in: body, into: &events).message.parts == thoughts)
    }

    @Test("Signatures are streamed before their block ends, and sealed reasoning has its own blocks")
    func streamedProofs() throws {
        let thoughts: [Message.Part] = [
            .reasoning(Reasoning("hm", signature: "sig")), .reasoning(Reasoning("", sealed: "data")),
            .reasoning(Reasoning("", signature: "kept back")), .call(ToolCall(id: "c", name: "t", input: [:])),
        ]
        let heard = try hear(Spoken("proofs", thoughts, .calls, "tool_use").frames)
        #expect(heard.answer.message.parts == thoughts)
    }

    /// A shortened answer of Anthropic with a web search.
    private static let searched = #"""
        {"id":"msg_1","type":"message","role":"assistant","model":"a-model","content":[
        {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"martlet"}},
        {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[
        {"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"x","page_age":null}]},
        {"type":"text","text":"A bird"}],
        "stop_reason":"stop_sequence","stop_sequence":"END","usage":{"input_tokens":3,"output_tokens":2}}
        """#

    @Test("Server-side tools and the stop word are passed on unchanged")
    func serverTools() throws {
        let told = try JSON(parsing: Array(Self.searched.utf8))
        var events: [ChatEvent] = []
        let answer = try AnthropicDialect().answer(in: Array(Self.searched.utf8), into: &events)
        let writer = AnthropicWriter(id: "msg_1", model: "a-model")
        let reply = JSON.object(writer.reply(answer))
        for name in ["content", "stop_reason", "stop_sequence"] { #expect(reply[name] == told[name], "\(name)") }

        var streamed = writer
        var frames: [AnthropicWriter.Frame] = []
        for event in events { streamed.write(event, into: &frames) }
        streamed.end(answer, into: &frames)
        let heard = try hear(frames.map { ServerSentEvent(type: $0.name, data: $0.data) })
        #expect(heard.answer.message.parts == answer.message.parts && heard.answer.stopWord == "END")
        let starts = try frames.filter { $0.name == "content_block_start" }.map {
            try JSON(parsing: $0.data)["content_block"]?["type"]
        }
        #expect(starts == ["server_tool_use", "web_search_tool_result", "text"])
    }

    @Test("Tools of another server are left out, because a client would run them")
    func otherTools() throws {
        let call = ToolCall(id: "toolu_1", name: "Bash", input: [:], isDone: true)
        let answer = ChatAnswer(
            start: ChatStart(),
            message: Message(.assistant, [.call(call), .result(ToolResult(call: "toolu_1", content: "x"))]),
            finish: .stop)
        #expect(AnthropicWriter(id: "m", model: "a").reply(answer)["content"] == [])
    }

    @Test("The first event has the input usage if it is known by then")
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

    @Test("An unknown stop reason is written as the usual one", arguments: ["abort", "STOP"])
    func reasons(_ word: String) {
        let spoken = Spoken("odd", [.text("The")], .other(word), "end_turn")
        #expect(spoken.reply["stop_reason"] == "end_turn")
    }

    @Test("A failure in the middle of a stream is read as a failure, with its message")
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
        "An error is written with its status",
        arguments: [
            (400, "invalid_request_error"), (401, "authentication_error"),
            (418, "invalid_request_error"), (429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error"),
        ])
    func statuses(_ status: Int, _ type: String) {
        #expect(AnthropicDialect.errorType(status: status) == type)
    }

    /// Reads events as they would come from a parser.
    private func hear(_ events: [ServerSentEvent]) throws -> Heard {
        let text = events.map { "event: \($0.type)\ndata: \($0.text)\n\n" }.joined()
        return try AnthropicDialectTests.hear([Array(text.utf8)])
    }
}

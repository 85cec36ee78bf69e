import Capabilities
import DialectTesting
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Answer writer")
struct WriterTests {
    @Test("Our reader reads back the same answer", arguments: Spoken.all.indices)
    func again(_ number: Int) throws {
        let spoken = Spoken.all[number]
        let data = spoken.frames().map { String(decoding: $0, as: UTF8.self) }
        var expected = Reading(spoken.answer)
        // A filter's finish reason is read back; so is a refusal in words.
        #expect(try hear(data: data).reading == expected)

        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        let whole = try OpenAIDialect(.compatible).answer(in: body, into: &events)
        expected.model = "a-model"
        #expect(Reading(whole) == expected)
        #expect(data.last == "[DONE]")
        #expect(data.allSatisfy { !$0.contains("\n") })
    }

    @Test("A rich stream has finished tools and the total cost")
    func rich() throws {
        let data = Spoken.agent.frames(isRich: true, includesUsage: false).map { String(decoding: $0, as: UTF8.self) }
        #expect(try hear(data: data, .gateway).reading == Reading(Spoken.agent.answer))
        #expect(
            data.contains(
                #"{"object":"tool_result","tool_id":"t1","name":"Bash","is_error":false,"duration_ms":12,"#
                    + #""exit_code":0,"content":"a\nb"}"#))
        #expect(data.contains { $0.hasPrefix(#"{"object":"usage","prompt_tokens":10,"input_tokens":10,"#) })
        #expect(!data.contains { $0.contains("tool_calls") })
    }

    @Test("A stream names the model, known from a certain point on")
    func model() {
        var writer = OpenAIWriter(id: "x", created: 7, model: "claude/default")
        var frames: [[UInt8]] = []
        let events: [ChatEvent] = [
            .began(ChatStart()), .text("a"), .began(ChatStart(model: "claude/real")), .text("b"),
        ]
        for event in events { writer.write(event, into: &frames) }
        let names = frames.map { String(decoding: $0, as: UTF8.self) }.map { $0.contains("claude/real") }
        #expect(names == [false, false, true])
    }

    @Test("A plain stream has whole server-side calls, and never requests their results")
    func plain() throws {
        let data = Spoken.agent.frames().map { String(decoding: $0, as: UTF8.self) }
        let reading = try hear(data: data, .gateway).reading
        #expect(reading.calls == [#"t1 Bash {"command":"ls"}, done"#])
        #expect(reading.finish == .stop)
        #expect(!data.contains { $0.contains(#""finish_reason":"tool_calls""#) })
    }

    @Test("A whole answer of a gateway has its session, and usage under both names")
    func reply() {
        var answer = Spoken.agent.answer
        (answer.start.session, answer.start.project) = ("s1", "p1")
        let reply = OpenAIWriter(id: "x", created: 7, model: "m").reply(answer)
        #expect(reply["object"] == "chat.completion")
        #expect(reply["session_id"] == "s1" && reply["project_id"] == "p1")
        let usage: JSON = [
            "prompt_tokens": 10, "input_tokens": 10, "completion_tokens": 4, "output_tokens": 4, "total_tokens": 14,
            "total_cost": 0.25,
        ]
        #expect(reply["usage"] == usage)
    }

    @Test("Unknown values are not written")
    func unknownUsage() throws {
        let spoken = Spoken("nothing known", [.text("a")], .stop, "stop")
        let data = spoken.frames().map { String(decoding: $0, as: UTF8.self) }
        #expect(!data.contains { $0.contains("usage") })
        #expect(spoken.reply["usage"] == nil)
    }

    @Test("A failure in the middle of a stream is read as a failure, with its message")
    func failure() throws {
        var writer = OpenAIWriter(id: "x", created: 7, model: "m")
        var frames: [[UInt8]] = []
        writer.write(.text("Half"), into: &frames)
        writer.fail(ServerRefusal(message: "it broke", type: "error", code: "stream_error"), into: &frames)
        let reading = try hear(data: frames.map { String(decoding: $0, as: UTF8.self) }).reading
        #expect(reading == Reading(model: "m", text: "Half", failure: "model.failed", words: "it broke"))
        #expect(frames.last == Array("[DONE]".utf8))
    }
}

import Capabilities
import DialectTesting
import HTTPCore
import JSON
import ModelKit
import ResponsesDialect
import Testing

@Suite("Answer writer")
struct WriterTests {
    @Test("Our reader reads back the same answer", arguments: Spoken.all.indices)
    func again(_ number: Int) throws {
        let spoken = Spoken.all[number]
        #expect(try hear(spoken.frames).reading == spoken.expected)

        var events: [ChatEvent] = []
        let body = Array(JSON.object(spoken.reply).text().utf8)
        let whole = try ResponsesDialect().answer(in: body, into: &events)
        #expect(Reading(whole) == spoken.expected)
        #expect(events.first == .began(ChatStart(id: "resp_1", model: "a-model")))
    }

    @Test("Every event has a name, repeated in its data, and no line break")
    func names() throws {
        for event in Spoken.all.flatMap(\.frames) {
            #expect(try JSON(parsing: Array(event.data))["type"] == .string(event.type))
            #expect(!event.data.contains(10) && !event.data.contains(13))
        }
    }

    @Test("Events are numbered, and the last one has the whole answer")
    func numbers() throws {
        for spoken in Spoken.all {
            let events = try spoken.frames.map { try JSON(parsing: Array($0.data)) }
            #expect(events.map { $0["sequence_number"] } == events.indices.map { .int($0) })
            var told: [ChatEvent] = []
            let response = try #require(events.last?["response"]).text()
            let answer = try ResponsesDialect().answer(in: Array(response.utf8), into: &told)
            #expect(Reading(answer) == spoken.expected, "\(spoken.name)")
        }
    }

    @Test("A whole answer contains the signatures of its reasoning, to be sent back")
    func proofs() throws {
        let sealed = #"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#
        let thoughts: [Message.Part] = [.reasoning(Reasoning("", sealed: sealed)), .text("ok")]
        var events: [ChatEvent] = []
        let body = Array(JSON.object(Spoken("proofs", thoughts, .stop, "completed").reply).text().utf8)
        #expect(try ResponsesDialect().answer(in: body, into: &events).message.parts == thoughts)
    }

    @Test("A failure in the middle of a stream is read as a failure, with its message")
    func failure() throws {
        var writer = ResponsesWriter(id: "x", created: 1, model: "m")
        var frames: [ResponsesWriter.Frame] = []
        writer.write(.text("Half"), into: &frames)
        writer.fail(ServerRefusal(message: "it broke", type: "overloaded_error"), into: &frames)
        let reading = try hear(frames.map { ServerSentEvent(type: $0.name, data: $0.data) }).reading
        #expect(reading.text == "Half" && reading.failure == "model.failed" && reading.words == "it broke")
        #expect(frames.last?.name == "response.failed")
    }

    /// Reads events as they would come from a parser.
    private func hear(_ events: [ServerSentEvent]) throws -> Heard {
        let text = events.map { "event: \($0.type)\ndata: \($0.text)\n\n" }.joined()
        return try ResponsesDialectTests.hear([Array(text.utf8)])
    }
}

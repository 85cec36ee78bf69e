import Capabilities
import HTTPCore
import JSON
import ModelKit
import ResponsesDialect

/// What an answer came to, in a form that is easy to compare and to write down.
struct Reading: Sendable, Equatable {
    var model: String?
    var text = ""
    var reasoning = ""
    /// The signatures of thoughts, and what of them only the provider can read.
    var proofs: [String] = []
    var refusal = ""
    /// `id name {"input":1}`, with `, done` for those that the server has run.
    var calls: [String] = []
    /// `id name text` of calls that cannot be read.
    var badCalls: [String] = []
    var results: [ToolResult] = []
    var usage = Usage()
    var finish: ChatAnswer.Finish?
    /// The code of the error that it ended with.
    var failure: String?
    /// The server's words in it.
    var words: String?

    init(
        model: String? = nil, text: String = "", reasoning: String = "", proofs: [String] = [], refusal: String = "",
        calls: [String] = [],
        badCalls: [String] = [], results: [ToolResult] = [], usage: Usage = Usage(),
        finish: ChatAnswer.Finish? = nil, failure: String? = nil, words: String? = nil
    ) {
        self.model = model
        self.text = text
        self.reasoning = reasoning
        self.proofs = proofs
        self.refusal = refusal
        self.calls = calls
        self.badCalls = badCalls
        self.results = results
        self.usage = usage
        self.finish = finish
        self.failure = failure
        self.words = words
    }

    init(_ answer: ChatAnswer) {
        model = answer.start.model
        usage = answer.usage
        finish = answer.finish
        for part in answer.message.parts {
            switch part {
            case .text(let piece): text += piece
            case .reasoning(let thoughts):
                reasoning += thoughts.text
                proofs += [thoughts.signature, thoughts.sealed].compactMap { $0 }
            case .refusal(let piece): refusal += piece
            case .call(let call):
                calls.append("\(call.id) \(call.name) \(call.input.text())\(call.isDone ? ", done" : "")")
            case .malformedCall(let call): badCalls.append("\(call.id) \(call.name) \(call.text)")
            case .result(let result): results.append(result)
            case .attachment: break
            }
        }
    }

    /// What remains of an answer that failed.
    init(_ answer: ChatAnswer, _ error: DialectError) {
        self.init(answer)
        finish = nil
        failure = error.code
        words = error.refusal?.message
    }
}

/// An answer and everything that was told of it.
struct Heard: Sendable, Equatable {
    var reading: Reading
    var events: [ChatEvent] = []
    var answer: ChatAnswer

    /// The events without those that go on with the one before.
    var joined: [ChatEvent] {
        events.reduce(into: []) { joined, event in
            switch (joined.last, event) {
            case (.text(let old), .text(let new)): joined[joined.count - 1] = .text(old + new)
            case (.reasoning(let old), .reasoning(let new)): joined[joined.count - 1] = .reasoning(old + new)
            case (.refusal(let old), .refusal(let new)): joined[joined.count - 1] = .refusal(old + new)
            default: joined.append(event)
            }
        }
    }
}

/// Hears a stream that comes in these pieces.
func hear(_ pieces: [[UInt8]]) throws -> Heard {
    var parser = EventParser()
    var reader = ResponsesDialect().reader()
    var events: [ChatEvent] = []
    do {
        for piece in pieces {
            for event in try parser.read(piece) { try reader.receive(event.type, Array(event.data), into: &events) }
        }
        let answer = try reader.finish(into: &events)
        return Heard(reading: Reading(answer), events: events, answer: answer)
    } catch let error as DialectError {
        return Heard(reading: Reading(reader.partial, error), events: events, answer: reader.partial)
    }
}

/// Hears events, each given as its data and named as its `type` says.
func hear(data: [String]) throws -> Heard {
    try hear([Array(data.map { Fixture.event($0) }.joined().utf8)])
}

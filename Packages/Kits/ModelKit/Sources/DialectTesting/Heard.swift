public import Capabilities
public import HTTPCore
import JSON
public import ModelKit

/// An answer with all its events.
public struct Heard: Sendable, Equatable {
    /// The answer in comparable form; for one that failed, with the error.
    public let reading: Reading
    /// All events in order, up to the end or the failure.
    public let events: [ChatEvent]
    /// The answer; only the part before the failure if it failed.
    public let answer: ChatAnswer

    /// Reads a stream that arrives in these pieces.
    public init(_ pieces: [[UInt8]], by dialect: some Dialect, parser: EventParser = EventParser()) throws {
        var (parser, reader) = (parser, dialect.reader())
        var events: [ChatEvent] = []
        do {
            for piece in pieces {
                for event in try parser.read(piece) { try reader.receive(event.type, Array(event.data), into: &events) }
            }
            answer = try reader.finish(into: &events)
            reading = Reading(answer)
        } catch let error as DialectError {
            answer = reader.partial
            reading = Reading(answer, error)
        }
        self.events = events
    }

    /// The answer assembled from the events.
    public var told: (parts: [Message.Part], usage: Usage) {
        var told = PartialAnswer()
        for event in events { told.add(event) }
        return (told.parts, told.usage ?? Usage())
    }
}

extension ChatAnswer {
    /// Events that produce it, with its text in the smallest pieces.
    public var events: [ChatEvent] {
        [.began(start)]
            + message.parts.flatMap { part -> [ChatEvent] in
                switch part {
                case .text(let text): text.map { .text(String($0)) }
                case .reasoning(let reasoning):
                    [.reasoning(reasoning.text)]
                        + (reasoning.signature == nil && reasoning.sealed == nil
                            ? [] : [.thought(Reasoning("", signature: reasoning.signature, sealed: reasoning.sealed))])
                case .refusal(let text): [.refusal(text)]
                case .call(let call): [.calling(id: call.id, name: call.name), .call(call)]
                case .malformedCall(let call): [.malformedCall(call)]
                case .result(let result): [.result(result)]
                case .attachment: []
                }
            } + [.usage(usage), .notice("nobody hears this")]
    }
}

/// An answer in a form that is easy to compare and to write down.
public struct Reading: Sendable, Equatable {
    /// The model that the server names; nil if it names none.
    public var model: String?
    /// All text of the answer.
    public var text = ""
    /// All text of the reasoning.
    public var reasoning = ""
    /// The signatures of reasoning, and the sealed reasoning.
    public var proofs: [String] = []
    /// The text with which the model refuses.
    public var refusal = ""
    /// `id name {"input":1}`, with `, done` for those that the server ran.
    public var calls: [String] = []
    /// `id name text` of malformed calls.
    public var badCalls: [String] = []
    /// The results of the tools that the server ran.
    public var results: [ToolResult] = []
    /// The reported usage.
    public var usage = Usage()
    /// Why the answer ended; nil if it failed.
    public var finish: ChatAnswer.Finish?
    /// The code of the error at the end.
    public var failure: String?
    /// The server's message in it.
    public var words: String?

    /// The expected reading; what is omitted is expected to be absent.
    public init(
        model: String? = nil, text: String = "", reasoning: String = "", proofs: [String] = [], refusal: String = "",
        calls: [String] = [], badCalls: [String] = [], results: [ToolResult] = [], usage: Usage = Usage(),
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

    /// The parts of a complete answer.
    public init(_ answer: ChatAnswer) {
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

    /// The remaining parts of an answer that failed.
    init(_ answer: ChatAnswer, _ error: DialectError) {
        self.init(answer)
        finish = nil
        failure = error.code
        words = error.refusal?.message
    }
}

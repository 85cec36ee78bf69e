public import Capabilities
import JSON
import ModelKit

/// What an answer came to, in a form that is easy to compare and to write down.
public struct Reading: Sendable, Equatable {
    public var model: String?
    public var text = ""
    public var reasoning = ""
    /// The signatures of thoughts, and what of them only the provider can read.
    public var proofs: [String] = []
    public var refusal = ""
    /// `id name {"input":1}`, with `, done` for those that the server has run.
    public var calls: [String] = []
    /// `id name text` of calls that cannot be read.
    public var badCalls: [String] = []
    public var results: [ToolResult] = []
    public var usage = Usage()
    public var finish: ChatAnswer.Finish?
    /// The code of the error that it ended with.
    public var failure: String?
    /// The server's words in it.
    public var words: String?

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

    /// What remains of an answer that failed.
    init(_ answer: ChatAnswer, _ error: DialectError) {
        self.init(answer)
        finish = nil
        failure = error.code
        words = error.refusal?.message
    }
}

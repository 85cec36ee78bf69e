public import Capabilities
import JSON
public import ModelKit

/// Writes an answer as a client of OpenAI's Responses reads it. Every event has a name, which its data repeats.
///
///     var writer = ResponsesWriter(id: "resp_1", created: 1_760_000_000, model: "a-model")
///     writer.write(.text("Hello"), into: &frames)
///     writer.end(answer, into: &frames)                       // the last frame is response.completed
///
/// Tools that the server has run itself are left out, as there is no way to tell of them that a client would not take
/// for its own.
public struct ResponsesWriter: Sendable {
    /// An event: its name, and its data as JSON.
    public typealias Frame = (name: String, data: [UInt8])

    let id: String
    /// Seconds since 1970.
    let created: Int
    var model: String
    var sequence = 0
    var hasBegun = false
    var output: [JSON] = []
    var open: OutputItem?
    /// All of an event with text that comes before the text.
    var textHead: [UInt8] = []

    public init(id: String, created: Int, model: String) {
        self.id = id
        self.created = created
        self.model = model
    }

    public mutating func write(_ event: ChatEvent, into frames: inout [Frame]) {
        switch event {
        case .began(let start):
            if let model = start.model { self.model = model }
            begin(&frames)
        case .text(let text): say(text, .text, &frames)
        case .refusal(let text): say(text, .refusal, &frames)
        case .reasoning(let text): say(text, .reasoning, &frames)
        case .thought(let end): seal(end, &frames)
        case .call(let call):
            if !call.isDone { writeCall(call.id, call.name, call.input.text(), &frames) }
        case .malformedCall(let call): writeCall(call.id, call.name, call.text, &frames)
        // A call is written when it is whole, and usage at the end.
        case .calling, .usage, .result, .notice: break
        }
    }

    /// Says how the answer ended and what it took, and gives all of it once more.
    public mutating func end(_ answer: ChatAnswer, into frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        let response = response(answer, output: output)
        let status = response["status"]?.string ?? "completed"
        append("response.\(status)", ["response": .object(response)], &frames)
    }

    /// Says that there is no whole answer, once a stream has begun; before that an error is the answer's body.
    public mutating func fail(_ refusal: ServerRefusal, into frames: inout [Frame]) {
        begin(&frames)
        var response = head
        response["status"] = "failed"
        response["output"] = .array(output)
        response["error"] = [
            "code": .string(refusal.code ?? "server_error"), "message": .string(refusal.message),
        ]
        append("response.failed", ["response": .object(response)], &frames)
    }
}

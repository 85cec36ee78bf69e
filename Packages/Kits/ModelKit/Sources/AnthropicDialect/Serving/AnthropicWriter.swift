public import Capabilities
import JSON
public import ModelKit

/// Writes an answer as a client of Anthropic's API reads it. Every event has a name, as its clients pass over those that
/// have none.
///
///     var writer = AnthropicWriter(id: "msg_1", model: "a-model")
///     writer.write(.text("Hello"), into: &frames)
///     writer.end(answer, into: &frames)                       // the last frame is message_stop
///
/// Of the tools that a server has run itself, those of Anthropic's are told in their own blocks. Others are left out, as there
/// is no way to tell of them that a client would not take for its own.
public struct AnthropicWriter: Sendable {
    /// An event: its name, and its data as JSON.
    public typealias Frame = (name: String, data: [UInt8])

    enum Block: Sendable { case text, thinking }

    let id: String
    var model: String
    var usage = Usage()
    var hasBegun = false
    var open: Block?
    var index = 0
    /// All of an event with text that comes before the text.
    var textHead: [UInt8] = []
    private var tools = ServerTools()

    public init(id: String, model: String) {
        self.id = id
        self.model = model
    }

    public mutating func write(_ event: ChatEvent, into frames: inout [Frame]) {
        switch event {
        case .began(let start):
            // The first event tells what the input took, which servers say right after this.
            if let model = start.model, !hasBegun { self.model = model }
        case .text(let text), .refusal(let text): writeText(text, &frames)
        case .reasoning(let text):
            open(.thinking, &frames)
            let delta: JSON = ["type": "thinking_delta", "thinking": .string(text)]
            append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
        case .thought(let end): writeEnd(of: end, &frames)
        case .call(let call):
            if let block = tools.block(.call(call)) {
                writeCall(block, call.input, &frames)
            } else if !call.isDone {
                writeCall(call.id, call.name, call.input, &frames)
            }
        case .malformedCall(let call):
            // Clients fail where the input is no JSON. So they refuse the call, and the model mends it.
            writeCall(call.id, call.name, ["invalid_json": .string(call.text)], &frames)
        case .usage(let usage): self.usage = usage
        // A call is written when it is whole.
        case .result(let result):
            if let block = tools.block(.result(result)) { write(whole: block, &frames) }
        case .calling, .notice: break
        }
    }

    /// Says why the model stopped, what it took, and that this was all.
    public mutating func end(_ answer: ChatAnswer, into frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        let delta: JSON = [
            "stop_reason": .string(answer.anthropicReason), "stop_sequence": answer.stopWord.map(JSON.string) ?? .null,
        ]
        append("message_delta", ["delta": delta, "usage": .object(answer.usage.anthropic)], &frames)
        append("message_stop", [:], &frames)
    }

    /// Says that there is no whole answer, once a stream has begun; before that an error is the answer's body.
    public mutating func fail(_ refusal: ServerRefusal, into frames: inout [Frame]) {
        frames.append(("error", Self.bytes(AnthropicDialect.envelope(refusal))))
    }
}

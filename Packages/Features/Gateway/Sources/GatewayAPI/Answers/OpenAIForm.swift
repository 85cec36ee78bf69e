import Capabilities
import GatewayTurns
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

/// Answers as clients of OpenAI's chat completions read them, and in the rich dialect those of gateways.
struct OpenAIForm: AnswerForm {
    private var writer: OpenAIWriter
    private let isRich: Bool
    private let now: @Sendable () -> Timestamp

    init(_ asked: Asked, includesUsage: Bool, _ services: APIServices) {
        writer = OpenAIWriter(id: Identifier.make("chatcmpl-"), created: services.seconds, model: asked.model)
        writer.includesUsage = includesUsage
        writer.isRich = asked.isRich
        isRich = asked.isRich
        now = services.now
    }

    mutating func write(_ event: GatewayEvent, into events: inout EventWriter) throws {
        var frames: [[UInt8]] = []
        switch event {
        case .began(let place):
            writer.write(.began(ChatStart(model: place.name)), into: &frames)
            if isRich { frames.append(WireFrame.place(place).bytes) }
        case .answers(let place): writer.write(.began(ChatStart(model: place.name)), into: &frames)
        case .chat(.began): break
        // A client would take it for a call that it has to answer.
        case .chat(.call(let call)) where call.isDone && !isRich: break
        case .chat(.notice(let text)), .notice(let text):
            if isRich { frames.append(WireFrame.notice(text).bytes) }
        case .chat(let event): writer.write(event, into: &frames)
        case .output(let call, let text):
            if isRich { frames.append(WireFrame.output(call, text).bytes) }
        case .approval(let ticket):
            if isRich { frames.append(WireApproval(ticket: ticket, now: now()).json.bytes) }
        }
        try send(frames, &events)
    }

    mutating func end(_ answer: ChatAnswer, into events: inout EventWriter) throws {
        var frames: [[UInt8]] = []
        writer.end(answer, into: &frames)
        try send(frames, &events)
    }

    mutating func fail(_ refusal: ServerRefusal, into events: inout EventWriter) throws {
        var frames: [[UInt8]] = []
        writer.fail(refusal, into: &frames)
        try send(frames, &events)
    }

    func reply(_ answer: ChatAnswer) -> JSONObject { writer.reply(answer) }

    private func send(_ frames: [[UInt8]], _ events: inout EventWriter) throws {
        for frame in frames { try events.event(frame) }
    }
}

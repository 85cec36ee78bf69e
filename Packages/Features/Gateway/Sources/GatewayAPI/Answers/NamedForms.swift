import AnthropicDialect
import Capabilities
import GatewayTurns
import HTTPCore
import JSON
import ModelKit
import ResponsesDialect

/// A form whose events have names. Tools that ran here are not told of: a client would take them for its own.
protocol NamedForm: AnswerForm {
    mutating func write(_ event: ChatEvent, into frames: inout [(name: String, data: [UInt8])])
    mutating func end(_ answer: ChatAnswer, into frames: inout [(name: String, data: [UInt8])])
    mutating func fail(_ refusal: ServerRefusal, into frames: inout [(name: String, data: [UInt8])])
}

extension NamedForm {
    mutating func write(_ event: GatewayEvent, into events: inout EventWriter) throws {
        var frames: [(name: String, data: [UInt8])] = []
        switch event {
        case .began(let place), .answers(let place): write(.began(ChatStart(model: place.name)), into: &frames)
        case .chat(.began), .output, .approval, .notice: break
        case .chat(let event): write(event, into: &frames)
        }
        try send(frames, &events)
    }

    mutating func end(_ answer: ChatAnswer, into events: inout EventWriter) throws {
        var frames: [(name: String, data: [UInt8])] = []
        end(answer, into: &frames)
        try send(frames, &events)
    }

    mutating func fail(_ refusal: ServerRefusal, into events: inout EventWriter) throws {
        var frames: [(name: String, data: [UInt8])] = []
        fail(refusal, into: &frames)
        try send(frames, &events)
    }

    private func send(_ frames: [(name: String, data: [UInt8])], _ events: inout EventWriter) throws {
        for frame in frames { try events.event(frame.data, type: frame.name) }
    }
}

/// Answers as clients of Anthropic's messages read them.
struct AnthropicForm: NamedForm {
    private var writer: AnthropicWriter

    init(_ asked: Asked) {
        writer = AnthropicWriter(id: Identifier.make("msg_"), model: asked.model)
    }

    mutating func write(_ event: ChatEvent, into frames: inout [(name: String, data: [UInt8])]) {
        writer.write(event, into: &frames)
    }

    mutating func end(_ answer: ChatAnswer, into frames: inout [(name: String, data: [UInt8])]) {
        writer.end(answer, into: &frames)
    }

    mutating func fail(_ refusal: ServerRefusal, into frames: inout [(name: String, data: [UInt8])]) {
        writer.fail(refusal, into: &frames)
    }

    func reply(_ answer: ChatAnswer) -> JSONObject { writer.reply(answer) }
}

/// Answers as clients of OpenAI's responses read them.
struct ResponsesForm: NamedForm {
    private var writer: ResponsesWriter

    init(_ asked: Asked, _ services: APIServices) {
        writer = ResponsesWriter(id: Identifier.make("resp_"), created: services.seconds, model: asked.model)
    }

    mutating func write(_ event: ChatEvent, into frames: inout [(name: String, data: [UInt8])]) {
        writer.write(event, into: &frames)
    }

    mutating func end(_ answer: ChatAnswer, into frames: inout [(name: String, data: [UInt8])]) {
        writer.end(answer, into: &frames)
    }

    mutating func fail(_ refusal: ServerRefusal, into frames: inout [(name: String, data: [UInt8])]) {
        writer.fail(refusal, into: &frames)
    }

    func reply(_ answer: ChatAnswer) -> JSONObject { writer.reply(answer) }
}

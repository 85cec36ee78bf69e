import AnthropicDialect
import Capabilities
import GatewayTurns
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect
import ResponsesDialect
import TurnLoop

/// Writes an answer for one kind of client.
protocol AnswerForm: Sendable {
    /// Writes an event of a stream. Events that this kind of client does not know are left out.
    mutating func write(_ event: GatewayEvent, into events: inout EventWriter) throws
    /// Writes the end of a stream.
    mutating func end(_ answer: ChatAnswer, into events: inout EventWriter) throws
    /// Writes the end of a stream that failed.
    mutating func fail(_ refusal: ServerRefusal, into events: inout EventWriter) throws
    /// Returns the body of an answer that is not streamed.
    func reply(_ answer: ChatAnswer) -> JSONObject
}

extension TurnReport {
    /// The turn's whole output as one answer, with the usage of the whole turn.
    func answer(isAgent: Bool) -> ChatAnswer {
        let last = outcome.answer
        var start = last?.start ?? ChatStart()
        start.model = place.name
        start.session = place.session
        start.project = place.project
        // Include the text that an agent's model wrote between its calls. Its calls have been answered already.
        let message = isAgent ? nil : last?.message
        var answer = ChatAnswer(
            start: start, message: message ?? Message(.assistant, text), finish: finish(isAgent), usage: outcome.usage)
        answer.isUnapproved = outcome.isUnapproved
        answer.hasUnfitApproval = outcome.hasUnfitApproval
        answer.stopWord = last?.stopWord
        return answer
    }

    private func finish(_ isAgent: Bool) -> ChatAnswer.Finish {
        // A stopped turn keeps its output so far, and the client that stopped it knows why it ends.
        guard case .answered = outcome.end, let finish = outcome.answer?.finish else { return .stop }
        return isAgent && finish == .calls ? .stop : finish
    }
}

extension ServerRefusal {
    /// A failure in the middle of a stream.
    init(_ failure: any Failure) {
        let status = FailureStatus.status(of: failure).code
        self.init(
            message: failure.message, type: ErrorFacts.type(status: status), code: WireCode.text(of: failure.code),
            field: failure.details["param"]?.string)
    }
}

/// Answers for clients of OpenAI's chat completions, and in the rich dialect for clients of gateways.
struct OpenAIForm: AnswerForm {
    private var writer: OpenAIWriter
    private let isRich: Bool
    private let now: @Sendable () -> Timestamp

    init(_ asked: GatewayRequest, includesUsage: Bool, _ services: APIServices) {
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
        // A client would mistake it for a call that it has to answer.
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

/// A form whose events have names. It does not report tools that ran here, since a client would mistake them for its
/// own.
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

/// Answers for clients of Anthropic's messages.
struct AnthropicForm: NamedForm {
    private var writer: AnthropicWriter

    init(_ asked: GatewayRequest) {
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

/// Answers for clients of OpenAI's responses.
struct ResponsesForm: NamedForm {
    private var writer: ResponsesWriter

    init(_ asked: GatewayRequest, _ services: APIServices) {
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

/// A tool call in streams of the rich dialect and in histories.
struct WireCall {
    let call: ToolCall

    var json: JSON {
        [
            "object": "tool_use", "type": "tool_use", "id": .string(call.id), "name": .string(call.name),
            "input": call.input,
        ]
    }
}

/// The result of a tool call.
struct WireResult {
    let result: ToolResult
    let name: String?

    var json: JSON {
        var object: JSONObject = ["object": "tool_result", "type": "tool_result", "tool_id": .string(result.call)]
        object["name"] = name.map(JSON.string)
        object["is_error"] = .bool(result.isError)
        object["duration_ms"] = result.duration.map { .int(Int($0 / .milliseconds(1))) }
        object["exit_code"] = result.exitCode.map(JSON.int)
        object["content"] = .string(result.content)
        object["structured"] = result.structured
        if result.parts.count != 1 || !result.images.isEmpty { object["parts"] = .array(result.parts.map(Self.json)) }
        return .object(object)
    }

    /// What a part is. The bytes of images are not repeated in the frames of a stream.
    private static func json(_ part: ToolPart) -> JSON {
        var object: JSONObject
        switch part {
        case .text(let text): return ["type": "text", "text": .string(text)]
        case .media(let media):
            return [
                "type": media.isImage ? "image" : "audio", "media_type": .string(media.mediaType),
                "size": .int(media.bytes.count),
            ]
        case .resource(let resource):
            object = ["type": "resource", "address": .string(resource.address)]
            object["media_type"] = resource.mediaType.map(JSON.string)
            if case .text(let text) = resource.content { object["text"] = .string(text) }
        case .link(let link):
            object = ["type": "link", "address": .string(link.address), "name": .string(link.name)]
            object["title"] = link.title.map(JSON.string)
            object["media_type"] = link.mediaType.map(JSON.string)
        }
        return .object(object)
    }
}

/// Frames of the rich dialect that only this gateway sends.
enum WireFrame {
    /// The session, project and model of a turn, for clients that cannot read response headers.
    static func place(_ place: TurnPlace) -> JSONObject {
        var frame: JSONObject = ["object": "session", "model": .string(place.name)]
        frame["session_id"] = place.session.map(JSON.string)
        frame["project_id"] = place.project.map(JSON.string)
        return frame
    }

    /// Output of a running tool.
    static func output(_ call: String, _ text: String) -> JSONObject {
        ["object": "tool_output", "tool_id": .string(call), "content": .string(text)]
    }

    static func notice(_ text: String) -> JSONObject {
        ["object": "notice", "message": .string(text)]
    }
}

/// Makes unique ids for answers that cannot be guessed.
enum Identifier {
    static func make(_ prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in Hexadecimal.digits(of: generator.next()) }
        return prefix + digits.joined()
    }
}

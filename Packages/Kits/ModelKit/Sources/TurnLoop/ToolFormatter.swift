public import Capabilities
import JSON
import ModelKit

/// How tools are described to a model, and how its calls are found in the answer.
public protocol ToolFormatter: Sendable {
    /// A request in the form in which it is sent.
    func request(_ request: ChatRequest) -> ChatRequest
    /// A reader for the events of the next answer of a conversation.
    func reader(after history: [Message]) -> any ToolReader
    /// A whole answer with its calls, which are the same that the reader finds.
    func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer
}

/// Finds calls in the events of an answer as they arrive.
public protocol ToolReader {
    /// The events to pass on. Text that may be the beginning of a call is held back.
    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent]
    /// The rest that was held back.
    mutating func finish() -> [ChatEvent]
}

/// For servers that support tools.
public struct NativeTools: ToolFormatter {
    /// Passes requests, events and answers on unchanged.
    public init() {}

    public func request(_ request: ChatRequest) -> ChatRequest { request }
    public func reader(after history: [Message]) -> any ToolReader { NativeReader() }
    public func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer { answer }
}

private struct NativeReader: ToolReader {
    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent] { events }
    mutating func finish() -> [ChatEvent] { [] }
}

/// Tools as tagged text, for models whose servers do not support tools.
///
/// The tools are described in the system prompt, the model writes `<tool_call>{"name": …, "arguments":
/// {…}}</tool_call>` into its text, and results are sent back as `<tool_result>{…}</tool_result>`. Tags inside of code,
/// which a model writes to mention them, are text.
public struct TaggedText: ToolFormatter {
    /// Has no settings and no state; its readers have the state.
    public init() {}

    public func reader(after history: [Message]) -> any ToolReader {
        TaggedReader(parser: TagParser(next: Self.nextNumber(after: history)))
    }

    public func answer(_ answer: ChatAnswer, after history: [Message]) -> ChatAnswer {
        var parser = TagParser(next: Self.nextNumber(after: history))
        var read = PartialAnswer()
        var pieces: [TagParser.Piece] = []
        func take() {
            for piece in pieces { read.add(piece.event) }
            pieces = []
        }
        for part in answer.message.parts {
            guard case .text(let text) = part else {
                read.append(part)
                continue
            }
            parser.receive(text, into: &pieces)
            take()
        }
        parser.finish(into: &pieces)
        take()
        var answer = answer
        answer.message.parts = read.parts
        guard !answer.message.openCalls.isEmpty else { return answer }
        // Line breaks around calls are dropped.
        answer.message.parts.removeAll { part in
            if case .text(let text) = part { text.allSatisfy(\.isWhitespace) } else { false }
        }
        if answer.finish == .stop { answer.finish = .calls }
        return answer
    }

    /// Calls in text have no id. Each gets a number that is unused in the conversation.
    private static func nextNumber(after history: [Message]) -> Int {
        history.reduce(1) { number, message in
            message.openCalls.reduce(number) { number, call in
                guard call.id.hasPrefix(TagParser.idPrefix), let used = Int(call.id.dropFirst(TagParser.idPrefix.count))
                else { return number }
                return max(number, used < .max ? used + 1 : 1)
            }
        }
    }
}

private struct TaggedReader: ToolReader {
    var parser: TagParser

    mutating func receive(_ events: [ChatEvent]) -> [ChatEvent] {
        var read: [ChatEvent] = []
        for event in events {
            guard case .text(let text) = event else {
                read.append(event)
                continue
            }
            var pieces: [TagParser.Piece] = []
            parser.receive(text, into: &pieces)
            read += pieces.map(\.event)
        }
        return read
    }

    mutating func finish() -> [ChatEvent] {
        var pieces: [TagParser.Piece] = []
        parser.finish(into: &pieces)
        return pieces.map(\.event)
    }
}

@_spi(Fuzzing)
extension TaggedText {
    /// Reads any bytes as a model's text, whole and in pieces, and checks that the results are equal.
    public static func readsAlike(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let size = max(1, Int(bytes.first ?? 1) % 17)
        var whole = TagParser(next: 1)
        var (expected, pieces): ([TagParser.Piece], [TagParser.Piece]) = ([], [])
        whole.receive(text, into: &expected)
        whole.finish(into: &expected)
        var parser = TagParser(next: 1)
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            parser.receive(String(rest.prefix(size)), into: &pieces)
            rest = rest.dropFirst(size)
        }
        parser.finish(into: &pieces)
        return joined(pieces) == joined(expected)
    }

    /// With neighbouring texts joined.
    static func joined(_ pieces: [TagParser.Piece]) -> [TagParser.Piece] {
        var joined: [TagParser.Piece] = []
        for piece in pieces {
            if case .text(let more) = piece, case .text(let text)? = joined.last {
                joined[joined.count - 1] = .text(text + more)
            } else {
                joined.append(piece)
            }
        }
        return joined
    }
}

extension TaggedText {
    public func request(_ request: ChatRequest) -> ChatRequest {
        var request = request
        var messages = Self.messages(of: request.messages)
        if !request.tools.isEmpty {
            let prompt = Self.prompt(request.tools)
            if let first = messages.first, first.role == .system {
                messages[0] = Message(.system, first.parts + [.text("\n\n" + prompt)])
            } else {
                messages.insert(Message(.system, prompt), at: 0)
            }
            // A model that invents a tool result is stopped. Servers accept at most four stop words.
            if request.options.stop.count < 4 { request.options.stop.append("<tool_result>") }
        }
        request.messages = messages
        request.tools = []
        return request
    }

    private static func prompt(_ tools: [ToolDescription]) -> String {
        let described = tools.map { tool in
            element(
                "tool",
                ["name": .string(tool.name), "description": .string(tool.summary), "input_schema": tool.input])
        }
        return """
            You can use tools. Each one is described here, with the JSON Schema of its arguments:

            \(described.joined(separator: "\n"))

            To use a tool, write exactly this, with the arguments as JSON:

            <tool_call>{"name": "the tool's name", "arguments": {}}</tool_call>

            Several calls may follow each other. Write them outside of code blocks and quotes, and end your answer after \
            the last one. The results are given to you in <tool_result> elements, in the order of the calls. Never write a \
            <tool_result> yourself. When you need no tool, just answer.
            """
    }

    /// Calls and results as text. Results become text of the user.
    private static func messages(of history: [Message]) -> [Message] {
        var names: [String: String] = [:]
        var messages: [Message] = []
        var endsWithResults = false
        for message in history {
            for call in message.openCalls { names[call.id] = call.name }
            switch message.role {
            case .assistant: messages.append(Message(.assistant, message.parts.reduce(into: []) { add($1, to: &$0) }))
            case .tool:
                messages.append(
                    Message(
                        .user,
                        message.parts.flatMap { part -> [Message.Part] in
                            guard case .result(let result) = part else { return [part] }
                            return [.text(text(of: result, names[result.call]) + "\n")]
                                + result.images.map(Message.Part.attachment)
                        }))
            case .user where endsWithResults:
                // Some models' templates require alternating roles.
                messages[messages.count - 1].parts += message.parts
            default: messages.append(message)
            }
            endsWithResults = message.role == .tool
        }
        return messages
    }

    private static func add(_ part: Message.Part, to parts: inout [Message.Part]) {
        let tag: String
        switch part {
        case .call(let call) where !call.isDone:
            tag = element("tool_call", ["name": .string(call.name), "arguments": call.input])
        case .malformedCall(let call): tag = "<tool_call>\(call.text)</tool_call>"
        default:
            parts.append(part)
            return
        }
        guard case .text(let text)? = parts.last else { return parts.append(.text(tag)) }
        parts[parts.count - 1] = .text(text.hasSuffix("\n") ? text + tag : "\(text)\n\(tag)")
    }

    private static func text(of result: ToolResult, _ name: String?) -> String {
        var content: JSONObject = [:]
        if let name { content["name"] = .string(name) }
        if result.isError { content["is_error"] = true }
        content["content"] = .string(result.content)
        return element("tool_result", content)
    }

    /// JSON inside of a tag. A closing tag in the JSON would end the element. It can only be in a string, where a slash
    /// may be escaped.
    private static func element(_ tag: String, _ content: JSONObject) -> String {
        let json = JSON.object(content).text().split(separator: "</", omittingEmptySubsequences: false)
        return "<\(tag)>\(json.joined(separator: "<\\/"))</\(tag)>"
    }
}

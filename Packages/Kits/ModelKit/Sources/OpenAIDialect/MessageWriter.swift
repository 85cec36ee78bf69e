import Capabilities
import JSON
import ModelKit

/// Writes a conversation in the form that a server expects.
struct MessageWriter {
    private let quirks: OpenAIQuirks
    private let model: String
    private var messages: [JSON] = []
    /// The calls that a server ran. They cannot be expressed in a request.
    private var doneCalls: Set<String> = []
    /// The images of results, which follow the last of the results: between them nothing else is taken.
    private var images: [Attachment] = []

    init(_ quirks: OpenAIQuirks, model: String) {
        self.quirks = quirks
        self.model = model
    }

    mutating func write(_ conversation: [Message]) throws(DialectError) -> [JSON] {
        doneCalls = Set(conversation.flatMap(\.calls).filter(\.isDone).map(\.id))
        let conversation = quirks.foldsHistory ? FoldedHistory.fold(conversation) : conversation
        for message in conversation {
            writeResults(of: message)
            if message.role != .tool { try writeImages() }
            switch message.role {
            case .system: try writeSystem(message)
            case .user: try writeUser(message)
            case .assistant: try writeAssistant(message)
            case .tool: try check(message)
            }
        }
        try writeImages()
        return messages
    }

    /// Every result is a separate message, before anything else of its message.
    private mutating func writeResults(of message: Message) {
        for case .result(let result) in message.parts where !doneCalls.contains(result.call) {
            // There is no other way to mark a failed result.
            let words = result.isError ? "Error: \(result.content)" : result.content
            messages.append(["role": "tool", "tool_call_id": .string(result.call), "content": .string(words)])
            // A model without eyes is told of them by the words.
            if !quirks.lacks.contains(.images) { images += result.images }
        }
    }

    /// A result takes only text, so its images come from the user, who says whose they are.
    private mutating func writeImages() throws(DialectError) {
        guard !images.isEmpty else { return }
        var content: [JSON] = [["type": "text", "text": "The images that the tools gave, in their order:"]]
        for image in images { content.append(try json(image)) }
        images = []
        messages.append(["role": "user", "content": .array(content)])
    }

    private mutating func writeSystem(_ message: Message) throws(DialectError) {
        try check(message, text: true)
        messages.append(["role": quirks.systemRole(for: model), "content": .string(message.text)])
    }

    private mutating func writeUser(_ message: Message) throws(DialectError) {
        try check(message, text: true, attachments: true)
        let attachments = message.parts.contains { if case .attachment = $0 { true } else { false } }
        guard attachments else {
            let hasText = message.parts.contains { if case .text = $0 { true } else { false } }
            if hasText || message.parts.isEmpty { messages.append(["role": "user", "content": .string(message.text)]) }
            return
        }
        var content: [JSON] = []
        for part in message.parts {
            switch part {
            case .text(let text): content.append(["type": "text", "text": .string(text)])
            case .attachment(let attachment): content.append(try json(attachment))
            default: break
            }
        }
        messages.append(["role": "user", "content": .array(content)])
    }

    private func json(_ attachment: Attachment) throws(DialectError) -> JSON {
        let uri = JSON.string(DataURI.encode(attachment))
        let name = PlainText.escape(attachment.name)
        if attachment.isImage {
            guard !quirks.lacks.contains(.images) else { throw .untaken("images, such as \(name)") }
            return ["type": "image_url", "image_url": ["url": uri]]
        }
        guard !quirks.lacks.contains(.files) else { throw .untaken("files, such as \(name)") }
        return ["type": "file", "file": ["filename": .string(attachment.name), "file_data": uri]]
    }

    private mutating func writeAssistant(_ message: Message) throws(DialectError) {
        try check(message, text: true)
        var written: JSONObject = ["role": "assistant"]
        var calls: [JSON] = []
        var refusal = ""
        for part in message.parts {
            switch part {
            case .call(let call) where !call.isDone: calls.append(Self.json(call.id, call.name, call.input))
            case .malformedCall(let call):
                // Servers parse the input of earlier calls as JSON and fail if it is not.
                calls.append(Self.json(call.id, call.name, ["invalid_json": .string(call.text)]))
            case .refusal(let words): refusal += words
            default: break
            }
        }
        let text = message.text
        written["content"] = text.isEmpty && !(calls.isEmpty && refusal.isEmpty) ? .null : .string(text)
        if !refusal.isEmpty { written["refusal"] = .string(refusal) }
        if quirks.returnsReasoning { ReasoningDetails.write(message, into: &written) }
        if !calls.isEmpty { written["tool_calls"] = .array(calls) }
        // A message with only finished calls is empty without them.
        let isEmpty = text.isEmpty && written.count == 2 && !message.parts.isEmpty
        if !isEmpty { messages.append(.object(written)) }
    }

    private static func json(_ id: String, _ name: String, _ input: JSON) -> JSON {
        let function: JSON = ["name": .string(name), "arguments": .string(input.text())]
        return ["id": .string(id), "type": "function", "function": function]
    }

    /// Refuses parts that do not belong in a message of this role.
    private func check(
        _ message: Message, text: Bool = false, attachments: Bool = false
    ) throws(DialectError) {
        for part in message.parts {
            switch part {
            case .text where !text, .attachment where !attachments:
                let kind = if case .text = part { "texts" } else { "attachments" }
                throw .untaken("\(kind) in messages with the role \(message.role.rawValue)")
            case .call, .malformedCall:
                guard message.role == .assistant else {
                    throw .untaken("calls in messages with the role \(message.role.rawValue)")
                }
                if case .call(let call) = part, call.isDone { continue }
                guard !quirks.lacks.contains(.tools) else { throw .untaken("tools") }
            default: break
            }
        }
    }
}

/// The conversation in one message, for servers without memory that read only the first system message and the last
/// user message.
enum FoldedHistory {
    static func fold(_ conversation: [Message]) -> [Message] {
        let instructions = conversation.filter { $0.role == .system }.map(\.text).filter { !$0.isEmpty }
        var said = conversation.filter { $0.role != .system && !words(of: $0).isEmpty }
        var folded: [Message] = []
        if !instructions.isEmpty { folded.append(Message(.system, instructions.joined(separator: "\n\n"))) }
        let last = conversation.last { $0.role == .user }
        guard said.count > 1 else { return folded + (last.map { [$0] } ?? said) }

        var text = "This is our conversation so far.\n\n"
        let question = said.last?.role == .user ? said.removeLast() : nil
        for message in said {
            text += "<\(message.role.rawValue)>\n\(words(of: message))\n</\(message.role.rawValue)>\n\n"
        }
        text += question.map { "Now answer this:\n\n\(words(of: $0))" } ?? "Now go on."
        // Attachments stay, so that they are refused by name.
        let attachments = (last?.parts ?? []).filter { if case .attachment = $0 { true } else { false } }
        return folded + [Message(.user, [.text(text)] + attachments)]
    }

    private static func words(of message: Message) -> String {
        message.parts.compactMap { part -> String? in
            switch part {
            case .text(let text), .refusal(let text): text
            case .result(let result) where message.role == .tool: result.content
            default: nil
            }
        }.joined()
    }
}

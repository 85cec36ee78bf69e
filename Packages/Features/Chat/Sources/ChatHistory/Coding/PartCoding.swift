import Capabilities
import Cryptography
import JSON

/// Parts of a message as JSON and back, without loss.
///
/// Large contents may be kept elsewhere: `keep` gives the name under which it took some bytes, or nil to have them
/// written out, and `fetch` gives them back.
struct PartCoding {
    var keep: ([UInt8]) throws -> String?
    var fetch: (String) throws -> [UInt8]

    /// With everything written out.
    static var inline: PartCoding {
        PartCoding { _ in
            nil
        } fetch: { name in
            throw ValueError("refers to \(name.quotedForMessage), which is not in here")
        }
    }

    /// Results up to this size stay beside the rest, where they can be read with it.
    private static let largestInline = 32 << 10

    func json(_ parts: [Message.Part]) throws -> JSON { .array(try parts.map(json)) }

    func json(_ part: Message.Part) throws -> JSON {
        switch part {
        case .text(let text): ["type": "text", "text": .string(text)]
        case .refusal(let text): ["type": "refusal", "text": .string(text)]
        case .reasoning(let thought): reasoning(thought)
        case .attachment(let attachment): try self.attachment(attachment)
        case .call(let call): self.call(call)
        case .malformedCall(let call):
            [
                "type": "malformed_call", "id": .string(call.id), "name": .string(call.name),
                "text": .string(call.text), "reason": .string(call.reason),
            ]
        case .result(let result): try self.result(result)
        }
    }

    private func reasoning(_ thought: Reasoning) -> JSON {
        var object: JSONObject = ["type": "reasoning", "text": .string(thought.text)]
        object.add("signature", thought.signature)
        object.add("sealed", thought.sealed)
        return .object(object)
    }

    private func attachment(_ attachment: Attachment) throws -> JSON {
        var object: JSONObject = [
            "type": "attachment", "name": .string(attachment.name), "media_type": .string(attachment.mediaType),
        ]
        if let name = try keep(attachment.bytes) {
            object["blob"] = .string(name)
        } else {
            object["data"] = .string(Base64.encode(attachment.bytes))
        }
        return .object(object)
    }

    func call(_ call: ToolCall) -> JSON {
        var object: JSONObject = ["type": "call", "id": .string(call.id), "name": .string(call.name)]
        // What surrounds it may not take an input beyond the depth that can be read.
        if call.input.isDeeper(than: 256) {
            object["input_text"] = .string(call.input.text())
        } else {
            object["input"] = call.input
        }
        if call.isDone { object["done"] = true }
        return .object(object)
    }

    func result(_ result: ToolResult) throws -> JSON {
        var object: JSONObject = ["type": "result", "call": .string(result.call)]
        if result.content.utf8.count > Self.largestInline, let name = try keep(Array(result.content.utf8)) {
            object["blob"] = .string(name)
        } else {
            object["content"] = .string(result.content)
        }
        if result.isError { object["error"] = true }
        if let (seconds, rest) = result.duration?.components {
            object["duration"] = [.int(Int(seconds)), .int(Int(rest))]
        }
        object.add("exit_code", result.exitCode)
        return .object(object)
    }
}

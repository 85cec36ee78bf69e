public import Capabilities
import Cryptography
public import JSON

extension MessageCoding {
    /// The parts in a text that was stored.
    public func parts(text: String) throws(ValueError) -> [Message.Part] {
        try parts(Self.parsed(text))
    }

    public func parts(_ json: JSON) throws(ValueError) -> [Message.Part] {
        guard let elements = json.array else { throw ValueError("needs a list, not \(json.kindName)") }
        var parts: [Message.Part] = []
        parts.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do { parts.append(try part(element)) } catch { throw error.under(String(index)) }
        }
        return parts
    }

    public func call(_ json: JSON) throws(ValueError) -> ToolCall {
        var input = json["input"]
        if input == nil {
            let text: String = try json.read("input_text")
            do { input = try Self.parsed(text) } catch { throw error.under("input_text") }
        }
        return ToolCall(
            id: try json.read("id"), name: try json.read("name"), input: input ?? .null,
            isDone: try json.read("done") ?? false)
    }

    public func result(_ json: JSON) throws(ValueError) -> ToolResult {
        let content: String
        if let kept = try blob(json) {
            content = String(decoding: kept, as: UTF8.self)
        } else {
            content = try json.read("content")
        }
        return ToolResult(
            call: try json.read("call"), content: content,
            isError: try json.read("error") ?? false, duration: try duration(json),
            exitCode: try json.read("exit_code"))
    }

    /// One part of a message.
    public func part(_ json: JSON) throws(ValueError) -> Message.Part {
        let type: String = try json.read("type")
        switch type {
        case "text": return .text(try json.read("text"))
        case "refusal": return .refusal(try json.read("text"))
        case "reasoning":
            return .reasoning(
                Reasoning(try json.read("text"), signature: try json.read("signature"), sealed: try json.read("sealed"))
            )
        case "attachment":
            return .attachment(
                Attachment(name: try json.read("name"), mediaType: try json.read("media_type"), bytes: try bytes(json)))
        case "call": return .call(try call(json))
        case "malformed_call":
            return .malformedCall(
                MalformedCall(
                    id: try json.read("id"), name: try json.read("name"), text: try json.read("text"),
                    reason: try json.read("reason")))
        case "result": return .result(try result(json))
        default:
            throw ValueError("has a type that is not known: \(PlainText.escape(type).quotedForMessage)", at: ["type"])
        }
    }

    private func duration(_ json: JSON) throws(ValueError) -> Duration? {
        if let milliseconds: Double = try json.read("duration_ms") {
            guard (0..<1e12).contains(milliseconds) else {
                throw ValueError("is no duration that there can be", at: ["duration_ms"])
            }
            return .nanoseconds(Int64((milliseconds * 1e6).rounded()))
        }
        guard let numbers: [Int] = try json.read("duration") else { return nil }
        guard numbers.count == 2 else { throw ValueError("needs seconds and attoseconds", at: ["duration"]) }
        return Duration(secondsComponent: Int64(numbers[0]), attosecondsComponent: Int64(numbers[1]))
    }

    private func bytes(_ json: JSON) throws(ValueError) -> [UInt8] {
        if let kept = try blob(json) { return kept }
        let text: String = try json.read("data")
        guard let bytes = Base64.decode(text) else { throw ValueError("is no base64", at: ["data"]) }
        return bytes
    }

    /// What was put elsewhere, if anything was.
    private func blob(_ json: JSON) throws(ValueError) -> [UInt8]? {
        guard let name: String = try json.read("blob") else { return nil }
        do {
            return try fetch(name)
        } catch let error as ValueError {
            throw error.under("blob")
        } catch {
            throw ValueError("cannot be read: \(error)", at: ["blob"])
        }
    }

    private static func parsed(_ text: String) throws(ValueError) -> JSON {
        do {
            return try JSON(parsing: text, reading: reading)
        } catch {
            throw ValueError("is no JSON: \(error.message)")
        }
    }
}

extension JSON {
    /// A member as what it is wanted as; nothing and null are the same.
    fileprivate func read<Value: InputValue>(_ name: String) throws(ValueError) -> Value {
        do { return try Value(json: self[name] ?? .null) } catch { throw error.under(name) }
    }
}

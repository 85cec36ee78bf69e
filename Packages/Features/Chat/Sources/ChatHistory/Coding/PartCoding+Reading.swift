import Capabilities
import Cryptography
import JSON

extension PartCoding {
    func parts(_ json: JSON) throws(ValueError) -> [Message.Part] { try json.list(part) }

    func part(_ json: JSON) throws(ValueError) -> Message.Part {
        let type: String = try json.member("type")
        switch type {
        case "text": return .text(try json.member("text"))
        case "refusal": return .refusal(try json.member("text"))
        case "reasoning":
            return .reasoning(
                Reasoning(
                    try json.member("text"), signature: try json.optional("signature"),
                    sealed: try json.optional("sealed")))
        case "attachment":
            return .attachment(
                Attachment(
                    name: try json.member("name"), mediaType: try json.member("media_type"),
                    bytes: try bytes(json)))
        case "call": return .call(try call(json))
        case "malformed_call":
            return .malformedCall(
                MalformedCall(
                    id: try json.member("id"), name: try json.member("name"), text: try json.member("text"),
                    reason: try json.member("reason")))
        case "result": return .result(try result(json))
        default:
            throw ValueError("has a type that is not known: \(PlainText.escape(type).quotedForMessage)", at: ["type"])
        }
    }

    func call(_ json: JSON) throws(ValueError) -> ToolCall {
        ToolCall(
            id: try json.member("id"), name: try json.member("name"), input: try input(json),
            isDone: try json.optional("done") ?? false)
    }

    private func input(_ json: JSON) throws(ValueError) -> JSON {
        if let input = json["input"] { return input }
        guard let text: String = try json.optional("input_text") else {
            throw ValueError("is missing", at: ["input"])
        }
        do {
            return try JSON(parsing: text, reading: .deep)
        } catch {
            throw ValueError("is no JSON: \(error.message)", at: ["input_text"])
        }
    }

    func result(_ json: JSON) throws(ValueError) -> ToolResult {
        let content: String
        if let name: String = try json.optional("blob") {
            content = String(decoding: try blob(name), as: UTF8.self)
        } else {
            content = try json.member("content")
        }
        return ToolResult(
            call: try json.member("call"), content: content, isError: try json.optional("error") ?? false,
            duration: try duration(json), exitCode: try json.optional("exit_code"))
    }

    private func duration(_ json: JSON) throws(ValueError) -> Duration? {
        guard let numbers: [Int] = try json.optional("duration") else { return nil }
        guard numbers.count == 2 else { throw ValueError("needs seconds and attoseconds", at: ["duration"]) }
        return Duration(secondsComponent: Int64(numbers[0]), attosecondsComponent: Int64(numbers[1]))
    }

    private func bytes(_ json: JSON) throws(ValueError) -> [UInt8] {
        if let name: String = try json.optional("blob") { return try blob(name) }
        let text: String = try json.member("data")
        guard let bytes = Base64.decode(text) else { throw ValueError("is no base64", at: ["data"]) }
        return bytes
    }

    private func blob(_ name: String) throws(ValueError) -> [UInt8] {
        do {
            return try fetch(name)
        } catch let error as ValueError {
            throw error.under("blob")
        } catch {
            throw ValueError("cannot be read: \(error)", at: ["blob"])
        }
    }
}

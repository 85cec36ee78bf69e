public import Capabilities
import Cryptography
public import JSON

/// Parts of messages as JSON for a store, and back without loss.
///
///     let text = try MessageCoding.inline.json(message.parts).text()
///     let parts = try MessageCoding.inline.parts(JSON(parsing: text, reading: MessageCoding.reading))
///
/// What was stored once has to be readable for good, so the form is only ever added to.
public struct MessageCoding {
    /// Gives the name under which it has put some bytes elsewhere, or nil to have them written out.
    public var keep: ([UInt8]) throws -> String?
    /// Gives back the bytes that were put elsewhere.
    public var fetch: (String) throws -> [UInt8]

    public init(keep: @escaping ([UInt8]) throws -> String?, fetch: @escaping (String) throws -> [UInt8]) {
        self.keep = keep
        self.fetch = fetch
    }

    /// With everything written out.
    public static var inline: MessageCoding {
        MessageCoding { _ in
            nil
        } fetch: { name in
            throw ValueError("refers to \(name.quotedForMessage), which is not in here")
        }
    }

    /// How its texts are read: the input of a call nests as deep as a model likes.
    public static var reading: JSONReading {
        var reading = JSONReading.strict
        reading.maxDepth = JSONReading.deepest
        return reading
    }

    /// A result beyond this size is put elsewhere, where there is a place for it.
    private static let largestInline = 32 << 10

    // MARK: Writing

    public func json(_ parts: [Message.Part]) throws -> JSON { .array(try parts.map(json)) }

    public func json(_ call: ToolCall) -> JSON {
        var object: JSONObject = ["type": "call", "id": call.id.json, "name": call.name.json]
        // An input at the limit of depth could not be read again inside of what surrounds it here.
        let isDeep = call.input.nests(deeper: JSONReading.deepest / 2)
        object[isDeep ? "input_text" : "input"] = isDeep ? .string(call.input.text()) : call.input
        if call.isDone { object["done"] = true }
        return .object(object)
    }

    public func json(_ result: ToolResult) throws -> JSON {
        var object: JSONObject = ["type": "result", "call": result.call.json]
        let isLarge = result.content.utf8.count > Self.largestInline
        if isLarge, let name = try keep(Array(result.content.utf8)) {
            object["blob"] = name.json
        } else {
            object["content"] = result.content.json
        }
        if result.isError { object["error"] = true }
        if let duration = result.duration {
            let (seconds, attoseconds) = duration.components
            // Clocks count nanoseconds, which a number of milliseconds holds exactly; whatever is finer has two numbers.
            if attoseconds % 1_000_000_000 == 0, (0..<1_000_000).contains(seconds) {
                object["duration_ms"] = .double((duration / .nanoseconds(1)).rounded() / 1e6)
            } else {
                object["duration"] = [.int(Int(seconds)), .int(Int(attoseconds))]
            }
        }
        object["exit_code"] = result.exitCode?.json
        return .object(object)
    }

    private func json(_ part: Message.Part) throws -> JSON {
        switch part {
        case .text(let text): return ["type": "text", "text": text.json]
        case .refusal(let text): return ["type": "refusal", "text": text.json]
        case .reasoning(let thought):
            var object: JSONObject = ["type": "reasoning", "text": thought.text.json]
            object["signature"] = thought.signature?.json
            object["sealed"] = thought.sealed?.json
            return .object(object)
        case .attachment(let file):
            let name = try keep(file.bytes)
            return [
                "type": "attachment", "name": file.name.json, "media_type": file.mediaType.json,
                name == nil ? "data" : "blob": .string(name ?? Base64.encode(file.bytes)),
            ]
        case .call(let call): return json(call)
        case .malformedCall(let call):
            return [
                "type": "malformed_call", "id": call.id.json, "name": call.name.json, "text": call.text.json,
                "reason": call.reason.json,
            ]
        case .result(let result): return try json(result)
        }
    }
}

extension JSON {
    /// Whether more than so many lists and objects contain each other.
    fileprivate func nests(deeper limit: Int) -> Bool {
        switch self {
        case .array(let elements): limit == 0 || elements.contains { $0.nests(deeper: limit - 1) }
        case .object(let members): limit == 0 || members.contains { $0.value.nests(deeper: limit - 1) }
        default: false
        }
    }
}

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

extension ChatAnswer.Finish {
    /// The word for a store, such as `length` or `other:paused`.
    public var word: String {
        switch self {
        case .stop: "stop"
        case .length: "length"
        case .calls: "calls"
        case .refused: "refused"
        case .other(let reason): "other:\(reason)"
        }
    }

    /// Reads the word back; one that is not known here is a reason of its own.
    public init(word: String) {
        switch word {
        case "stop": self = .stop
        case "length": self = .length
        case "calls": self = .calls
        case "refused": self = .refused
        default: self = .other(word.hasPrefix("other:") ? String(word.dropFirst("other:".count)) : word)
        }
    }
}

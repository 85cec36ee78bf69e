public import Capabilities
public import JSON

/// Message parts as JSON for a store, and back without loss.
///
///     let text = try MessageCoding.inline.json(message.parts).text()
///     let parts = try MessageCoding.inline.parts(JSON(parsing: text, reading: MessageCoding.reading))
///
/// Stored parts must stay readable for good, so the format is only ever extended.
public struct MessageCoding {
    /// Stores bytes elsewhere and returns their name, or nil to write them inline.
    public var keep: ([UInt8]) throws -> String?
    /// Returns the bytes that were stored elsewhere.
    public var fetch: (String) throws -> [UInt8]

    /// Passes attachments and large results to `keep`, and reads them back with `fetch`.
    public init(keep: @escaping ([UInt8]) throws -> String?, fetch: @escaping (String) throws -> [UInt8]) {
        self.keep = keep
        self.fetch = fetch
    }

    /// Writes everything inline.
    public static var inline: MessageCoding {
        MessageCoding { _ in
            nil
        } fetch: { name in
            throw ValueError("refers to \(name.quotedForMessage), which is missing")
        }
    }

    /// How its texts are read: the input of a call nests as deeply as a model wrote it.
    public static var reading: JSONReading {
        var reading = JSONReading.strict
        reading.maxDepth = JSONReading.deepest
        return reading
    }

    /// Larger results are stored elsewhere, if possible.
    private static let largestInline = 32 << 10

    // MARK: Writing

    /// The parts as a list, which `parts` reads. Throws what `keep` throws.
    public func json(_ parts: [Message.Part]) throws -> JSON { .array(try parts.map(json)) }

    /// A call, as it is written within a message.
    public func json(_ call: ToolCall) -> JSON {
        var object: JSONObject = ["type": "call", "id": call.id.json, "name": call.name.json]
        // An input at the depth limit could not be read again inside of the surrounding JSON.
        let isDeep = call.input.nests(deeper: JSONReading.deepest / 2)
        object[isDeep ? "input_text" : "input"] = isDeep ? .string(call.input.text()) : call.input
        if call.isDone { object["done"] = true }
        return .object(object)
    }

    /// A result, as it is written within a message. Throws what `keep` throws.
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
            // Clocks count nanoseconds, which a number of milliseconds can express exactly; finer values have two
            // numbers.
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
    /// Whether the nesting exceeds this depth.
    fileprivate func nests(deeper limit: Int) -> Bool {
        switch self {
        case .array(let elements): limit == 0 || elements.contains { $0.nests(deeper: limit - 1) }
        case .object(let members): limit == 0 || members.contains { $0.value.nests(deeper: limit - 1) }
        default: false
        }
    }
}

extension MessageCoding {
    /// The parts in a stored text.
    public func parts(text: String) throws(ValueError) -> [Message.Part] {
        try parts(Self.parsed(text))
    }

    /// The parts in a list. An error names the index of the part.
    public func parts(_ json: JSON) throws(ValueError) -> [Message.Part] {
        guard let elements = json.array else { throw ValueError("needs a list, not \(json.kindName)") }
        var parts: [Message.Part] = []
        parts.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do { parts.append(try part(element)) } catch { throw error.under(String(index)) }
        }
        return parts
    }

    /// A call that `json` has written.
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

    /// A result that `json` has written, with its content even if it is stored elsewhere.
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
            throw ValueError("has an unknown type: \(PlainText.escape(type).quotedForMessage)", at: ["type"])
        }
    }

    private func duration(_ json: JSON) throws(ValueError) -> Duration? {
        if let milliseconds: Double = try json.read("duration_ms") {
            guard (0..<1e12).contains(milliseconds) else {
                throw ValueError("is not a valid duration", at: ["duration_ms"])
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
        guard let bytes = Base64.decode(text) else { throw ValueError("is not valid base64", at: ["data"]) }
        return bytes
    }

    /// The bytes stored elsewhere, if there are any.
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
            throw ValueError("is not valid JSON: \(error.message)")
        }
    }
}

extension JSON {
    /// A member with its expected type. Missing and null are the same.
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

    /// Reads the word back. An unknown word is kept as a reason.
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

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
        let isDeep = Self.isDeep(call.input)
        object[isDeep ? "input_text" : "input"] = isDeep ? .string(call.input.text()) : call.input
        if call.isDone { object["done"] = true }
        return .object(object)
    }

    /// A result, as it is written within a message. Throws what `keep` throws.
    public func json(_ result: ToolResult) throws -> JSON {
        var object: JSONObject = ["type": "result", "call": result.call.json]
        if result.parts.count == 1, case .text(let text) = result.parts[0] {
            try write(text, as: "content", into: &object)
        } else {
            object["parts"] = .array(try result.parts.map(json))
        }
        object["structured"] = result.structured.map(sealed)
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

    /// Whether a value could not be read again inside of the surrounding JSON.
    private static func isDeep(_ value: JSON) -> Bool { value.nests(deeper: JSONReading.deepest / 2) }

    /// A value in a form that can be read again, as `unsealed` does.
    private func sealed(_ value: JSON) -> JSON {
        Self.isDeep(value) ? ["text": .string(value.text())] : ["value": value]
    }

    /// Writes a text as a member, or stores it elsewhere if it is large.
    private func write(_ text: String, as name: String, into object: inout JSONObject) throws {
        if text.utf8.count > Self.largestInline, let blob = try keep(Array(text.utf8)) {
            object["blob"] = blob.json
        } else {
            object[name] = text.json
        }
    }

    private func json(_ part: ToolPart) throws -> JSON {
        var object: JSONObject
        switch part {
        case .text(let text):
            object = ["type": "text"]
            try write(text, as: "text", into: &object)
        case .media(let media):
            object = ["type": "media", "name": media.name.json, "media_type": media.mediaType.json]
            let blob = try keep(media.bytes)
            object[blob == nil ? "data" : "blob"] = .string(blob ?? Base64.encode(media.bytes))
        case .resource(let resource):
            object = ["type": "resource", "address": resource.address.json]
            object["media_type"] = resource.mediaType?.json
            switch resource.content {
            case .text(let text): try write(text, as: "text", into: &object)
            case .bytes(let bytes):
                object["is_binary"] = true
                let blob = try keep(bytes)
                object[blob == nil ? "data" : "blob"] = .string(blob ?? Base64.encode(bytes))
            }
        case .link(let link):
            object = ["type": "link", "address": link.address.json, "name": link.name.json]
            object["title"] = link.title?.json
            object["summary"] = link.summary?.json
            object["media_type"] = link.mediaType?.json
            object["size"] = link.size?.json
        }
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
        var parts: [ToolPart] = []
        if let elements = json["parts"]?.array {
            for (index, element) in elements.enumerated() {
                do { parts.append(try toolPart(element)) } catch {
                    throw error.under(String(index)).under("parts")
                }
            }
        } else {
            parts.append(.text(try text(json, "content")))
        }
        return ToolResult(
            call: try json.read("call"), parts: parts, structured: try json["structured"].map(unsealed),
            isError: try json.read("error") ?? false, duration: try duration(json),
            exitCode: try json.read("exit_code"))
    }

    private func unsealed(_ json: JSON) throws(ValueError) -> JSON {
        if let value = json["value"] { return value }
        let text: String = try json.read("text")
        do { return try Self.parsed(text) } catch { throw error.under("structured") }
    }

    /// A text that is a member, or is stored elsewhere.
    private func text(_ json: JSON, _ name: String) throws(ValueError) -> String {
        if let kept = try blob(json) { return String(decoding: kept, as: UTF8.self) }
        return try json.read(name)
    }

    private func toolPart(_ json: JSON) throws(ValueError) -> ToolPart {
        let type: String = try json.read("type")
        switch type {
        case "text": return .text(try text(json, "text"))
        case "media":
            return .media(
                Attachment(name: try json.read("name"), mediaType: try json.read("media_type"), bytes: try bytes(json)))
        case "resource":
            let isBinary: Bool = try json.read("is_binary") ?? false
            return .resource(
                ToolResource(
                    address: try json.read("address"), mediaType: try json.read("media_type"),
                    content: isBinary ? .bytes(try bytes(json)) : .text(try text(json, "text"))))
        case "link":
            return .link(
                ToolLink(
                    address: try json.read("address"), name: try json.read("name"), title: try json.read("title"),
                    summary: try json.read("summary"), mediaType: try json.read("media_type"),
                    size: try json.read("size")))
        default: throw ValueError("has an unknown type: \(PlainText.escape(type).quotedForMessage)", at: ["type"])
        }
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

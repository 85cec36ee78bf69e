public import JSON
import Synchronization

/// Takes secrets out of texts for people and files: those that were used in this process, and what looks like one.
///
/// Logs, traces, errors and messages pass through the host's redactor on their way out. Whoever reads or makes a secret
/// tells it first, so that it is known before it can come back in somebody's error.
public final class Redactor: Sendable {
    /// What stands in the place of a secret.
    public static let mark = "‹redacted›"

    private let known = Mutex(KnownSecrets())

    public init() {}

    /// From now on this secret is taken out, also where it is percent-encoded, or inside a JSON text.
    ///
    /// Less than six bytes are not learnt: they would be found in words that mean nothing. Of more than a thousand secrets
    /// those that were told longest ago are forgotten.
    ///
    /// - Parameter name: what stands in its place in what is kept, so that one sees which it was.
    public func learn(_ secret: Secret, named name: String? = nil) {
        secret.withText { text in
            guard text.utf8.count >= 6 else { return }
            known.withLock { $0.insert(text, named: name) }
        }
    }

    /// From now on every text in the value is taken out, at any depth.
    public func learn(textsOf value: JSON) {
        switch value {
        case .string(let text): learn(Secret(text))
        case .array(let elements): for element in elements { learn(textsOf: element) }
        case .object(let members): for (_, member) in members { learn(textsOf: member) }
        default: break
        }
    }

    /// The text with a mark in the place of each secret.
    public func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let found = secrets.ranges(in: bytes) + SecretShapes.ranges(in: bytes)
        if found.isEmpty { return text }
        return Self.marked(bytes, found.map { ($0, Self.mark) })
    }

    /// A copy, so that nobody waits for somebody else's long text.
    var secrets: KnownSecrets { known.withLock { $0 } }

    /// The text with marks in places; those that overlap become one.
    static func marked(_ bytes: [UInt8], _ found: [(range: Range<Int>, mark: String)]) -> String {
        var result: [UInt8] = []
        var position = 0
        for (range, mark) in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.upperBound > position {
            if range.lowerBound >= position {
                result += bytes[position..<range.lowerBound]
                result += mark.utf8
            }
            position = range.upperBound
        }
        return String(decoding: result + bytes[position...], as: UTF8.self)
    }
}

extension Redactor {
    /// The value with a mark in the place of each secret in its texts, at any depth. Names of members stay.
    public func redact(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(redact(text))
        case .array(let elements): .array(elements.map { redact($0) })
        case .object(let object): .object(redact(object))
        default: value
        }
    }

    /// The object with a mark in the place of each secret in its texts.
    public func redact(_ object: JSONObject) -> JSONObject {
        var clean: JSONObject = [:]
        for (name, value) in object { clean.append(name, redact(value)) }
        return clean
    }
}

/// What is kept of a conversation holds no secrets: those that are known, and what can hardly be anything else. A password
/// in a line of code stays, as nobody can tell it from a placeholder.
extension Redactor {
    /// The text with a mark in the place of each secret, which names it where it has a name.
    public func kept(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let found = Self.keptOut(of: bytes, secrets)
        return found.isEmpty ? text : Self.marked(bytes, found)
    }

    /// The value without the secrets in its texts and in the names of its members, at any depth.
    public func kept(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): return .string(kept(text))
        case .array(let elements): return .array(elements.map { kept($0) })
        case .object(let object):
            var clean: JSONObject = [:]
            for (name, value) in object { clean.append(Self.free(kept(name), in: clean), kept(value)) }
            return .object(clean)
        default: return value
        }
    }

    /// A name that no member has. Two names may be the same once their secrets are gone, and no member is to be lost.
    private static func free(_ name: String, in object: JSONObject) -> String {
        var (free, number) = (name, 1)
        while object[free] != nil {
            number += 1
            free = "\(name) \(number)"
        }
        return free
    }

    /// The name of a tool. With a mark in it providers would refuse the whole conversation: they take letters alone.
    private func keptName(_ name: String) -> String { kept(name) == name ? name : "redacted" }

    public func kept(_ message: Message) -> Message {
        var message = message
        message.parts = message.parts.compactMap { kept($0) }
        return message
    }

    /// Nil for thoughts with a secret in them that are signed: changed they would be refused, and whole they are not kept.
    private func kept(_ part: Message.Part) -> Message.Part? {
        switch part {
        case .text(let text): return .text(kept(text))
        case .refusal(let text): return .refusal(kept(text))
        case .reasoning(var thought):
            let text = kept(thought.text)
            guard text != thought.text else { return part }
            if thought.signature != nil || thought.sealed != nil { return nil }
            thought.text = text
            return .reasoning(thought)
        case .attachment(var attachment):
            attachment.name = kept(attachment.name)
            // In a picture nobody would find one.
            guard let text = String(validating: attachment.bytes, as: UTF8.self) else {
                return .attachment(attachment)
            }
            attachment.bytes = Array(kept(text).utf8)
            return .attachment(attachment)
        case .call(let call): return .call(kept(call))
        case .malformedCall(var call):
            call.name = keptName(call.name)
            call.text = kept(call.text)
            call.reason = kept(call.reason)
            return .malformedCall(call)
        case .result(let result): return .result(kept(result))
        }
    }

    public func kept(_ call: ToolCall) -> ToolCall {
        var call = call
        call.name = keptName(call.name)
        call.input = kept(call.input)
        return call
    }

    public func kept(_ result: ToolResult) -> ToolResult {
        var result = result
        result.content = kept(result.content)
        return result
    }

    /// How much of a text that still grows can be kept: what may be the beginning of a secret waits for the rest.
    ///
    /// - Returns: the beginning as it is kept, and the rest as it came.
    public func keptSoFar(_ text: String) -> (kept: String, rest: String) {
        let bytes = Array(text.utf8)
        let known = secrets
        let found = Self.keptOut(of: bytes, known)
        var end = min(known.beginning(atEndOf: bytes), SecretShapes.beginning(atEndOf: bytes))
        // One at the end may be the beginning of a longer one.
        for (range, _) in found.sorted(by: { $0.range.lowerBound > $1.range.lowerBound })
        where range.upperBound > end || range.upperBound == bytes.count { end = min(end, range.lowerBound) }
        if bytes.count - end > Self.longestRest { end = bytes.count }
        let kept = Self.marked(Array(bytes[..<end]), found.filter { $0.range.upperBound <= end })
        return (kept, String(decoding: bytes[end...], as: UTF8.self))
    }

    /// No secret is longer; what has not ended by then is something else.
    private static let longestRest = 65_536

    private static func keptOut(of bytes: [UInt8], _ known: KnownSecrets) -> [(range: Range<Int>, mark: String)] {
        known.found(in: bytes).map { found in
            (found.range, found.name.map { "‹redacted:\(PlainText.escape($0))›" } ?? mark)
        } + SecretShapes.certain(in: bytes).map { ($0, mark) }
    }
}

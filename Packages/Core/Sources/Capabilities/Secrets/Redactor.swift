public import JSON
import Synchronization

/// Removes secrets from texts for people and files: secrets used in this process, and text that looks like a secret.
///
/// Logs, traces, errors and messages pass through the host's redactor on their way out. Code that reads or creates a
/// secret registers it first, so that it is known before it can appear in an error message.
public final class Redactor: Sendable {
    /// Replaces a secret.
    public static let mark = "‹redacted›"

    private let known = Mutex(KnownSecrets())

    /// Knows no secrets yet, but already removes what looks like one.
    public init() {}

    /// From now on, removes this secret, also percent-encoded or inside JSON text.
    ///
    /// Ignores secrets of less than six bytes, which would match ordinary words. Beyond a thousand secrets, the least
    /// recently registered ones are forgotten.
    ///
    /// - Parameter name: shown in place of the secret in stored texts, to tell which one it was.
    public func learn(_ secret: Secret, named name: String? = nil) {
        secret.withText { text in
            guard text.utf8.count >= 6 else { return }
            known.withLock { $0.insert(text, named: name) }
        }
    }

    /// From now on, removes every text in the value, at any depth.
    public func learn(textsOf value: JSON) {
        switch value {
        case .string(let text): learn(Secret(text))
        case .array(let elements): for element in elements { learn(textsOf: element) }
        case .object(let members): for (_, member) in members { learn(textsOf: member) }
        default: break
        }
    }

    /// The text with a mark in place of each secret.
    public func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let found = secrets.ranges(in: bytes) + SecretShapes.ranges(in: bytes)
        if found.isEmpty { return text }
        return Self.marked(bytes, found.map { ($0, Self.mark) })
    }

    /// A copy, so that nobody waits while another long text is processed.
    var secrets: KnownSecrets { known.withLock { $0 } }

    /// The text with marks in place of ranges; overlapping ranges become one.
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
    /// The value with a mark in place of each secret in its texts, at any depth. Member names stay.
    public func redact(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(redact(text))
        case .array(let elements): .array(elements.map { redact($0) })
        case .object(let object): .object(redact(object))
        default: value
        }
    }

    /// The object with a mark in place of each secret in its texts.
    public func redact(_ object: JSONObject) -> JSONObject {
        var clean: JSONObject = [:]
        for (name, value) in object { clean.append(name, redact(value)) }
        return clean
    }
}

/// Stored conversations contain no secrets: neither known ones nor text that can hardly be anything else. A password in
/// a line of code stays, because it cannot be distinguished from a placeholder.
extension Redactor {
    /// The text with a mark in place of each secret; the mark contains the secret's name, if there is one.
    public func kept(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let found = Self.keptOut(of: bytes, secrets)
        return found.isEmpty ? text : Self.marked(bytes, found)
    }

    /// The value without secrets in its texts and member names, at any depth.
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

    /// A name that no member has. Two names may become equal when their secrets are removed, and no member may be lost.
    private static func free(_ name: String, in object: JSONObject) -> String {
        var (free, number) = (name, 1)
        while object[free] != nil {
            number += 1
            free = "\(name) \(number)"
        }
        return free
    }

    /// The name of a tool. A mark in it would make providers refuse the whole conversation, because they allow only
    /// letters.
    private func keptName(_ name: String) -> String { kept(name) == name ? name : "redacted" }

    /// The message without secrets in its parts. Signed reasoning that contains one is left out.
    public func kept(_ message: Message) -> Message {
        var message = message
        message.parts = message.parts.compactMap { kept($0) }
        return message
    }

    /// Nil for signed reasoning that contains a secret: changed it would be refused, and unchanged it must not be
    /// stored.
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
        case .attachment(let attachment): return .attachment(kept(attachment))
        case .call(let call): return .call(kept(call))
        case .malformedCall(var call):
            call.name = keptName(call.name)
            call.text = kept(call.text)
            call.reason = kept(call.reason)
            return .malformedCall(call)
        case .result(let result): return .result(kept(result))
        }
    }

    /// The call without secrets in its input. A name that contains one becomes `redacted`.
    public func kept(_ call: ToolCall) -> ToolCall {
        var call = call
        call.name = keptName(call.name)
        call.input = kept(call.input)
        return call
    }

    /// The result without secrets in what it contains.
    public func kept(_ result: ToolResult) -> ToolResult {
        var result = result
        result.parts = result.parts.map(kept)
        result.structured = result.structured.map(kept)
        return result
    }

    private func kept(_ part: ToolPart) -> ToolPart {
        switch part {
        case .text(let text): return .text(kept(text))
        case .media(let media): return .media(kept(media))
        case .resource(let resource):
            let content: ToolResource.Content =
                switch resource.content {
                case .text(let text): .text(kept(text))
                case .bytes(let bytes): .bytes(keptText(bytes))
                }
            return .resource(
                ToolResource(address: kept(resource.address), mediaType: resource.mediaType, content: content))
        case .link(let link):
            return .link(
                ToolLink(
                    address: kept(link.address), name: kept(link.name), title: link.title.map(kept),
                    summary: link.summary.map(kept), mediaType: link.mediaType, size: link.size))
        }
    }

    private func kept(_ attachment: Attachment) -> Attachment {
        Attachment(
            name: kept(attachment.name), mediaType: attachment.mediaType, bytes: keptText(attachment.bytes))
    }

    /// Secrets in images cannot be found, only those in text.
    private func keptText(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self).map { Array(kept($0).utf8) } ?? bytes
    }

    /// The part of a growing text that can be stored now; the possible beginning of a secret waits for more text.
    ///
    /// - Returns: the beginning in its stored form, and the rest unchanged.
    public func keptSoFar(_ text: String) -> (kept: String, rest: String) {
        let bytes = Array(text.utf8)
        let known = secrets
        let found = Self.keptOut(of: bytes, known)
        var end = min(known.beginning(atEndOf: bytes), SecretShapes.beginning(atEndOf: bytes))
        // A secret at the end may be the beginning of a longer one.
        for (range, _) in found.sorted(by: { $0.range.lowerBound > $1.range.lowerBound })
        where range.upperBound > end || range.upperBound == bytes.count { end = min(end, range.lowerBound) }
        if bytes.count - end > Self.longestRest { end = bytes.count }
        let kept = Self.marked(Array(bytes[..<end]), found.filter { $0.range.upperBound <= end })
        return (kept, String(decoding: bytes[end...], as: UTF8.self))
    }

    /// No secret is longer, so longer text is something else.
    private static let longestRest = 65_536

    private static func keptOut(of bytes: [UInt8], _ known: KnownSecrets) -> [(range: Range<Int>, mark: String)] {
        known.found(in: bytes).map { found in
            (found.range, found.name.map { "‹redacted:\(PlainText.escape($0))›" } ?? mark)
        } + SecretShapes.certain(in: bytes).map { ($0, mark) }
    }
}

/// Secrets in all forms in which they may appear, found by their first four bytes.
struct KnownSecrets {
    /// The maximum number of secrets. Without it, a server that renews its tokens every few minutes would accumulate
    /// all of them.
    private static let limit = 1000

    private struct Form {
        let bytes: [UInt8]
        /// The name of the secret, if it has one.
        let name: String?
        /// The number of secrets with this form.
        var count = 1
    }

    private var byBeginning: [UInt32: [Form]] = [:]
    /// The order in which secrets were last registered.
    private var told: [[UInt8]: Int] = [:]
    private var lastTold = 0
    /// The length of the longest form ever registered.
    private(set) var longest = 0

    mutating func insert(_ text: String, named name: String? = nil) {
        lastTold += 1
        if told.updateValue(lastTold, forKey: Array(text.utf8)) == nil { addForms(of: text, name) }
        guard told.count > Self.limit, let oldest = told.min(by: { $0.value < $1.value })?.key else { return }
        told[oldest] = nil
        removeForms(of: String(decoding: oldest, as: UTF8.self))
    }

    private mutating func addForms(of text: String, _ name: String?) {
        for form in Self.forms(of: text) {
            let (key, bytes) = Self.entry(form)
            longest = max(longest, bytes.count)
            if let place = byBeginning[key]?.firstIndex(where: { $0.bytes == bytes }) {
                byBeginning[key]?[place].count += 1
            } else {
                byBeginning[key, default: []].append(Form(bytes: bytes, name: name))
            }
        }
    }

    private mutating func removeForms(of text: String) {
        for form in Self.forms(of: text) {
            let (key, bytes) = Self.entry(form)
            guard let place = byBeginning[key]?.firstIndex(where: { $0.bytes == bytes }) else { continue }
            byBeginning[key]?[place].count -= 1
            if byBeginning[key]?[place].count == 0 { byBeginning[key]?.remove(at: place) }
            if byBeginning[key]?.isEmpty == true { byBeginning[key] = nil }
        }
    }

    private static func entry(_ form: String) -> (key: UInt32, bytes: [UInt8]) {
        let bytes = Array(form.utf8)
        return (key(bytes[0], bytes[1], bytes[2], bytes[3]), bytes)
    }

    func ranges(in text: [UInt8]) -> [Range<Int>] { found(in: text).map(\.range) }

    /// The ranges and the names of the secrets.
    func found(in text: [UInt8]) -> [(range: Range<Int>, name: String?)] {
        guard !byBeginning.isEmpty, text.count >= 4 else { return [] }
        var found: [(Range<Int>, String?)] = []
        for start in 0...(text.count - 4) {
            guard let forms = byBeginning[Self.key(text[start], text[start + 1], text[start + 2], text[start + 3])]
            else { continue }
            for form in forms {
                let shared = Self.shared(text, from: start, form.bytes)
                if shared == form.bytes.count || shared >= Self.tellingBeginning {
                    found.append((start..<(start + shared), form.name))
                }
            }
        }
        return found
    }

    /// Where an incomplete secret may begin at the end of a text; the end of the text if none does.
    func beginning(atEndOf text: [UInt8]) -> Int {
        guard longest > 0 else { return text.count }
        for start in max(0, text.count - longest)..<text.count {
            let rest = text[start...]
            if rest.count >= 4 {
                let forms = byBeginning[Self.key(text[start], text[start + 1], text[start + 2], text[start + 3])] ?? []
                if forms.contains(where: { $0.bytes.count > rest.count && $0.bytes.starts(with: rest) }) {
                    return start
                }
            } else if byBeginning.values.contains(where: { $0.contains { $0.bytes.starts(with: rest) } }) {
                return start
            }
        }
        return text.count
    }

    /// If this many bytes of a secret's beginning match, they are removed even without the rest, because the text may
    /// have been cut.
    private static let tellingBeginning = 16

    /// The number of equal bytes.
    private static func shared(_ text: [UInt8], from start: Int, _ form: [UInt8]) -> Int {
        var count = 0
        while count < form.count, start + count < text.count, text[start + count] == form[count] { count += 1 }
        return count
    }

    private static func key(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt32 {
        UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// Plain, as in URLs and forms, in Base64, and in JSON text. Programs differ in what they escape, and how.
    private static func forms(of text: String) -> Set<String> {
        var forms: Set<String> = [text, escaped(text, unicode: false), escaped(text, unicode: true)]
        // What programs leave as it is besides letters and digits.
        for kept in ["-._~", "-._*", "-._~!$'()*,;:@/"] {
            let isKept = { (byte: UInt8) in PercentEncoding.isLetterOrDigit(byte) || kept.utf8.contains(byte) }
            let upper = PercentEncoding.encode(text, keeping: isKept)
            forms.formUnion([
                upper, upper.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+"),
            ])
            forms.insert(PercentEncoding.encode(text, uppercase: false, keeping: isKept))
        }
        return forms.union(base64Forms(of: text))
    }

    /// As in JSON text. Some programs write everything beyond ASCII as `\u00e4`.
    private static func escaped(_ text: String, unicode: Bool) -> String {
        let json = JSON.string(text).text().dropFirst().dropLast()
        guard unicode else { return String(json) }
        var escaped = ""
        for scalar in json.unicodeScalars {
            guard !scalar.isASCII else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in scalar.utf16 {
                escaped += "\\u" + Hexadecimal.digits(of: UInt64(unit), count: 4)
            }
        }
        return escaped
    }
}

extension KnownSecrets {
    /// As in Base64, alone and inside a longer text, for both alphabets.
    ///
    /// Three bytes become four characters, so a text looks different depending on its offset. Characters at its ends
    /// also depend on the neighbouring text and are left out.
    static func base64Forms(of text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        var forms: Set<String> = []
        for alphabet in [Base64Alphabet.standard, .forAddresses] {
            forms.insert(alphabet.encode(bytes, isPadded: false))
            for before in 0..<3 {
                let signs = Array(alphabet.encode(Array(repeating: 0, count: before) + bytes, isPadded: false).utf8)
                let own = (before * 8 + 5) / 6..<((before + bytes.count) * 8 / 6)
                forms.insert(String(decoding: signs[own], as: UTF8.self))
            }
        }
        return forms
    }
}

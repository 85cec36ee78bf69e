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

/// Secrets in every form in which they may come back, found by their first four bytes.
struct KnownSecrets {
    /// So many are kept. A server that renews its tokens every few minutes would hold all of them for as long as it runs.
    private static let limit = 1000

    private struct Form {
        let bytes: [UInt8]
        /// What the secret is called, where somebody has said it.
        let name: String?
        /// How many secrets look like this somewhere.
        var count = 1
    }

    private var byBeginning: [UInt32: [Form]] = [:]
    /// When each was told last, as a count.
    private var told: [[UInt8]: Int] = [:]
    private var lastTold = 0
    /// No form that was ever told is longer.
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

    /// Where they stand, and what they are called.
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

    /// Where at the end of a text a secret may begin of which not all is there; its end where none does.
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

    /// So many bytes of a secret's beginning are taken out even where the rest is not there: somebody may have cut the
    /// text that it stood in.
    private static let tellingBeginning = 16

    /// How many bytes agree.
    private static func shared(_ text: [UInt8], from start: Int, _ form: [UInt8]) -> Int {
        var count = 0
        while count < form.count, start + count < text.count, text[start + count] == form[count] { count += 1 }
        return count
    }

    private static func key(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt32 {
        UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// As it is, in addresses and forms, in Base64, and in JSON texts: programs differ in what they escape, and how.
    private static func forms(of text: String) -> Set<String> {
        var forms: Set<String> = [text, escaped(text, unicode: false), escaped(text, unicode: true)]
        for kept in ["-._~", "-._*", "-._~!$'()*,;:@/"] {
            let upper = percentEncoded(text, kept: kept, isUpper: true)
            forms.formUnion([
                upper, upper.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+"),
            ])
            forms.insert(percentEncoded(text, kept: kept, isUpper: false))
        }
        return forms.union(base64Forms(of: text))
    }

    /// As it stands in an address or a form, where `kept` is what a program leaves as it is beside letters and digits.
    private static func percentEncoded(_ text: String, kept: String, isUpper: Bool) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where kept.utf8.contains(byte): encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: isUpper)
            }
        }
        return encoded
    }

    /// As it stands in a JSON text; some programs write everything beyond ASCII as `\u00e4`.
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
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }
}

extension KnownSecrets {
    /// As it stands in Base64, by itself and in the middle of a longer text, for both alphabets.
    ///
    /// Three bytes become four signs, so a text looks different by where it begins. At its ends are signs that also
    /// depend on what stands beside it; these are left out.
    static func base64Forms(of text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        var forms: Set<String> = []
        for alphabet in [Base64Signs.standard, .forAddresses] {
            let whole = alphabet.encode(bytes)
            forms.insert(String(decoding: whole, as: UTF8.self))
            for before in 0..<3 {
                let signs = alphabet.encode(Array(repeating: 0, count: before) + bytes)
                let own = (before * 8 + 5) / 6..<((before + bytes.count) * 8 / 6)
                forms.insert(String(decoding: signs[own], as: UTF8.self))
            }
        }
        return forms
    }
}

/// The two alphabets of Base64, without the signs that only fill up the end.
private struct Base64Signs {
    private let signs: [UInt8]

    static let standard = Base64Signs("+/")
    static let forAddresses = Base64Signs("-_")

    private init(_ last: String) {
        signs = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            (bits, count) = ((bits << 8 | Int(byte)) & 0xFFFF, count + 8)
            while count >= 6 {
                count -= 6
                encoded.append(signs[bits >> count & 63])
            }
        }
        if count > 0 { encoded.append(signs[bits << (6 - count) & 63]) }
        return encoded
    }
}

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
    /// Less than six bytes are not learnt: they would be found in words that mean nothing.
    public func learn(_ secret: Secret) {
        secret.withText { text in
            guard text.utf8.count >= 6 else { return }
            known.withLock { $0.insert(text) }
        }
    }

    /// The text with a mark in the place of each secret.
    public func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let found = known.withLock { $0.ranges(in: bytes) } + SecretShapes.ranges(in: bytes)
        guard !found.isEmpty else { return text }
        var result: [UInt8] = []
        var position = 0
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > position {
            // Ranges that overlap become one mark.
            if range.lowerBound >= position {
                result += bytes[position..<range.lowerBound]
                result += Self.mark.utf8
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

/// Secrets in every form in which they may come back, found by their first four bytes.
private struct KnownSecrets {
    private var byBeginning: [UInt32: [[UInt8]]] = [:]

    mutating func insert(_ text: String) {
        for form in Set([text, Self.percentEncoded(text), Self.escaped(text)]) {
            let bytes = Array(form.utf8)
            let key = Self.key(bytes[0], bytes[1], bytes[2], bytes[3])
            if byBeginning[key]?.contains(bytes) != true { byBeginning[key, default: []].append(bytes) }
        }
    }

    func ranges(in text: [UInt8]) -> [Range<Int>] {
        guard !byBeginning.isEmpty, text.count >= 4 else { return [] }
        var found: [Range<Int>] = []
        for start in 0...(text.count - 4) {
            guard let forms = byBeginning[Self.key(text[start], text[start + 1], text[start + 2], text[start + 3])]
            else { continue }
            for form in forms where text[start...].starts(with: form) { found.append(start..<(start + form.count)) }
        }
        return found
    }

    private static func key(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt32 {
        UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// As it stands in an address or a form.
    private static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 128, scalar.properties.isAlphabetic || (48...57).contains(byte) || "-._~".utf8.contains(byte) {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// As it stands in a JSON text.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\"", "\\": escaped += "\\\(character)"
            case "\n": escaped += "\\n"
            case "\t": escaped += "\\t"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

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

import Capabilities
import JSON

/// Values and texts of the schema in a message.
enum Shown {
    private static let longest = 60
    private static let most = 10

    /// The beginning of a text, without what a terminal would interpret.
    static func text(_ text: String) -> String {
        let start = String(text.unicodeScalars.prefix(longest))
        return PlainText.escape(start.utf8.count < text.utf8.count ? start + "…" : start)
    }

    /// The beginning of a value as JSON.
    static func value(_ value: JSON) -> String {
        switch value {
        case .string(let text): self.text(JSON.string(String(text.unicodeScalars.prefix(longest + 1))).text())
        case .array(let elements) where elements.count > most || !elements.allSatisfy(isShort):
            "an array of \(count(elements.count, "element"))"
        case .object(let members) where members.count > most || !members.allSatisfy { isShort($0.value) }:
            "an object of \(count(members.count, "member"))"
        case .big(let digits): text(String(digits.unicodeScalars.prefix(longest + 1)))
        default: text(value.text())
        }
    }

    /// Writing a long value to show its beginning would take as long as it is.
    private static func isShort(_ value: JSON) -> Bool {
        switch value {
        case .string(let text), .big(let text): text.utf8.count <= longest
        case .array, .object: false
        default: true
        }
    }

    /// "one, two, …".
    static func list(_ values: [JSON]) -> String {
        let start = values.prefix(most).map(value).joined(separator: ", ")
        return values.count > most ? start + ", …" : start
    }

    /// "1 element", "2 elements".
    static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

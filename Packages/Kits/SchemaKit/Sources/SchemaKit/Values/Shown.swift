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
        case .array(let elements) where elements.count > most: "an array of \(elements.count) elements"
        case .object(let members) where members.count > most: "an object of \(members.count) members"
        default: text(value.text())
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

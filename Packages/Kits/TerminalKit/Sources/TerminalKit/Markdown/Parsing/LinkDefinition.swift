/// A link reference definition: `[label]: address "title"`.
struct LinkDefinition: Sendable, Hashable {
    var label: String
    var address: String
    var title: String

    /// The definition as a person reads it.
    var text: String { "[\(label)]: \(address)" + (title.isEmpty ? "" : " \"\(title)\"") }

    /// The definition as Markdown that reads as the same definition.
    var source: String {
        let address = Self.escape(address, "<>\\")
        return "[\(label)]: <\(address)>" + (title.isEmpty ? "" : " \"\(Self.escape(title, "\"\\"))\"") + "\n"
    }

    private static func escape(_ text: String, _ special: String) -> String {
        var escaped = ""
        for character in text {
            if special.contains(character) { escaped.append("\\") }
            // The library reads entities first, whether or not there is a backslash in front.
            escaped += character == "&" ? "&amp;" : character.isNewline ? " " : String(character)
        }
        return escaped
    }

    /// Whether it is worth the while to look for definitions in `text`.
    static func mayBe(in text: [UInt8]) -> Bool {
        let colons = text.indices.dropFirst().lazy.filter { text[$0] == UInt8(ascii: ":") }
        return colons.contains { text[$0 - 1] == UInt8(ascii: "]") }
    }

    /// The definitions in `text`, all blocks of which are taken as closed.
    static func all(in text: [UInt8]) -> [LinkDefinition] {
        let parser = MarkdownParser()
        parser.feed(text + Array("\n\n***\n".utf8))
        return parser.definitions
    }
}

/// A link reference definition: `[label]: address "title"`.
struct LinkDefinition: Sendable, Hashable {
    var label: String
    var address: String
    var title: String

    /// The definition as it is shown.
    var text: String { "[\(label)]: \(address)" + (title.isEmpty ? "" : " \"\(title)\"") }

    /// The definition as Markdown that is read as the same definition.
    var source: String {
        let address = Self.escape(address, "<>\\")
        return "[\(label)]: <\(address)>" + (title.isEmpty ? "" : " \"\(Self.escape(title, "\"\\"))\"") + "\n"
    }

    private static func escape(_ text: String, _ special: String) -> String {
        var escaped = ""
        for character in text {
            if special.contains(character) { escaped.append("\\") }
            // The library reads entities first, even after a backslash.
            escaped += character == "&" ? "&amp;" : character.isNewline ? " " : String(character)
        }
        return escaped
    }

    /// Whether `text` can contain definitions.
    static func mayBe(in text: [UInt8]) -> Bool {
        let colons = text.indices.dropFirst().lazy.filter { text[$0] == UInt8(ascii: ":") }
        return colons.contains { text[$0 - 1] == UInt8(ascii: "]") }
    }

    /// The definitions in `text`, all of whose blocks are treated as closed.
    static func all(in text: [UInt8]) -> [LinkDefinition] {
        let parser = MarkdownParser()
        parser.feed(text + Array("\n\n***\n".utf8))
        return parser.definitions
    }
}

/// The definitions so far, by label; the first of each applies.
struct DefinitionTable: Sendable {
    private var byLabel: [String: LinkDefinition] = [:]

    /// A longer definition applies in its own block only, because a few bytes elsewhere would make it be read again.
    private static let maximumSize = 1_000
    private static let maximumCount = 1_000

    mutating func learn(_ definitions: [LinkDefinition]) {
        for definition in definitions where byLabel.count < Self.maximumCount {
            guard definition.text.utf8.count <= Self.maximumSize, byLabel[definition.label] == nil else { continue }
            byLabel[definition.label] = definition
        }
    }

    /// The definitions for the labels in brackets in `text`.
    func used(in text: [UInt8]) -> [LinkDefinition] {
        guard !byLabel.isEmpty else { return [] }
        var used: [String: LinkDefinition] = [:]
        var start: Int?
        var isEscaped = false
        for (index, byte) in text.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "[") {
                start = index + 1
            } else if byte == UInt8(ascii: "]"), let begin = start {
                let label = Self.normalized(String(decoding: text[begin..<index], as: UTF8.self))
                used[label] = byLabel[label]
                start = nil
            }
        }
        return used.values.sorted { $0.label < $1.label }
    }

    /// The label as the parser stores it.
    private static func normalized(_ label: String) -> String {
        label.lowercased().split { $0.isWhitespace }.joined(separator: " ")
    }
}

import Capabilities

/// The visible part of a text: its rows, and the position of the cursor among them.
struct ComposerFrame: Equatable, Sendable {
    private(set) var rows: [StyledText] = []
    private(set) var cursor = CellPosition(row: 0, column: 0)

    private static let tabWidth = 4
    private static let mostHintRows = 3

    /// At most as many rows as `size` has, and none that reaches the last column.
    init(_ editor: ComposerEditor, prompt: StyledText, size: TerminalSize) {
        let usable = max(2, size.columns - 1)
        let label = Self.label(editor, prompt).truncated(to: max(1, usable / 2))
        let indent = label.width <= usable / 4 ? label.width : min(2, usable / 4)
        let text = editor.edited
        let ranges = place(text, usable: usable, first: label.width, indent: indent)

        let hint = size.rows < 4 ? [] : Self.rows(of: editor.hint, width: usable)
        let room = max(1, size.rows - hint.count)
        // The row of the cursor stays visible, in the middle if there is more above and below.
        let top = max(0, min(cursor.row - room / 2, ranges.count - room))
        cursor.row -= top
        for number in top..<min(ranges.count, top + room) {
            let edge = number == 0 ? label : StyledText(String(repeating: " ", count: indent))
            rows.append(edge + Self.shown(ranges[number], of: text, room: usable - indent))
        }
        rows += hint
    }

    /// The characters of each row. It also finds the position of the cursor.
    private mutating func place(_ text: EditedText, usable: Int, first: Int, indent: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        var used = first
        for (index, character) in text.characters.enumerated() {
            let width = Self.width(character, of: text, room: usable - indent)
            if character != "\n", used + width > usable, index > start || used > indent {
                ranges.append(start..<index)
                start = index
                used = indent
            }
            if index == text.cursor { cursor = CellPosition(row: ranges.count, column: used) }
            used += width
            if character == "\n" {
                ranges.append(start..<index)
                start = index + 1
                used = indent
            }
        }
        if text.isAtEnd { cursor = CellPosition(row: ranges.count, column: used) }
        return ranges + [start..<text.characters.count]
    }

    private static func width(_ character: Character, of text: EditedText, room: Int) -> Int {
        if let label = text.label(of: character) { return min(TextWidth.of(label), room) }
        return character == "\t" ? tabWidth : character == "\n" ? 0 : TextWidth.of(character)
    }

    private static func shown(_ range: Range<Int>, of text: EditedText, room: Int) -> StyledText {
        var row = StyledText()
        var plain = ""
        for character in text.characters[range] {
            if let label = text.label(of: character) {
                row.append(plain)
                plain = ""
                row.append(StyledText(label, Style(.mutedForeground)).truncated(to: room))
            } else if character == "\t" {
                plain += String(repeating: " ", count: tabWidth)
            } else {
                plain.append(character)
            }
        }
        row.append(plain)
        return row
    }

    private static func label(_ editor: ComposerEditor, _ prompt: StyledText) -> StyledText {
        guard let search = editor.search else { return prompt.singleLine }
        let state = search.hasFailed ? "not found" : "search"
        return StyledText("\(state) ", Style(.mutedForeground)) + StyledText("\(search.words): ")
    }

    private static func rows(of hint: ComposerEditor.Hint, width: Int) -> [StyledText] {
        let style = Style(.mutedForeground)
        switch hint {
        case .none: return []
        case .message(let text): return [StyledText(text, style).truncated(to: width)]
        case .words(let words):
            let rows = StyledText(words.joined(separator: "  "), style).wrapped(to: width)
            guard rows.count > mostHintRows else { return rows }
            let last = (rows[mostHintRows - 1].truncated(to: max(1, width - 2)) + StyledText(" …", style))
            return rows.prefix(mostHintRows - 1) + [last]
        }
    }
}

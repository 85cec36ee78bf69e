@testable import TerminalKit

/// A terminal in memory: cells, a cursor, lines that scrolled away, and the sequences that this kit writes.
struct VirtualScreen {
    let columns: Int
    let rows: Int
    /// Everything above the screen, oldest first.
    private(set) var above: [String] = []
    private(set) var row = 0
    private(set) var column = 0
    /// After a character in the last column, the line is left only with the next character.
    private(set) var isBeyond = false
    private var cells: [[String]]
    private var hasWrap = true
    private let width: @Sendable (Character) -> Int

    /// - Parameter width: the columns that this terminal gives a character.
    init(columns: Int, rows: Int, width: @escaping @Sendable (Character) -> Int = { TextWidth.of($0) }) {
        (self.columns, self.rows, self.width) = (columns, rows, width)
        cells = Array(repeating: Self.blank(columns), count: rows)
    }

    private static func blank(_ columns: Int) -> [String] { Array(repeating: " ", count: columns) }

    /// The rows that are not empty, without trailing spaces.
    var lines: [String] {
        var lines = cells.map(Self.text)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Everything that was shown and not erased.
    var everything: [String] { above + lines }

    private static func text(_ cells: [String]) -> String {
        var text = cells.joined()
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    mutating func show(_ output: String) {
        var rest = Array(output)[...]
        while let character = rest.popFirst() {
            switch character {
            case "\r\n":
                column = 0
                feed()
            case "\r": (column, isBeyond) = (0, false)
            case "\n": feed()
            case "\u{1B}": obey(&rest)
            default: put(character)
            }
        }
    }

    private mutating func obey(_ rest: inout ArraySlice<Character>) {
        precondition(rest.popFirst() == "[", "only control sequences are understood")
        let numbers = rest.prefix { $0.isNumber || $0 == ";" || $0 == "?" }
        rest = rest.dropFirst(numbers.count)
        let number = Int(String(numbers))
        isBeyond = false
        switch rest.popFirst() {
        case "A": row = max(0, row - (number ?? 1))
        case "B": row = min(rows - 1, row + (number ?? 1))
        case "C": column = min(columns - 1, column + (number ?? 1))
        case "G": column = min(columns, number ?? 1) - 1
        case "K": erase(row, from: column)
        case "X": for place in column..<min(columns, column + (number ?? 1)) { cells[row][place] = " " }
        case "h": hasWrap = true
        case "l": hasWrap = false
        case "J":
            if number == 2 {
                for line in 0..<rows { erase(line, from: 0) }
            } else {
                erase(row, from: column)
                for line in row + 1..<max(row + 1, rows) { erase(line, from: 0) }
            }
        case "H": (row, column) = (0, 0)
        case "m": break
        case let other: preconditionFailure("\(String(describing: other)) is not understood")
        }
    }

    private mutating func erase(_ line: Int, from column: Int) {
        for place in column..<columns { cells[line][place] = " " }
    }

    private mutating func put(_ character: Character) {
        let width = width(character)
        if width == 0 { return }
        if isBeyond || column + width > columns {
            // Without autowrap, what has no room is not drawn.
            guard hasWrap else { return column = columns - 1 }
            column = 0
            feed()
        }
        cells[row][column] = String(character)
        for place in 1..<max(1, width) { cells[row][column + place] = "" }
        column += width
        isBeyond = column >= columns
        if isBeyond { column = columns - 1 }
    }

    private mutating func feed() {
        isBeyond = false
        if row < rows - 1 {
            row += 1
            return
        }
        above.append(Self.text(cells.removeFirst()))
        cells.append(Self.blank(columns))
    }
}

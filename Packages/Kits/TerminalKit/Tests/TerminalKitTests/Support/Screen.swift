/// What a terminal shows after output that only contains returns, line feeds and erasures to the end of the line.
func screen(after output: String) -> [String] {
    var rows: [[Unicode.Scalar]] = [[]]
    var column = 0
    var rest = Array(output.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
        switch scalar {
        case "\r": column = 0
        case "\n": rows.append([])
        case "\u{1B}":
            precondition(rest.prefix(2).elementsEqual(["[", "K"]), "only erasing is understood here")
            rest.removeFirst(2)
            rows[rows.count - 1].removeLast(max(0, rows[rows.count - 1].count - column))
        default:
            var row = rows[rows.count - 1]
            row.append(contentsOf: repeatElement(" ", count: max(0, column - row.count)))
            if column < row.count { row[column] = scalar } else { row.append(scalar) }
            rows[rows.count - 1] = row
            column += 1
        }
    }
    return rows.map { row in
        var text = ""
        text.unicodeScalars.append(contentsOf: row)
        return text
    }
}

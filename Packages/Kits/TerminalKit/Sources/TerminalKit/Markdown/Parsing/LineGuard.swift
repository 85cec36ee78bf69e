/// Escapes text that would make the parser slow or large, or that it would lose: dozens of nested blocks on one line,
/// tables with dozens of columns, whose every row would be filled with cells, and cells beyond the last column.
///
/// The characters stay visible; a backslash before them only removes their meaning.
enum LineGuard {
    static let maximumDepth = 32
    static let maximumColumns = 40

    static func guarded(_ line: [UInt8]) -> [UInt8] {
        var index = 0
        for depth in 0... {
            while index < line.count && (line[index] == UInt8(ascii: " ") || line[index] == 0x09) { index += 1 }
            guard let marker = marker(in: line, at: index) else { break }
            if depth == maximumDepth { return escaped(line, at: marker.upperBound - 1) }
            index = marker.upperBound
        }
        return isWideDelimiterRow(line[index...]) ? escaped(line, at: index) : line
    }

    /// A row of a table with `columns` columns. Further cells stay in the last one, as intended by an author who writes
    /// `a | b` in a cell.
    static func guarded(_ line: [UInt8], columns: Int) -> [UInt8] {
        let pipes = line.indices.filter { index in
            line[index] == UInt8(ascii: "|") && (index == 0 || line[index - 1] != UInt8(ascii: "\\"))
        }
        guard let first = pipes.first, let last = pipes.last, pipes.count >= columns else { return line }
        let isLed = line[..<first].allSatisfy { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: ">") }
        let isClosed = line[(last + 1)...].allSatisfy { $0 <= UInt8(ascii: " ") } && pipes.count > (isLed ? 1 : 0)
        let separators = pipes.dropFirst(isLed ? 1 : 0).dropLast(isClosed ? 1 : 0)
        let excess = separators.dropFirst(columns - 1)
        guard !excess.isEmpty else { return line }
        var escaped: [UInt8] = []
        var start = 0
        for pipe in excess {
            escaped += line[start..<pipe] + [UInt8(ascii: "\\")]
            start = pipe
        }
        return escaped + line[start...]
    }

    /// The mark of a quote or a list item at `index`.
    private static func marker(in line: [UInt8], at index: Int) -> Range<Int>? {
        var end = index
        while end < line.count && end < index + 9 && line[end] >= UInt8(ascii: "0") && line[end] <= UInt8(ascii: "9") {
            end += 1
        }
        guard end < line.count else { return nil }
        let isNumbered = end > index
        switch line[end] {
        case UInt8(ascii: ">") where !isNumbered: return index..<end + 1
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"): if isNumbered { return nil }
        case UInt8(ascii: "."), UInt8(ascii: ")"): if !isNumbered { return nil }
        default: return nil
        }
        let isFollowedBySpace = end + 1 == line.count || line[end + 1] <= UInt8(ascii: " ")
        return isFollowedBySpace ? index..<end + 1 : nil
    }

    private static func isWideDelimiterRow(_ rest: ArraySlice<UInt8>) -> Bool {
        var columns = 0
        for byte in rest {
            switch byte {
            case UInt8(ascii: "|"): columns += 1
            case UInt8(ascii: "-"), UInt8(ascii: ":"), 0x09, 0x0A, UInt8(ascii: " "): break
            default: return false
            }
        }
        return columns > maximumColumns
    }

    private static func escaped(_ line: [UInt8], at index: Int) -> [UInt8] {
        line[..<index] + [UInt8(ascii: "\\")] + line[index...]
    }
}

import TerminalKit

/// A text that is searched for, in any case.
struct SearchText: Sendable {
    private let text: String
    /// The bytes in lower case, if all are ASCII: most are, and bytes are compared ten times as fast as characters.
    private let bytes: [UInt8]?

    /// Whether it may be a part of a time.
    let mayBeTime: Bool

    init(_ text: String) {
        self.text = text.lowercased()
        mayBeTime = text.allSatisfy { "0123456789:- ".contains($0) }
        bytes = self.text.utf8.allSatisfy { $0 < 0x80 } ? Array(self.text.utf8) : nil
    }

    /// Whether a text contains it.
    func isIn(_ text: String) -> Bool {
        guard let bytes else {
            return text.utf8.contains { $0 >= 0x80 } && text.lowercased().contains(self.text)
        }
        return Self.place(of: bytes, in: text.utf8.span, from: 0) != nil
    }

    /// The places in a text, none inside another.
    func ranges(in text: String) -> [Range<String.Index>] {
        bytes.map { ranges(of: $0, in: text) } ?? rangesByCharacter(in: text)
    }

    /// The columns of its places in a line.
    func columns(in text: String) -> [Range<Int>] {
        var (column, end) = (0, text.startIndex)
        return ranges(in: text).map { range in
            let start = column + TextWidth.of(text[end..<range.lowerBound])
            (column, end) = (start + TextWidth.of(text[range]), range.upperBound)
            return start..<column
        }
    }

    /// The rows that contain it. One that contains only its beginning counts if the next row continues it, because rows
    /// are cut anywhere.
    func rows(in rows: [StyledText]) -> [Int] {
        let texts = rows.map(\.plainText)
        return texts.indices.filter { index in
            if isIn(texts[index]) { return true }
            guard index + 1 < texts.count, !isIn(texts[index + 1]) else { return false }
            return isIn("\(texts[index]) \(texts[index + 1])") || isIn(texts[index] + texts[index + 1])
        }
    }

    private func ranges(of bytes: [UInt8], in text: String) -> [Range<String.Index>] {
        var ranges: [Range<String.Index>] = []
        var start = 0
        while let place = Self.place(of: bytes, in: text.utf8.span, from: start) {
            let first = text.utf8.index(text.startIndex, offsetBy: place)
            ranges.append(first..<text.utf8.index(first, offsetBy: bytes.count))
            start = place + bytes.count
        }
        return ranges
    }

    private func rangesByCharacter(in text: String) -> [Range<String.Index>] {
        // Each by itself, because a character may become several in lower case.
        let wanted = self.text.map(String.init)
        var ranges: [Range<String.Index>] = []
        var start = text.startIndex
        while start < text.endIndex {
            var (end, count) = (start, 0)
            while count < wanted.count, end < text.endIndex, text[end].lowercased() == wanted[count] {
                (end, count) = (text.index(after: end), count + 1)
            }
            if count == wanted.count {
                ranges.append(start..<end)
                start = end
            } else {
                start = text.index(after: start)
            }
        }
        return ranges
    }

    private static func place(of wanted: [UInt8], in bytes: Span<UInt8>, from start: Int) -> Int? {
        guard let first = wanted.first, bytes.count - wanted.count >= start else { return nil }
        for place in start...bytes.count - wanted.count where lower(bytes[place]) == first {
            var count = 1
            while count < wanted.count, lower(bytes[place + count]) == wanted[count] { count += 1 }
            if count == wanted.count { return place }
        }
        return nil
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}

extension CellBuffer {
    /// Marks the places of a text in a line that was drawn at the beginning of an area's row.
    mutating func mark(_ search: SearchText, in line: StyledText, row: Int, _ area: CellArea) {
        for columns in search.columns(in: line.plainText) {
            let place = CellArea(
                row: row, column: area.column + columns.lowerBound, rows: 1, columns: columns.count)
            restyle(place.intersection(area)) { style in style.reverse = true }
        }
    }

    /// Fills the cells of a row that show nothing, and have no surface of their own.
    mutating func fillEmpty(_ strip: CellArea, _ style: Style) {
        var column = strip.column + strip.columns
        while column > strip.column, cluster(at: CellPosition(row: strip.row, column: column - 1)) == " " {
            column -= 1
        }
        fill(
            CellArea(row: strip.row, column: column, rows: 1, columns: strip.column + strip.columns - column), style)
    }
}

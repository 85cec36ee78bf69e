/// Draws a table within a width: as columns, whose cells wrap where they must, or as records where columns would be
/// too narrow to read.
struct TableLayout {
    let grid: MarkdownGrid
    let width: Int

    private static let line = Style(.border)
    /// Columns narrower than this break every word.
    private static let minimumColumn = 10

    func lines() -> [StyledText] {
        guard let titles = grid.rows.first else { return [] }
        guard let widths = columnWidths() else { return records(titles) }
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "─┼─")
        return lines(of: titles, widths: widths) + [StyledText(rule, Self.line)]
            + grid.rows.dropFirst().flatMap { lines(of: $0, widths: widths) }
    }

    private func lines(of row: [StyledText], widths: [Int]) -> [StyledText] {
        let cells = row.indices.map { row[$0].width > widths[$0] ? row[$0].wrapped(to: widths[$0]) : [row[$0]] }
        let height = cells.map(\.count).max() ?? 0
        return (0..<height).map { number in
            var line = StyledText()
            for (column, parts) in cells.enumerated() {
                if column > 0 { line.append(StyledText(" │ ", Self.line)) }
                let part = number < parts.count ? parts[number] : StyledText()
                line.append(aligned(part, to: widths[column], grid.alignments[column]))
            }
            return line.withoutTrailingSpaces
        }
    }

    private func aligned(_ text: StyledText, to width: Int, _ alignment: MarkdownGrid.Alignment) -> StyledText {
        switch alignment {
        case .leading: return text.padded(to: width)
        case .trailing: return text.padded(to: width, alignment: .trailing)
        case .center:
            let columns = text.width
            return text.padded(to: columns + max(0, width - columns) / 2, alignment: .trailing).padded(to: width)
        }
    }

    /// The widths that fit, the widest columns giving way first; nothing when even narrow ones do not.
    private func columnWidths() -> [Int]? {
        var widths = grid.alignments.indices.map { column in grid.rows.map { $0[column].width }.max() ?? 0 }
        let room = width - 3 * (widths.count - 1)
        func taken(_ limit: Int) -> Int { widths.reduce(0) { $0 + min($1, limit) } }
        guard taken(.max) > room else { return widths }
        guard taken(Self.minimumColumn) <= room else { return nil }
        var limit = Self.minimumColumn
        while taken(limit + 1) <= room { limit += 1 }
        var spare = room - taken(limit)
        for column in widths.indices where widths[column] > limit {
            widths[column] = limit + (spare > 0 ? 1 : 0)
            spare -= 1
        }
        return widths
    }

    /// Each row as lines of title and value; titles without a value are needed once.
    private func records(_ titles: [StyledText]) -> [StyledText] {
        guard grid.rows.count > 1 else { return titles.flatMap { $0.wrapped(to: width) } }
        var lines: [StyledText] = []
        for row in grid.rows.dropFirst() {
            let isFirst = lines.isEmpty
            if !isFirst { lines.append(StyledText(String(repeating: "─", count: min(width, 8)), Self.line)) }
            for (title, value) in zip(titles, row) where !value.isEmpty || isFirst && !title.isEmpty {
                lines += (title.isEmpty ? value : title + ": " + value).withoutTrailingSpaces.wrapped(to: width)
            }
        }
        return lines
    }
}

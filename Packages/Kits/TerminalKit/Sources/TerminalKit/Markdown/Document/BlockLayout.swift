import Capabilities

/// Lays out blocks as lines of a width.
struct BlockLayout {
    let isHighlighting: Bool
    /// Whether code shows its language; not when it only continues.
    let showsCodeInfo: Bool

    /// The prefix of lines is dropped if it would leave less than this to the text.
    private static let minimumRoom = 12
    private static let maximumRule = 72
    private static let quiet = Style(.mutedForeground)

    func lines(of blocks: [MarkdownBlock], width: Int, isTight: Bool) -> [StyledText] {
        var lines: [StyledText] = []
        for block in blocks {
            let next = self.lines(of: block, width: width)
            if !isTight && !lines.isEmpty && !next.isEmpty { lines.append(StyledText()) }
            lines += next
        }
        return lines
    }

    private func lines(of block: MarkdownBlock, width: Int) -> [StyledText] {
        switch block {
        case .paragraph(let text): text.isEmpty ? [] : text.wrapped(to: width)
        case .heading(let level, let text):
            (StyledText(String(repeating: "#", count: level) + " ", Self.quiet) + text).wrapped(to: width)
        case .code(let info, let text): code(text, info: info, width: width)
        case .html(let text):
            Self.split(StyledText(text, Self.quiet).withoutLastNewline).flatMap { $0.tabsExpanded.wrapped(to: width) }
        case .rule: [StyledText(String(repeating: "─", count: min(width, Self.maximumRule)), Style(.border))]
        case .quote(let blocks): quote(blocks, width: width)
        case .list(let list): self.list(list, width: width)
        case .table(let grid): TableLayout(grid: grid, width: width).lines()
        }
    }

    private func quote(_ blocks: [MarkdownBlock], width: Int) -> [StyledText] {
        guard width - 2 >= Self.minimumRoom else { return lines(of: blocks, width: width, isTight: false) }
        return lines(of: blocks, width: width - 2, isTight: false).map {
            StyledText($0.isEmpty ? "│" : "│ ", Style(.border)) + $0
        }
    }

    private func list(_ list: MarkdownList, width: Int) -> [StyledText] {
        let widest = list.items.map { TextWidth.of($0.marker) }.max() ?? 0
        var lines: [StyledText] = []
        for item in list.items {
            if !list.isTight && !lines.isEmpty { lines.append(StyledText()) }
            // Numbers are aligned at their ends; bullets and boxes are followed by their text.
            let indent = (list.isOrdered ? widest : TextWidth.of(item.marker)) + 1
            let hangs = width - indent >= Self.minimumRoom
            let content = self.lines(of: item.blocks, width: hangs ? width - indent : width, isTight: list.isTight)
            let marker = StyledText(item.marker, Self.quiet)
            if hangs, let first = content.first {
                let padded = marker.padded(to: indent - 1, alignment: .trailing)
                lines.append(first.isEmpty ? padded : padded + " " + first)
                lines += content.dropFirst().map {
                    $0.isEmpty ? $0 : StyledText(String(repeating: " ", count: indent)) + $0
                }
            } else {
                lines += marker.wrapped(to: width) + content
            }
        }
        return lines
    }

    private func code(_ text: String, info: String, width: Int) -> [StyledText] {
        let indent = width - 2 >= Self.minimumRoom ? 2 : 0
        var styled = StyledText(text, CodeToken.plain.style)
        if isHighlighting, let language = CodeLanguage.named(info) { styled = language.highlighted(text) }
        var lines = text.isEmpty ? [] : Self.split(styled.withoutLastNewline)
        lines = lines.flatMap { $0.tabsExpanded.folded(to: width - indent) }
        if showsCodeInfo && !info.isEmpty {
            lines = StyledText(info, Self.quiet).singleLine.wrapped(to: width - indent) + lines
        }
        return lines.map { $0.isEmpty ? $0 : StyledText(String(repeating: " ", count: indent)) + $0 }
    }

    /// The lines of a text with several lines.
    private static func split(_ text: StyledText) -> [StyledText] {
        var lines = [StyledText()]
        for run in text.runs {
            for (number, part) in run.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if number > 0 { lines.append(StyledText()) }
                lines[lines.count - 1].append(harmless: String(part), run.style)
            }
        }
        return lines
    }
}

/// Draws a table within a width: as columns, whose cells wrap if necessary, or as records if columns would be too
/// narrow to read.
struct TableLayout {
    let grid: MarkdownGrid
    let width: Int

    private static let line = Style(.border)
    /// Narrower columns break every word.
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

    /// Widths that fit, reducing the widest columns first; nil if even narrow ones do not fit.
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

    /// Each row as lines of title and value; titles without a value are shown once.
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

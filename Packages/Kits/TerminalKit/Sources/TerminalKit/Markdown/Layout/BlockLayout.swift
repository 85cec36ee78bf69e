/// Puts blocks into lines of a width.
struct BlockLayout {
    let isHighlighting: Bool
    /// Whether code says what language it is in; not where it only goes on.
    let showsCodeInfo: Bool

    /// What stands in front of lines is left out where it would leave less than this to the text.
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
            // Numbers stand below each other by their ends; bullets and boxes have text of their own width behind them.
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

    /// The lines of text that has several.
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

/// A block of a document as it will be drawn.
indirect enum MarkdownBlock {
    case paragraph(StyledText)
    case heading(level: Int, StyledText)
    case code(info: String, text: String)
    /// HTML, which is shown and never interpreted.
    case html(String)
    case rule
    case quote([MarkdownBlock])
    case list(MarkdownList)
    case table(MarkdownGrid)
}

/// A list with the markers of its items.
struct MarkdownList {
    struct Item {
        var marker: String
        var blocks: [MarkdownBlock]
    }

    var items: [Item]
    var isOrdered: Bool
    /// Whether no empty lines stand between the items.
    var isTight: Bool
}

/// A table; every row, the titles first, has a cell for each column.
struct MarkdownGrid {
    enum Alignment { case leading, center, trailing }

    var alignments: [Alignment]
    var rows: [[StyledText]]
}

import CCMarkGFM

/// A node of a ``MarkdownTree``, valid while that is; what the C library says about it, as values.
@safe struct MarkdownNode: Equatable {
    enum Kind {
        case quote, list, item, code, html, paragraph, heading, rule, table, row, cell
        case text, softBreak, hardBreak, codeSpan, inlineHTML, emphasis, strong, strikethrough, link, image
        case other
    }

    private let raw: UnsafeMutablePointer<cmark_node>

    init?(_ raw: UnsafeMutablePointer<cmark_node>?) {
        guard let raw = unsafe raw else { return nil }
        unsafe self.raw = raw
    }

    static func == (left: MarkdownNode, right: MarkdownNode) -> Bool { unsafe left.raw == right.raw }

    var parent: MarkdownNode? { unsafe MarkdownNode(cmark_node_parent(raw)) }
    var next: MarkdownNode? { unsafe MarkdownNode(cmark_node_next(raw)) }
    var firstChild: MarkdownNode? { unsafe MarkdownNode(cmark_node_first_child(raw)) }
    var children: some Sequence<MarkdownNode> {
        var upcoming = firstChild
        return AnyIterator {
            defer { upcoming = upcoming?.next }
            return upcoming
        }
    }

    var startLine: Int { unsafe Int(cmark_node_get_start_line(raw)) }
    var literal: String { unsafe Self.string(cmark_node_get_literal(raw)) }
    var address: String { unsafe Self.string(cmark_node_get_url(raw)) }
    var title: String { unsafe Self.string(cmark_node_get_title(raw)) }
    var headingLevel: Int { unsafe Int(cmark_node_get_heading_level(raw)) }
    var codeInfo: String { unsafe Self.string(cmark_node_get_fence_info(raw)) }
    var isFenced: Bool {
        // The library fills all of them, wanted or not.
        var (length, offset, character) = (CInt(0), CInt(0), CChar(0))
        return unsafe cmark_node_get_fenced(raw, &length, &offset, &character) != 0
    }
    var isTight: Bool { unsafe cmark_node_get_list_tight(raw) != 0 }

    /// The number of the first item of an ordered list.
    var listStart: Int? {
        unsafe cmark_node_get_list_type(raw) == CMARK_ORDERED_LIST ? Int(cmark_node_get_list_start(raw)) : nil
    }
    var listDelimiter: String { unsafe cmark_node_get_list_delim(raw) == CMARK_PAREN_DELIM ? ")" : "." }

    /// Whether a task is done; nothing for an item that is no task.
    var isTaskDone: Bool? {
        guard unsafe Self.string(cmark_node_get_type_string(raw)) == "tasklist" else { return nil }
        return unsafe cmark_gfm_extensions_get_tasklist_item_checked(raw)
    }

    var columnCount: Int { unsafe Int(cmark_gfm_extensions_get_table_columns(raw)) }

    /// `l`, `c`, `r` or nothing for each column of a table.
    var alignments: [UInt8] {
        guard let alignments = unsafe cmark_gfm_extensions_get_table_alignments(raw) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: alignments, count: columnCount))
    }

    private static func string(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }
}

extension MarkdownNode {
    var kind: Kind {
        switch unsafe cmark_node_get_type(raw) {
        case CMARK_NODE_TEXT: .text
        case CMARK_NODE_SOFTBREAK: .softBreak
        case CMARK_NODE_LINEBREAK: .hardBreak
        case CMARK_NODE_CODE: .codeSpan
        case CMARK_NODE_HTML_INLINE: .inlineHTML
        case CMARK_NODE_EMPH: .emphasis
        case CMARK_NODE_STRONG: .strong
        case CMARK_NODE_LINK: .link
        case CMARK_NODE_IMAGE: .image
        case CMARK_NODE_PARAGRAPH: .paragraph
        case CMARK_NODE_HEADING: .heading
        case CMARK_NODE_BLOCK_QUOTE: .quote
        case CMARK_NODE_LIST: .list
        case CMARK_NODE_ITEM: .item
        case CMARK_NODE_CODE_BLOCK: .code
        case CMARK_NODE_HTML_BLOCK: .html
        case CMARK_NODE_THEMATIC_BREAK: .rule
        default: extensionKind
        }
    }

    /// The numbers of the extensions' types are global variables of the library; their names are constant.
    private var extensionKind: Kind {
        switch unsafe Self.string(cmark_node_get_type_string(raw)) {
        case "table": .table
        case "table_header", "table_row": .row
        case "table_cell": .cell
        case "strikethrough": .strikethrough
        default: .other
        }
    }
}

import CCMarkGFM
import CTerminalKit
import Synchronization

/// A parser of the C library, which takes a document line by line and knows after each line which blocks are open.
///
/// Sendable, because there is one owner and the library does not bind a parser to a thread.
@safe struct MarkdownParser: ~Copyable, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<cmark_parser>

    init() {
        var made: UnsafeMutablePointer<cmark_parser>?
        MarkdownLibrary.exclusively {
            // Only for two tildes: "~5 to ~6" is not deleted text.
            unsafe made = cmark_parser_new(CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE)
            // Not "autolink", which takes cubic time for some texts; see `BareAddress`.
            for name in ["table", "strikethrough", "tasklist"] {
                _ = unsafe cmark_parser_attach_syntax_extension(made, cmark_find_syntax_extension(name))
            }
        }
        guard let made = unsafe made else {
            fatalError("libcmark-gfm made no parser, which only ends when memory does")
        }
        unsafe raw = made
    }

    deinit { unsafe cmark_parser_free(raw) }

    borrowing func feed(_ bytes: [UInt8]) {
        MarkdownLibrary.exclusively {
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe cmark_parser_feed(raw, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
            }
        }
    }

    /// The document of everything that was fed.
    consuming func finish() -> MarkdownTree {
        var root: UnsafeMutablePointer<cmark_node>?
        MarkdownLibrary.exclusively { unsafe root = cmark_parser_finish(raw) }
        return unsafe MarkdownTree(root)
    }
}

// MARK: - What is open

extension MarkdownParser {
    private var lastBlock: MarkdownNode? { unsafe MarkdownNode(cmark_node_last_child(raw.pointee.root)) }

    /// Whether the last line began a top-level block, before which nothing changes any more.
    var lineBeganBlock: Bool {
        guard let lastBlock else { return false }
        return unsafe lastBlock.startLine == Int(raw.pointee.line_number)
    }

    /// Whether lines go into a top-level code block.
    var isInCode: Bool {
        guard let lastBlock, lastBlock.kind == .code else { return false }
        return unsafe MarkdownNode(raw.pointee.current) == lastBlock
    }

    /// Whether lines go into any code block.
    var isInAnyCode: Bool { unsafe MarkdownNode(raw.pointee.current)?.kind == .code }

    /// The columns of the table that the next line may continue.
    var openColumns: Int? {
        var node = unsafe MarkdownNode(raw.pointee.current)
        while let open = node {
            if open.kind == .table { return open.columnCount }
            guard open.kind == .row || open.kind == .cell else { return nil }
            node = open.parent
        }
        return nil
    }

    /// How many opening lines define the open block, and are needed to continue it elsewhere.
    var openingLineCount: Int {
        guard let lastBlock, unsafe MarkdownNode(cmark_node_first_child(raw.pointee.root)) == lastBlock else {
            return 0
        }
        if lastBlock.kind == .table { return 2 }
        return isInCode && lastBlock.isFenced ? 1 : 0
    }
}

// MARK: - Link reference definitions

extension MarkdownParser {
    /// The definitions in the closed blocks, in order.
    var definitions: [LinkDefinition] {
        var found: [LinkDefinition] = []
        var next = unsafe raw.pointee.refmap?.pointee.refs
        while let entry = unsafe next {
            // The library's own layout: a reference begins with its entry in the map.
            let reference = unsafe UnsafeRawPointer(entry).assumingMemoryBound(to: cmark_reference.self)
            found.append(
                LinkDefinition(
                    label: unsafe String(cString: entry.pointee.label), address: unsafe text(reference.pointee.url),
                    title: unsafe text(reference.pointee.title)))
            unsafe next = entry.pointee.next
        }
        return found.reversed()
    }

    private func text(_ chunk: cmark_chunk) -> String {
        unsafe String(decoding: UnsafeBufferPointer(start: chunk.data, count: Int(chunk.len)), as: UTF8.self)
    }
}

/// A parsed document of the C library. Its nodes live as long as it does.
@safe struct MarkdownTree: ~Copyable {
    private let root: UnsafeMutablePointer<cmark_node>?

    init(_ root: UnsafeMutablePointer<cmark_node>?) { unsafe self.root = root }

    deinit { unsafe cmark_node_free(root) }

    /// Lends the document's node to `body`, which must not keep any node.
    borrowing func withRoot<Result>(_ body: (MarkdownNode?) -> Result) -> Result {
        unsafe body(MarkdownNode(root))
    }
}

/// A node of a ``MarkdownTree``, valid while the tree is, with the properties of the C library as values.
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
        // The library fills all of them.
        var (length, offset, character) = (CInt(0), CInt(0), CChar(0))
        return unsafe cmark_node_get_fenced(raw, &length, &offset, &character) != 0
    }
    var isTight: Bool { unsafe cmark_node_get_list_tight(raw) != 0 }

    /// The number of the first item of an ordered list.
    var listStart: Int? {
        unsafe cmark_node_get_list_type(raw) == CMARK_ORDERED_LIST ? Int(cmark_node_get_list_start(raw)) : nil
    }
    var listDelimiter: String { unsafe cmark_node_get_list_delim(raw) == CMARK_PAREN_DELIM ? ")" : "." }

    /// Whether a task is done; nil for an item that is not a task.
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

/// libcmark-gfm, which is opened when the first Markdown is drawn, and the state that it shares between all parsers of
/// the process.
///
/// The list of extensions is filled once, and a parser that reads inlines writes the special characters of its
/// extensions into global tables. The library guards neither, so only one parser works at a time.
enum MarkdownLibrary {
    private enum State {
        case closed, open
        case unusable(String)
    }

    private static let state = Mutex(State.closed)

    /// Why it cannot be used; nil if it can. The first call opens it.
    static var problem: String? { state.withLock { state in check(&state) } }

    /// Runs work that calls the library.
    static func exclusively(_ body: () -> Void) {
        state.withLock { state in
            if let problem = check(&state) { fatalError("libcmark-gfm cannot be used: \(problem)") }
            body()
        }
    }

    /// Opens the library with the first call.
    private static func check(_ state: inout State) -> String? {
        switch state {
        case .open: return nil
        case .unusable(let reason): return reason
        case .closed:
            if let reason = unsafe martlet_markdown_open() {
                let words = unsafe String(cString: reason)
                state = .unusable(words)
                return words
            }
            cmark_gfm_core_extensions_ensure_registered()
            state = .open
            return nil
        }
    }
}

import CCMarkGFM

/// A parser of the C library, which takes a document line by line and knows after each which blocks are open.
///
/// Sendable because there is one owner, and the library ties a parser to no thread.
@safe struct MarkdownParser: ~Copyable, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<cmark_parser>

    init() {
        var made: UnsafeMutablePointer<cmark_parser>?
        MarkdownLibrary.exclusively {
            // Of two tildes only: "~5 to ~6" is no deleted text.
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

    /// Whether the line fed last began a block of the document's own, behind which nothing changes any more.
    var lineBeganBlock: Bool {
        guard let lastBlock else { return false }
        return unsafe lastBlock.startLine == Int(raw.pointee.line_number)
    }

    /// Whether lines go into a code block of the document's own.
    var isInCode: Bool {
        guard let lastBlock, lastBlock.kind == .code else { return false }
        return unsafe MarkdownNode(raw.pointee.current) == lastBlock
    }

    /// Whether lines go into any code block.
    var isInAnyCode: Bool { unsafe MarkdownNode(raw.pointee.current)?.kind == .code }

    /// The columns of the table that the next line may go on with.
    var openColumns: Int? {
        var node = unsafe MarkdownNode(raw.pointee.current)
        while let open = node {
            if open.kind == .table { return open.columnCount }
            guard open.kind == .row || open.kind == .cell else { return nil }
            node = open.parent
        }
        return nil
    }

    /// How many lines at the beginning say what the open block is, and are needed to go on with it elsewhere.
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
    /// The definitions in the blocks that are closed, in order.
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

import CCMarkGFM

/// A parsed document of the C library; its nodes live as long as it does.
@safe struct MarkdownTree: ~Copyable {
    private let root: UnsafeMutablePointer<cmark_node>?

    init(_ root: UnsafeMutablePointer<cmark_node>?) { unsafe self.root = root }

    deinit { unsafe cmark_node_free(root) }

    /// Lends the document's node to `body`; no node may be kept.
    borrowing func withRoot<Result>(_ body: (MarkdownNode?) -> Result) -> Result {
        unsafe body(MarkdownNode(root))
    }
}

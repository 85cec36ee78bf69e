extension Markdown {
    /// A fenced code block of a document, for copying.
    public struct FencedBlock: Sendable, Hashable {
        /// What stands after the opening fence: the language, and whatever else.
        public let info: String
        /// The code as it is shown, with control characters made visible, and without the line end after its last line.
        public let text: String
        /// Whether no more of the code can come.
        public let isFinished: Bool

        /// A block with that text; only one line end is taken from its end.
        public init(info: String = "", text: String, isFinished: Bool = true) {
            self.info = info
            let text = Sanitizer.sanitize(text)
            self.text = text.last == "\n" ? String(text.dropLast()) : text
            self.isFinished = isFinished
        }
    }

    /// The last fenced code block of a document that is not empty; nil if there is none, or no library.
    ///
    /// - Parameter isOpen: whether more of the text may come. Then its last line counts only once it has ended, and a
    ///   block that nothing has closed is not finished.
    public static func lastFencedBlock(in text: String, isOpen: Bool = false) -> FencedBlock? {
        // Most texts have none, and a long conversation is not parsed for that.
        guard mayHaveFence(text), isAvailable else { return nil }
        var sanitizer = StreamSanitizer()
        let bytes = sanitizer.sanitize(Array(text.utf8)) + (isOpen ? [] : sanitizer.finish())
        // In one piece, because a block that is cut for drawing could not be put together again in a list.
        let parser = MarkdownParser()
        var start = 0
        while start < bytes.count {
            let newline = bytes[start...].firstIndex(of: 0x0A)
            if newline == nil && isOpen { break }
            let end = newline.map { $0 + 1 } ?? bytes.count
            parser.feed(guarded(Array(bytes[start..<end]), parser))
            start = end
        }
        let isInCode = isOpen && parser.isInAnyCode
        return parser.finish().withRoot { root in
            if isInCode, let last = root?.last(where: { $0.kind == .code }), last.isFenced {
                return FencedBlock(info: last.codeInfo, text: last.literal, isFinished: false)
            }
            let block = root?.last { $0.kind == .code && $0.isFenced && !$0.literal.isEmpty }
            return block.map { FencedBlock(info: $0.codeInfo, text: $0.literal) }
        }
    }

    /// Whether three marks of a fence stand in a row anywhere.
    private static func mayHaveFence(_ text: String) -> Bool {
        var (last, count): (UInt8, Int) = (0, 0)
        for byte in text.utf8 {
            count = byte == last ? count + 1 : 1
            last = byte
            if count == 3, byte == UInt8(ascii: "`") || byte == UInt8(ascii: "~") { return true }
        }
        return false
    }

    /// A line of code stays as it is.
    private static func guarded(_ line: [UInt8], _ parser: borrowing MarkdownParser) -> [UInt8] {
        if parser.isInAnyCode { return line }
        let line = LineGuard.guarded(line)
        return parser.openColumns.map { LineGuard.guarded(line, columns: $0) } ?? line
    }
}

extension MarkdownNode {
    /// The last node below that is so, in the order of the document and without recursion.
    fileprivate func last(where isWanted: (MarkdownNode) -> Bool) -> MarkdownNode? {
        var found: MarkdownNode?
        var current = firstChild
        while let node = current {
            if isWanted(node) { found = node }
            if let child = node.firstChild {
                current = child
                continue
            }
            var done = node
            while done.next == nil, let parent = done.parent, parent != self { done = parent }
            current = done.next
        }
        return found
    }
}

import CUTF8Proc
import Capabilities
import Glibc

/// Turns the inlines of a block into styled text, in one walk without recursion.
struct InlineReader {
    private let look: MarkdownLook
    private let base: Style
    private let longAddresses: Set<String>
    private var text = StyledText()
    private var emphasis = 0
    private var strong = 0
    private var strikethrough = 0
    /// The enclosing links and images, with their text so far.
    private var links: [(address: String, text: String)] = []

    private init(_ look: MarkdownLook, _ base: Style, _ longAddresses: Set<String>) {
        self.look = look
        self.base = base
        self.longAddresses = longAddresses
    }

    static func text(in top: MarkdownNode, _ look: MarkdownLook, _ base: Style, _ longAddresses: Set<String>)
        -> StyledText
    {
        var reader = InlineReader(look, base, longAddresses)
        var current = top.firstChild
        while let node = current {
            reader.enter(node)
            if let child = node.firstChild {
                current = child
                continue
            }
            var done = node
            reader.leave(done)
            while done.next == nil, let parent = done.parent, parent != top {
                reader.leave(parent)
                done = parent
            }
            current = done.next
        }
        return reader.text
    }

    private mutating func enter(_ node: MarkdownNode) {
        switch node.kind {
        case .text: addText(node.literal)
        case .inlineHTML: add(node.literal, style.with(.mutedForeground))
        case .softBreak: add(" ", style)
        case .hardBreak: text.append("\n", base)
        case .codeSpan: addCode(node.literal)
        case .emphasis: mark("*") { $0.emphasis += 1 }
        case .strong: mark("**") { $0.strong += 1 }
        case .strikethrough: mark("~~") { $0.strikethrough += 1 }
        case .link, .image: links.append((node.address, ""))
        default: break
        }
    }

    private mutating func leave(_ node: MarkdownNode) {
        switch node.kind {
        case .emphasis: mark("*") { $0.emphasis -= 1 }
        case .strong: mark("**") { $0.strong -= 1 }
        case .strikethrough: mark("~~") { $0.strikethrough -= 1 }
        case .link, .image: leaveLink(node)
        default: break
        }
    }

    /// Shows the address of a link, unless its text or the terminal does.
    private mutating func leaveLink(_ node: MarkdownNode) {
        guard let link = links.popLast() else { return }
        let needsAddress =
            look.showsAddresses || node.kind == .image || target(link.address) == nil
            || LinkText.looksLikeAddress(link.text)
        var parts: [String] = []
        if !link.address.isEmpty && needsAddress && !LinkText.names(link.address, link.text) {
            parts.append(link.address)
        }
        if !node.title.isEmpty { parts.append("\"\(node.title)\"") }
        guard !parts.isEmpty else { return }
        var style = base.with(.mutedForeground)
        style.link = target(link.address)
        var note = parts.joined(separator: " ")
        if longAddresses.contains(link.address) { note = TextWidth.truncate(note, to: 40) }
        add(link.text.isEmpty ? note : " (\(note))", style)
    }

    /// The link target for the terminal, if it supports links.
    private func target(_ address: String) -> LinkTarget? {
        look.links && !longAddresses.contains(address) ? LinkTarget(address) : nil
    }

    private mutating func addCode(_ code: String) {
        let mark = look.showsMarks ? (code.contains("`") ? "``" : "`") : ""
        add(mark + code + mark, style.with(.code))
    }

    /// The mark itself stays if no style can replace it.
    private mutating func mark(_ mark: String, _ change: (inout InlineReader) -> Void) {
        if look.showsMarks { add(mark, base) }
        change(&self)
    }

    /// Outside of links, addresses link to themselves.
    private mutating func addText(_ literal: String) {
        guard links.isEmpty else { return add(literal, style) }
        var rest = literal[...]
        for found in BareAddress.all(in: literal) {
            add(String(rest[..<found.range.lowerBound]), style)
            links.append((found.address, ""))
            add(String(literal[found.range]), style)
            links.removeLast()
            rest = literal[found.range.upperBound...]
        }
        add(String(rest), style)
    }

    private mutating func add(_ literal: String, _ style: Style) {
        // Entities may have brought any character.
        let isOneLine = !literal.contains { $0.isNewline || $0 == "\t" }
        let line = isOneLine ? literal : String(literal.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        text.append(line, style)
        if !links.isEmpty { links[links.count - 1].text += line }
    }

    private var style: Style {
        var style = base
        if let link = links.last {
            style.token = .link
            style.underline = true
            style.link = target(link.address)
        }
        style.italic = emphasis > 0
        style.bold = base.bold || strong > 0
        style.strikethrough = strikethrough > 0
        return style
    }
}

/// What the text of a link reveals about its target.
enum LinkText {
    /// Whether a reader could take a word of the text for an address or a host, so that it must not hide another one.
    ///
    /// Letters on both sides of a dot, a colon or an at sign are enough, or of any non-ASCII symbol, because many look
    /// like these.
    static func looksLikeAddress(_ text: String) -> Bool {
        words(text).contains { word in
            let inner = word.drop { !isLetter($0) }.reversed().drop { !isLetter($0) }
            return inner.contains(where: isTelling) && !isVersion(inner)
        }
    }

    private static func isTelling(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", ":", "@": true
        // Apostrophes and dashes, which occur in ordinary words.
        case "\u{2010}"..."\u{2015}", "\u{2018}", "\u{2019}": false
        default: !scalar.isASCII && !isLetter(scalar)
        }
    }

    /// `3.12` is not a host; four numbers are.
    private static func isVersion(_ word: some Collection<Unicode.Scalar>) -> Bool {
        word.allSatisfy { $0 == "." || ("0"..."9").contains($0) } && word.count { $0 == "." } < 3
    }

    /// Whether the text is the address, as far as it is usually written out.
    static func names(_ address: String, _ text: String) -> Bool {
        ["", "http://", "https://", "mailto:"].contains { address == $0 + text }
    }

    private static func words(_ text: String) -> [[Unicode.Scalar]] {
        compatible(text).unicodeScalars.split { $0.properties.isWhitespace }.map(Array.init)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
            true
        default: false
        }
    }

    /// The text with full-width and other variants of characters normalised (NFKC).
    private static func compatible(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var text = text
        return text.withUTF8 { bytes in
            let options = UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_COMPAT.rawValue
            var mapped: UnsafeMutablePointer<UInt8>?
            let count = unsafe utf8proc_map(
                bytes.baseAddress, bytes.count, &mapped, utf8proc_option_t(rawValue: options))
            defer { unsafe free(mapped) }
            guard count >= 0, let mapped = unsafe mapped else { return unsafe String(decoding: bytes, as: UTF8.self) }
            return unsafe String(decoding: UnsafeBufferPointer(start: mapped, count: count), as: UTF8.self)
        }
    }
}

import CUTF8Proc

/// How many terminal columns text takes, counted by grapheme and not by scalar.
///
/// A grapheme is as wide as its widest scalar; an emoji presentation selector or a pair of regional indicators
/// makes it two columns. Control characters count nothing, a tab counts the eight columns it can take at most.
public enum TextWidth {
    /// The columns that `text` takes.
    public static func of(_ text: String) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that `text` takes.
    public static func of(_ text: Substring) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that one grapheme takes.
    public static func of(_ character: Character) -> Int {
        if let ascii = character.asciiValue {
            if ascii == 0x09 { return tabWidth }
            return ascii >= 0x20 && ascii < 0x7F ? 1 : 0
        }
        var widest = 0
        var regionalIndicators = 0
        var wantsEmoji = false
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0xFE0F: wantsEmoji = true
            case 0x1F1E6...0x1F1FF: regionalIndicators += 1
            default: break
            }
            widest = max(widest, Int(utf8proc_charwidth(Int32(bitPattern: scalar.value))))
        }
        // A selector without anything to select draws nothing.
        return (wantsEmoji && widest > 0) || regionalIndicators == 2 ? 2 : widest
    }

    static let tabWidth = 8

    /// Most text is printable ASCII, where the columns are the bytes.
    private static func isSimple(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] >= 0x7F { return false }
        return true
    }

    private static func sum(_ text: some StringProtocol) -> Int {
        var width = 0
        for character in text { width += of(character) }
        return width
    }
}

extension TextWidth {
    /// The longest beginning of `text` that takes at most `width` columns, whole graphemes only.
    public static func prefix(of text: String, width: Int) -> String {
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            used += of(text[end])
            if used > width { break }
            text.formIndex(after: &end)
        }
        return String(text[..<end])
    }

    /// `text` itself when it fits `width` columns, else as much of it as fits before an `ellipsis`.
    public static func truncate(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard of(text) > width else { return text }
        let room = width - of(ellipsis)
        return room < 0 ? prefix(of: text, width: width) : prefix(of: text, width: room) + ellipsis
    }

    /// `text` with spaces added up to `width` columns; longer text stays as it is.
    public static func pad(_ text: String, to width: Int, alignment: TextAlignment = .leading) -> String {
        let padding = String(repeating: " ", count: max(0, width - of(text)))
        return alignment == .leading ? text + padding : padding + text
    }
}

extension TextWidth {
    /// The version of the library whose tables decide the widths, as it is loaded.
    public static var libraryVersion: String { unsafe String(cString: utf8proc_version()) }
}

extension TextWidth {
    /// Cuts `text` into lines of at most `width` columns (at least two, so that a wide character has room).
    ///
    /// Lines end at newlines, between words, beside wide characters, and inside a word only when it is longer than a
    /// line: behind a mark (`:`, `/`, `-`) where more than half of the line is full there. The spaces at a break belong to no line; nothing else is lost or added.
    public static func wrap(_ text: String, to width: Int) -> [Substring] {
        var wrapper = LineWrapper(text: text, width: max(2, width))
        return wrapper.wrap()
    }
}

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

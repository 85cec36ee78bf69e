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

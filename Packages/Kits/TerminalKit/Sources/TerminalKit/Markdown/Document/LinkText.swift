/// What the text of a link says about where it leads.
enum LinkText {
    /// Whether a person would take the text for the address, so that it must not hide another one.
    static func looksLikeAddress(_ text: String) -> Bool {
        !text.contains { $0.isWhitespace } && (text.contains(".") || text.contains("@") || text.contains(":"))
    }

    /// Whether the text is the address, as far as people write it out.
    static func names(_ address: String, _ text: String) -> Bool {
        ["", "http://", "https://", "mailto:"].contains { address == $0 + text }
    }
}

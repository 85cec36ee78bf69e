package import Capabilities

extension PlainText {
    /// A server's words, escaped and of a length that a sentence can hold.
    package static func excerpt(_ text: String, _ limit: Int = 500) -> String {
        let escaped = escape(String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))))
        let scalars = escaped.unicodeScalars
        guard text.unicodeScalars.count > limit || scalars.count > limit else { return escaped }
        return String(String.UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
    }
}

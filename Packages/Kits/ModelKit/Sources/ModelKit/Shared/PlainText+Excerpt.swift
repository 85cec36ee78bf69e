package import Capabilities

extension PlainText {
    /// A server's words on one line, escaped and of a length that a sentence can hold.
    package static func excerpt(_ text: String, _ limit: Int = 500) -> String {
        let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
        // The ends of lines and what indents them say nothing in the midst of a sentence.
        let escaped = escape(start.split { $0.isNewline || $0 == "\t" }.joined(separator: " "))
        let scalars = escaped.unicodeScalars
        guard text.unicodeScalars.count > limit || scalars.count > limit else { return escaped }
        return String(String.UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
    }
}

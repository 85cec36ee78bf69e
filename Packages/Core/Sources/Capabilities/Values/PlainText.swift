/// Makes text from outside, such as from a server, safe to put into a sentence.
public enum PlainText {
    /// Escapes what a terminal would interpret or hide: control characters, direction marks and line separators.
    public static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var plain = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                plain += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                plain.unicodeScalars.append(scalar)
            }
        }
        return plain
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// The same for each line of a text that is shown over several lines.
    public static func escapeLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { escape(String($0)) }.joined(separator: "\n")
    }

    /// The beginning of a text, escaped; "…" stands for what is left out after `limit` characters.
    public static func escape(_ text: String, limit: Int) -> String {
        escape(text.count > limit ? text.prefix(limit) + "…" : text)
    }
}

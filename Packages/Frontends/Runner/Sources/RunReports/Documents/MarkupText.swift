/// Text from outside as a part of XML and HTML.
enum MarkupText {
    /// What stands for itself in content and in attributes between double quotes. What XML 1.0 has no form for is written
    /// out: "Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]".
    static func escape(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // In an attribute they would become spaces.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            // They would let a text be shown in another order than it has.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Text cut down to what fits a line of a list.
enum Line {
    /// The beginning of a text, with every run of spaces, line breaks and control characters as one space.
    static func title(of text: String, longest: Int = 60) -> String {
        // Nobody needs more for a title; a text may have megabytes, and a single character thousands of scalars.
        let scalars = text.unicodeScalars.prefix(16 * longest)
        let words = scalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        let line = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
        return String(line.prefix(longest))
    }

    /// A pattern for LIKE with `\` as its escape, which finds a text as it is.
    static func pattern(_ text: String) -> String {
        var pattern = "%"
        for scalar in text.unicodeScalars {
            if ["%", "_", "\\"].contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern + "%"
    }
}

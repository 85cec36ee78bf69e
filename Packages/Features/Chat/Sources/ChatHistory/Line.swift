/// Text cut down to one line for lists.
enum Line {
    /// What a conversation is called before a person names it.
    static func title(_ text: String) -> String { cut(text, 40) }

    static func preview(_ text: String) -> String { cut(text, 120) }

    /// The first characters as people count them, with every run of spaces, line breaks and controls as one space.
    static func cut(_ text: String, _ limit: Int) -> String {
        var line = String.UnicodeScalarView()
        var (isGap, count) = (false, 0)
        // One character can consist of thousands of scalars; nobody needs those of a title.
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace || isControl(scalar) {
                isGap = !line.isEmpty
            } else {
                if isGap { line.append(" ") }
                isGap = false
                line.append(scalar)
            }
            count += 1
            if count > limit * 16 { break }
        }
        let cut = String(String(line).prefix(limit))
        return cut.last == " " ? String(cut.dropLast()) : cut
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

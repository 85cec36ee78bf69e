import Capabilities

/// Text shortened to one line for lists.
enum Line {
    /// The title of a conversation before the user names it.
    static func title(_ text: String) -> String { cut(text, 40) }

    /// The title of a conversation from its first message: the beginning of the first text in it, since attached text files
    /// follow as texts too.
    static func title(of message: Message) -> String {
        for case .text(let text) in message.parts {
            let title = title(text)
            if !title.isEmpty { return title }
        }
        for case .attachment(let attachment) in message.parts { return Line.title(attachment.name) }
        return ""
    }

    static func preview(_ text: String) -> String { cut(text, 120) }

    /// The first characters, with every run of white space, line breaks and control characters as one space.
    static func cut(_ text: String, _ limit: Int) -> String {
        var line = String.UnicodeScalarView()
        var (isGap, count) = (false, 0)
        // One character can consist of thousands of scalars, which a title does not need.
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

/// Text whose parts have styles; control characters in it are neutralised when it is made.
///
///     let line = StyledText("web1 ", Style(bold: true)) + StyledText("failed", Style(.destructive))
///     let bytes = line.bytes(level: .ansi256)
public struct StyledText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// A piece of text in one style.
    public struct Run: Sendable, Hashable {
        /// The text, already harmless to a terminal.
        public internal(set) var text: String
        /// How it looks.
        public let style: Style

        init(harmless text: String, style: Style) {
            self.text = text
            self.style = style
        }
    }

    /// The pieces in order, none of them empty.
    public private(set) var runs: [Run] = []

    /// `text` in one style.
    public init(_ text: String = "", _ style: Style = .plain) {
        append(harmless: Sanitizer.sanitize(text), style)
    }

    /// A literal in plain style; what it interpolates is neutralised as well.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Adds `text` at the end.
    public mutating func append(_ text: String, _ style: Style = .plain) {
        append(harmless: Sanitizer.sanitize(text), style)
    }

    /// Adds `other` at the end.
    public mutating func append(_ other: StyledText) {
        for run in other.runs { append(harmless: run.text, run.style) }
    }

    /// Both texts after each other.
    public static func + (left: StyledText, right: StyledText) -> StyledText {
        var result = left
        result.append(right)
        return result
    }

    /// The text without its styles.
    public var plainText: String {
        if runs.count == 1 { return runs[0].text }
        var text = ""
        for run in runs { text += run.text }
        return text
    }

    /// Whether there is no text.
    public var isEmpty: Bool { runs.isEmpty }

    /// The columns that the text takes on one line.
    public var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

    mutating func removeLastRun() { runs.removeLast() }

    mutating func append(harmless text: String, _ style: Style) {
        guard !text.isEmpty else { return }
        if let last = runs.last, last.style == style {
            // In place: text that arrives in many small pieces is not copied for each of them.
            runs[runs.count - 1].text += text
        } else {
            runs.append(Run(harmless: text, style: style))
        }
    }
}

/// One record as labels and values below each other, the values aligned.
///
///     var list = KeyValueList()
///     list.append("Name", "web1")
///     for line in list.lines(width: 80) { … }
public struct KeyValueList: Sendable {
    /// How the labels look.
    public var labelStyle: Style

    private var entries: [(label: StyledText, value: StyledText)] = []

    private static let gap = 2

    /// A list without entries.
    public init(labelStyle: Style = Style(.mutedForeground)) {
        self.labelStyle = labelStyle
    }

    /// Adds an entry; the lines of a value that has several are aligned.
    public mutating func append(_ label: String, _ value: StyledText) {
        entries.append((StyledText(label, labelStyle).singleLine, value))
    }

    /// The lines of the list; with a width, long values go on in the next line and nothing is lost.
    public func lines(width: Int?) -> [StyledText] {
        let labelWidth = entries.map(\.label.width).max() ?? 0
        let indent = labelWidth + Self.gap
        var lines: [StyledText] = []
        for (label, value) in entries {
            // Without a width only the value's own line endings break it.
            let room = width.map { max(10, $0 - indent) } ?? Int.max / 2
            for (number, part) in value.wrapped(to: room).enumerated() {
                let start = number == 0 ? label : StyledText()
                lines.append(part.isEmpty ? start : start.padded(to: indent) + part)
            }
        }
        return lines
    }
}

public import Capabilities

/// One record as labels and values below each other, with aligned values.
///
///     var list = KeyValueList()
///     list.append("Name", "web1")
///     for line in list.lines(width: 80) { … }
public struct KeyValueList: Sendable {
    /// The style of the labels.
    public var labelStyle: Style

    private var entries: [(label: StyledText, value: StyledText)] = []

    private static let gap = 2

    /// A list without entries.
    public init(labelStyle: Style = Style(.mutedForeground)) {
        self.labelStyle = labelStyle
    }

    /// Adds an entry; the lines of a multi-line value are aligned.
    public mutating func append(_ label: String, _ value: StyledText) {
        entries.append((StyledText(label, labelStyle).singleLine, value))
    }

    /// The lines of the list. With a width, long values continue in the next line and nothing is lost.
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

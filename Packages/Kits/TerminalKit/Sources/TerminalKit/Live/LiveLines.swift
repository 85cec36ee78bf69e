/// Some lines at the end of a terminal's output that are redrawn in place.
///
/// It makes the text to write and writes nothing. It begins at the start of a line, and ends at the start of one.
///
///     var live = LiveLines(level: level)
///     terminal.write(live.show(["2 of 5 done", "building"], size: size))
///     terminal.write(live.finish(["5 of 5 done"], size: size))
public struct LiveLines: Sendable {
    private var rows: LiveRows

    public init(level: ColorLevel, theme: Theme = .dark) {
        rows = LiveRows(level: level, theme: theme)
    }

    /// How many lines can be redrawn on a screen of that size.
    public static func room(_ size: TerminalSize) -> Int { max(1, size.rows - 1) }

    /// Gives what to write to show these lines in place of those that are there; no more of them than there is room for.
    ///
    /// - Parameter above: lines that come before them for good.
    public mutating func show(_ lines: [StyledText], above: [StyledText] = [], size: TerminalSize) -> String {
        let lines = lines.prefix(Self.room(size))
        return rows.update(fit(above + lines, size), final: above.count, columns: size.columns)
    }

    /// Gives what to write to show these lines for good.
    public mutating func finish(_ lines: [StyledText], size: TerminalSize) -> String {
        rows.finish(fit(lines, size), columns: size.columns)
    }

    /// The last column stays free, since a full line would move some terminals to the next one.
    private func fit(_ lines: [StyledText], _ size: TerminalSize) -> [StyledText] {
        lines.map { $0.singleLine.truncated(to: max(1, size.columns - 1)) }
    }
}

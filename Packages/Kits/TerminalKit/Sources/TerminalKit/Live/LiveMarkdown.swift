/// Markdown on a terminal while it arrives. Final lines stay above, and the open block below is redrawn in place.
///
/// It returns the text to write and writes nothing. It begins and ends at the start of a line.
///
///     var live = LiveMarkdown(level: level, links: false)
///     for piece in pieces { terminal.write(live.append(piece, at: now, size: size)) }
///     terminal.write(live.finish(size: size))
public struct LiveMarkdown: ~Copyable, Sendable {
    /// At most thirty drawings a second: more cannot be seen and would flood a slow connection.
    public static let shortestInterval = Duration.nanoseconds(33_333_334)

    /// The colours for the next drawings.
    public var theme: Theme {
        get { rows.theme }
        set { rows.theme = newValue }
    }

    private var stream: MarkdownStream
    private var rows: LiveRows
    /// Final lines that are not shown yet.
    private var waiting: [StyledText] = []
    private var lastDrawn: Duration?
    /// Whether something has arrived that is not shown; ``draw(at:size:)`` shows it.
    public private(set) var isBehind = false
    /// Whether there is a document that ``finish(size:)`` has to end.
    public private(set) var isOpen = false

    /// A new document; `links` says that the terminal supports links (OSC 8).
    public init(level: ColorLevel, theme: Theme = .dark, links: Bool) {
        stream = MarkdownStream(width: nil, level: level, links: links)
        rows = LiveRows(level: level, theme: theme)
    }

    /// Adds the next piece. Returns the text to write, which is empty if the last drawing was too recent.
    public mutating func append(_ text: String, at now: Duration, size: TerminalSize) -> String {
        isOpen = true
        isBehind = true
        fit(size)
        waiting += stream.append(text)
        return draw(at: now, size: size)
    }

    /// Returns the text to write to show everything that has arrived; empty if the last drawing was too recent.
    public mutating func draw(at now: Duration, size: TerminalSize) -> String {
        guard isBehind, lastDrawn.map({ now - $0 >= Self.shortestInterval }) ?? true else { return "" }
        lastDrawn = now
        isBehind = false
        fit(size)
        // A block taller than the screen cannot be redrawn above it.
        let tail = stream.tail().suffix(max(1, size.rows - 1))
        let final = waiting
        waiting = []
        return rows.update(final + tail, final: final.count, columns: size.columns)
    }

    /// Ends the document. Returns the text to write to show all of it permanently.
    public mutating func finish(size: TerminalSize) -> String {
        guard isOpen else { return "" }
        fit(size)
        let lines = waiting + stream.finish()
        waiting = []
        isOpen = false
        isBehind = false
        return rows.finish(lines, columns: size.columns)
    }

    /// The last column stays free, because a full line makes some terminals wrap.
    private mutating func fit(_ size: TerminalSize) { stream.width = max(1, size.columns - 1) }
}

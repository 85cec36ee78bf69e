/// Markdown on a terminal while it arrives: what is final stays above, and the open block below is redrawn in place.
///
/// It makes the text to write and writes nothing. It begins at the start of a line, and ends at the start of one.
///
///     var live = LiveMarkdown(level: level, links: false)
///     for piece in pieces { terminal.write(live.append(piece, at: now, size: size)) }
///     terminal.write(live.finish(size: size))
public struct LiveMarkdown: ~Copyable, Sendable {
    /// At most thirty drawings a second: more is not seen and floods a slow connection.
    public static let shortestInterval = Duration.nanoseconds(33_333_334)

    /// The colours of what is drawn from now on.
    public var theme: Theme {
        get { rows.theme }
        set { rows.theme = newValue }
    }

    private var stream: MarkdownStream
    private var rows: LiveRows
    /// Lines that are final and not shown yet.
    private var waiting: [StyledText] = []
    private var lastDrawn: Duration?
    /// Whether something has arrived that is not shown; ``draw(at:size:)`` shows it.
    public private(set) var isBehind = false
    /// Whether there is a document that ``finish(size:)`` has to end.
    public private(set) var isOpen = false

    /// A document at its beginning; `links` says that the terminal follows links (OSC 8).
    public init(level: ColorLevel, theme: Theme = .dark, links: Bool) {
        stream = MarkdownStream(width: nil, level: level, links: links)
        rows = LiveRows(level: level, theme: theme)
    }

    /// Takes the next piece; gives what to write, which is nothing while the last drawing is too new.
    public mutating func append(_ text: String, at now: Duration, size: TerminalSize) -> String {
        isOpen = true
        isBehind = true
        fit(size)
        waiting += stream.append(text)
        return draw(at: now, size: size)
    }

    /// Gives what to write so that all that has arrived is shown; nothing while the last drawing is too new.
    public mutating func draw(at now: Duration, size: TerminalSize) -> String {
        guard isBehind, lastDrawn.map({ now - $0 >= Self.shortestInterval }) ?? true else { return "" }
        lastDrawn = now
        isBehind = false
        fit(size)
        // A block that is taller than the screen cannot be redrawn above it.
        let tail = stream.tail().suffix(max(1, size.rows - 1))
        let final = waiting
        waiting = []
        return rows.update(final + tail, final: final.count, columns: size.columns)
    }

    /// Ends the document; gives what to write so that all of it is on the screen for good.
    public mutating func finish(size: TerminalSize) -> String {
        guard isOpen else { return "" }
        fit(size)
        let lines = waiting + stream.finish()
        waiting = []
        isOpen = false
        isBehind = false
        return rows.finish(lines, columns: size.columns)
    }

    /// The last column stays free, since a full line would move some terminals to the next one.
    private mutating func fit(_ size: TerminalSize) { stream.width = max(1, size.columns - 1) }
}

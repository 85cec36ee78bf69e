/// Paints buffers on a terminal by their difference from what it shows.
///
///     var painter = Painter(level: .truecolor, theme: theme, isSynchronized: terminalSaidSo)
///     let frame = painter.frame(showing: cells, caret: CellPosition(row: 3, column: 8))
///     write(frame.bytes)
///
/// The painter takes it that the frame reaches the terminal. If a frame is not written, keep the painter from before it
/// (it is a value), and if anything else was written to the screen, call ``invalidate()``. The terminal shows the
/// alternate screen: on the main one, text that is scrolled away would go into its history.
///
/// A frame that paints everything switches autowrap off; who opened the screen switches it on again.
public struct Painter: Sendable {
    /// The colours that the terminal has. Without any, attributes such as bold are still drawn.
    public var level: ColorLevel { didSet { if level != oldValue { forgetLooks() } } }
    /// The colours of the tokens.
    public var theme: Theme { didSet { if theme != oldValue { forgetLooks() } } }
    /// Whether the terminal has said that it knows synchronised output (mode 2026). If it has not, the cursor is hidden
    /// during a frame.
    public var isSynchronized: Bool
    /// Whether links are sent (OSC 8). Without colours none are: who wants no escape sequences in a text wants no links.
    public var showsLinks: Bool { didSet { if showsLinks != oldValue { forgetLooks() } } }

    /// What the terminal shows; nil if that is not known.
    private var shown: CellBuffer?
    private var caret: CellPosition?
    private var looks: [Style: Rendition] = [:]

    /// A painter for a screen about which nothing is known.
    public init(level: ColorLevel, theme: Theme = .dark, isSynchronized: Bool = false, showsLinks: Bool = false) {
        self.level = level
        self.theme = theme
        self.isSynchronized = isSynchronized
        self.showsLinks = showsLinks
    }

    /// Forgets what the terminal shows, so that the next frame clears it and paints everything: after a resize that
    /// kept the size, after another program had the terminal, or when it may have lost something.
    public mutating func invalidate() { shown = nil }

    /// The bytes after which the terminal shows `buffer`, with its cursor at `caret`, or without a visible cursor. None
    /// if it does so already.
    ///
    /// A caret outside the buffer is moved into it.
    public mutating func frame(showing buffer: CellBuffer, caret: CellPosition?) -> Frame {
        guard !buffer.area.isEmpty else { return Frame(bytes: [], isFullRepaint: false) }
        let caret = caret.map {
            CellPosition(
                row: min(max(0, $0.row), buffer.rows - 1), column: min(max(0, $0.column), buffer.columns - 1))
        }
        let isKnown = shown?.columns == buffer.columns && shown?.rows == buffer.rows
        let old = (isKnown ? shown : nil) ?? CellBuffer(columns: buffer.columns, rows: buffer.rows)
        var pen = FramePen(looks: renditions(of: buffer), old: old, new: buffer)
        if !isKnown { pen.clear(endsLink: sendsLinks) }
        pen.paint()
        pen.reset()
        let frame = Frame(
            bytes: finished(pen, from: isKnown ? .some(self.caret) : nil, to: caret), isFullRepaint: !isKnown)
        shown = buffer
        self.caret = caret
        return frame
    }

    /// Puts the markers around what was painted, and the cursor where it belongs. `last` is where the cursor was, or
    /// nil if that is unknown.
    private func finished(_ pen: FramePen, from last: CellPosition??, to caret: CellPosition?) -> [UInt8] {
        let hasPainted = !pen.output.isEmpty
        var isVisible = last.map { $0 != nil }
        guard hasPainted || last != .some(caret) else { return [] }
        var output: [UInt8] = []
        output.reserveCapacity(pen.output.count + 40)
        if hasPainted && isSynchronized {
            output += FrameSequence.beginUpdate
        } else if hasPainted && isVisible != false {
            output += FrameSequence.hideCursor
            isVisible = false
        }
        output += pen.output
        if let caret {
            if !hasPainted || pen.place != caret { FrameSequence.move(to: caret, &output) }
            if isVisible != true { output += FrameSequence.showCursor }
        } else if isVisible != false {
            output += FrameSequence.hideCursor
        }
        if hasPainted && isSynchronized { output += FrameSequence.endUpdate }
        return output
    }

    private var sendsLinks: Bool { showsLinks && level != .none }

    private mutating func renditions(of buffer: CellBuffer) -> [Rendition] {
        // Links make many styles in the long run.
        if looks.count > 2_000 { looks = [:] }
        return buffer.styles.map { style in
            if let look = looks[style] { return look }
            var look = Rendition(style, level: level, theme: theme).withoutNamedDefault
            if !sendsLinks { look.link = nil }
            looks[style] = look
            return look
        }
    }

    private mutating func forgetLooks() {
        looks = [:]
        shown = nil
    }
}

/// What is written to the terminal at once.
public struct Frame: Sendable, Hashable {
    /// The bytes; none if the terminal shows everything already.
    public let bytes: [UInt8]
    /// Whether it clears the screen and paints all of it.
    public let isFullRepaint: Bool

    /// Whether there is nothing to write.
    public var isEmpty: Bool { bytes.isEmpty }
}

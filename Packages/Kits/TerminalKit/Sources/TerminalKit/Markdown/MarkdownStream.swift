/// Markdown that is drawn while it arrives. Returned lines never change, and the open block is drawn separately.
///
///     var stream = MarkdownStream(width: 80, level: .ansi256)
///     for piece in pieces { show(stream.append(piece)); redraw(stream.tail()) }
///     show(stream.finish())
///
/// It returns the lines of ``Markdown/render(_:width:level:links:showsAddresses:)``, however the text was split, with one exception: a
/// reference such as `[text][1]` is a link only if its definition arrived before it. Definitions are always shown. A
/// block larger than 16 KiB is drawn in parts, so that the cost of an answer is proportional to its length.
public struct MarkdownStream: ~Copyable, Sendable {
    /// The width of lines that are not returned yet; without one, only the text's own line ends break lines.
    public var width: Int?

    private var splitter = MarkdownSplitter()
    private var writer: MarkdownWriter

    /// A new stream; `links` says that the terminal supports links (OSC 8), and `showsAddresses` that their addresses are
    /// shown nevertheless.
    public init(width: Int?, level: ColorLevel, links: Bool = false, showsAddresses: Bool = false) {
        self.width = width
        writer = MarkdownWriter(look: MarkdownLook(level: level, links: links, showsAddresses: showsAddresses))
    }

    /// Adds the next piece of text; returns the lines that became final, oldest first.
    public mutating func append(_ text: String) -> [StyledText] { append(Array(text.utf8)) }

    /// Adds the next piece, which may end inside a character.
    public mutating func append(_ bytes: [UInt8]) -> [StyledText] { write(splitter.append(bytes)) }

    /// The open block, as it would be drawn if the text ended here. Call this once for each frame.
    public mutating func tail() -> [StyledText] {
        var preview = writer
        // The colours of unfinished code would flicker.
        let lines = preview.write(splitter.open, width: width, highlighting: !splitter.isInCode)
        previewedBytes += preview.parsedBytes - writer.parsedBytes
        return lines
    }

    /// Ends the text and returns the remaining lines. The stream can then be used again.
    public mutating func finish() -> [StyledText] {
        let lines = write(splitter.finish())
        writer = MarkdownWriter(look: writer.look)
        return lines
    }

    private mutating func write(_ segments: [MarkdownSegment]) -> [StyledText] {
        segments.flatMap { segment in
            defer { writer.learn(segment) }
            return writer.write(segment, width: width)
        }
    }

    /// The parser's input for final lines, and for previews of the open block.
    var parsedBytes: Int { splitter.parsedBytes + writer.parsedBytes }
    private(set) var previewedBytes = 0
}

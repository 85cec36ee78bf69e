/// Markdown that is drawn while it arrives: lines that are returned never change, and the open block is drawn apart.
///
///     var stream = MarkdownStream(width: 80, level: .ansi256)
///     for piece in pieces { show(stream.append(piece)); redraw(stream.tail()) }
///     show(stream.finish())
///
/// It gives the lines of ``Markdown/render(_:width:level:links:)``, however the text was cut, with one exception: a
/// reference such as `[text][1]` is a link only when its definition arrived before it. Definitions are always shown.
/// A block larger than 16 KiB is drawn in parts, so that an answer of any size costs what its length says.
public struct MarkdownStream: ~Copyable, Sendable {
    /// The columns of lines that are not returned yet; without, only the text's own line endings end a line.
    public var width: Int?

    private var splitter = MarkdownSplitter()
    private var writer: MarkdownWriter

    /// A stream at its beginning; `links` says that the terminal follows links (OSC 8).
    public init(width: Int?, level: ColorLevel, links: Bool = false) {
        self.width = width
        writer = MarkdownWriter(look: MarkdownLook(level: level, links: links))
    }

    /// Takes the next piece of text; returns the lines that became final, the oldest first.
    public mutating func append(_ text: String) -> [StyledText] { append(Array(text.utf8)) }

    /// Takes the next piece, which may end inside a character.
    public mutating func append(_ bytes: [UInt8]) -> [StyledText] { write(splitter.append(bytes)) }

    /// The block that is still open, as it would be drawn if the text ended here; to be called once a frame.
    public mutating func tail() -> [StyledText] {
        var preview = writer
        // The colours of a program that is half written would flicker.
        let lines = preview.write(splitter.open, width: width, highlighting: !splitter.isInCode)
        previewedBytes += preview.parsedBytes - writer.parsedBytes
        return lines
    }

    /// Ends the text; returns the lines that were left. The stream is then as new.
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

    /// What the parser was given for lines that are final, and for previews of the open block.
    var parsedBytes: Int { splitter.parsedBytes + writer.parsedBytes }
    private(set) var previewedBytes = 0
}

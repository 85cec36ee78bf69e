import CCMarkGFM

/// Markdown, as GitHub reads it, drawn for a terminal.
///
///     for line in Markdown.render(answer, width: 80, level: level) { print(line.rendered(level: level)) }
///
/// Nothing in the text reaches the terminal as a command, and nothing of it is lost: HTML is shown as it stands, links
/// show where they lead, tables that do not fit become records. At the level `.none` emphasis keeps its marks.
public enum Markdown {
    /// The lines of `text`, none wider than `width` columns (or eight); without a width nothing is wrapped.
    ///
    /// `links` says that the terminal follows links (OSC 8); otherwise their addresses are shown in parentheses.
    public static func render(_ text: String, width: Int?, level: ColorLevel, links: Bool = false) -> [StyledText] {
        var splitter = MarkdownSplitter()
        let segments = splitter.append(Array(text.utf8)) + splitter.finish()
        var writer = MarkdownWriter(look: MarkdownLook(level: level, links: links))
        for segment in segments { writer.learn(segment) }
        return segments.flatMap { writer.write($0, width: width) }
    }
}

extension Markdown {
    /// The version of the library that reads Markdown, as it is loaded.
    public static var libraryVersion: String { unsafe String(cString: cmark_version_string()) }
}

/// How a document may be drawn.
struct MarkdownLook: Sendable {
    let level: ColorLevel
    /// Whether links are left to the terminal.
    let links: Bool

    init(level: ColorLevel, links: Bool) {
        self.level = level
        // Without escape sequences there are no links either.
        self.links = links && level != .none
    }

    /// Whether emphasis has to stay as it was written, because no style can say it.
    var showsMarks: Bool { level == .none }
}

/// Draws segments one after the other, with what has to be known from those before.
struct MarkdownWriter: Sendable {
    let look: MarkdownLook
    private(set) var parsedBytes = 0
    private var hasWritten = false
    private var known = DefinitionTable()

    /// Longer definitions are not repeated at their references: a few bytes each would make megabytes.
    private static let longDefinition = 200

    init(look: MarkdownLook) { self.look = look }

    /// Makes the definitions in `segment` known to everything that is drawn from now on.
    mutating func learn(_ segment: MarkdownSegment) { known.learn(definitions(in: segment)) }

    private mutating func definitions(in segment: MarkdownSegment) -> [LinkDefinition] {
        guard LinkDefinition.mayBe(in: segment.text) else { return [] }
        parsedBytes += segment.text.count
        return LinkDefinition.all(in: segment.text)
    }

    /// The lines of the next segment, an empty one before each block but the first.
    mutating func write(_ segment: MarkdownSegment, width: Int?, highlighting: Bool = true) -> [StyledText] {
        let lines = draw(segment, width: width, highlighting: highlighting)
        guard !lines.isEmpty else { return [] }
        let isApart = hasWritten && !segment.continues
        hasWritten = true
        return isApart ? [StyledText()] + lines : lines
    }

    private mutating func draw(_ segment: MarkdownSegment, width: Int?, highlighting: Bool) -> [StyledText] {
        let own = definitions(in: segment)
        let others = known.used(in: segment.text)
        let text = others.isEmpty ? segment.text : Array((others.map(\.source).joined() + "\n").utf8) + segment.text
        let parser = MarkdownParser()
        parsedBytes += text.count
        parser.feed(text)
        let long = (own + others).filter { $0.text.utf8.count > Self.longDefinition }
        let reader = BlockReader(look: look, longAddresses: Set(long.map(\.address)))
        let blocks = parser.finish().withRoot { root in root.map { reader.blocks(in: $0) } ?? [] }
        let layout = BlockLayout(isHighlighting: highlighting, showsCodeInfo: !segment.continues)
        // Narrower than this nothing can be read; wider than the other nothing is.
        let width = width.map { max(8, $0) } ?? Int.max / 4
        var lines = layout.lines(of: blocks, width: width, isTight: false)
        for definition in own {
            lines += StyledText(definition.text, Style(.mutedForeground)).singleLine.wrapped(to: width)
        }
        return lines
    }
}

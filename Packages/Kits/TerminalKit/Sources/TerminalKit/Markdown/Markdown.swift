import CCMarkGFM
import Capabilities

/// GitHub-flavoured Markdown, drawn for a terminal.
///
///     for line in Markdown.render(answer, width: 80, level: level) { print(line.rendered(level: level)) }
///
/// Nothing in the text can control the terminal, and nothing is lost: HTML is shown as text, links show their
/// addresses, and tables that do not fit become records. At the level `.none` emphasis keeps its marks.
///
/// libcmark-gfm is opened with the first text; ``isAvailable`` says whether that succeeds.
public enum Markdown {
    /// The lines of `text`, none wider than `width` columns (at least eight); without a width nothing is wrapped.
    ///
    /// `links` says that the terminal supports links (OSC 8); otherwise their addresses are shown in parentheses.
    /// `showsAddresses` shows them in any case, so that everybody sees where a link leads, whatever the terminal does with
    /// it.
    public static func render(
        _ text: String, width: Int?, level: ColorLevel, links: Bool = false, showsAddresses: Bool = false
    ) -> [StyledText] {
        var splitter = MarkdownSplitter()
        let segments = splitter.append(Array(text.utf8)) + splitter.finish()
        var writer = MarkdownWriter(look: MarkdownLook(level: level, links: links, showsAddresses: showsAddresses))
        for segment in segments { writer.learn(segment) }
        return segments.flatMap { writer.write($0, width: width) }
    }
}

extension Markdown {
    /// Whether Markdown can be drawn here. The first call opens libcmark-gfm, without which nothing else of this type
    /// may be used.
    public static var isAvailable: Bool { MarkdownLibrary.problem == nil }

    /// The version of libcmark-gfm that this was compiled against.
    public static var libraryVersion: String { CMARK_GFM_VERSION_STRING }

    /// The installed version of libcmark-gfm. Opens the library, and throws if it cannot be used.
    public static func installedLibraryVersion() throws(TerminalError) -> String {
        if let reason = MarkdownLibrary.problem {
            throw TerminalError(
                .system,
                "libcmark-gfm cannot be used: \(reason); install libcmark-gfm \(CMARK_GFM_VERSION_STRING) with its "
                    + "extensions (Debian: apt install libcmark-gfm-extensions\(CMARK_GFM_VERSION_STRING))")
        }
        var version = ""
        MarkdownLibrary.exclusively { version = unsafe String(cString: cmark_version_string()) }
        return version
    }
}

/// How a document is drawn.
struct MarkdownLook: Sendable {
    let level: ColorLevel
    /// Whether links are given to the terminal.
    let links: Bool
    /// Whether their addresses are shown nevertheless.
    let showsAddresses: Bool

    init(level: ColorLevel, links: Bool, showsAddresses: Bool = false) {
        (self.level, self.showsAddresses) = (level, showsAddresses)
        // Without escape sequences there are no links either.
        self.links = links && level != .none
    }

    /// Whether emphasis keeps its marks, because no style can replace them.
    var showsMarks: Bool { level == .none }
}

/// Draws segments one after the other, with the definitions of earlier ones.
struct MarkdownWriter: Sendable {
    let look: MarkdownLook
    private(set) var parsedBytes = 0
    private var hasWritten = false
    private var known = DefinitionTable()

    /// Longer definitions are not repeated at their references, because a few bytes could become megabytes.
    private static let longDefinition = 200

    init(look: MarkdownLook) { self.look = look }

    /// Makes the definitions in `segment` known to all later segments.
    mutating func learn(_ segment: MarkdownSegment) { known.learn(definitions(in: segment)) }

    private mutating func definitions(in segment: MarkdownSegment) -> [LinkDefinition] {
        guard LinkDefinition.mayBe(in: segment.text) else { return [] }
        parsedBytes += segment.text.count
        return LinkDefinition.all(in: segment.text)
    }

    /// The lines of the next segment, with an empty line before each block but the first.
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
        // The minimum and the maximum width of readable text.
        let width = width.map { max(8, $0) } ?? Int.max / 4
        var lines = layout.lines(of: blocks, width: width, isTight: false)
        for definition in own {
            lines += StyledText(definition.text, Style(.mutedForeground)).singleLine.wrapped(to: width)
        }
        return lines
    }
}

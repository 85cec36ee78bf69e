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

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

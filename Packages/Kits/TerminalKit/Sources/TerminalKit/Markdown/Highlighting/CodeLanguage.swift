/// What the lexer has to know about a language.
struct CodeLanguage: Sendable {
    /// A kind of text in quotes.
    struct Quote: Sendable {
        var open: [UInt8]
        var close: [UInt8]
        /// Whether a backslash takes the meaning from what follows it.
        var hasEscapes: Bool
        /// Whether it may go over several lines.
        var spansLines: Bool
        /// Whether it holds one character at most, so that the same mark may have another meaning (`'a` in Rust).
        var isCharacter: Bool

        init(_ open: String, _ close: String? = nil, escapes: Bool = true, lines: Bool = false, character: Bool = false)
        {
            self.open = Array(open.utf8)
            self.close = Array((close ?? open).utf8)
            hasEscapes = escapes
            spansLines = lines
            isCharacter = character
        }
    }

    var keywords: Set<String>
    /// What begins a comment that ends with its line.
    var lineComments: [String] = []
    /// Whether such a comment needs a space in front (`$#` is none in a shell).
    var commentsFollowSpace = false
    /// Whether there are `/* … */`.
    var hasBlockComments = false
    /// The kinds of quotes, longer marks first.
    var quotes: [Quote] = [Quote("\"")]
    var ignoresCase = false
    /// Whether what stands before a colon is a key.
    var hasKeys = false
    /// Whether `#word` at the beginning of a line is a command to the compiler.
    var hasDirectives = false
    /// Whether each line is a change, told by its first character.
    var isDiff = false

    init(_ keywords: String) { self.keywords = Set(keywords.split(separator: " ").map(String.init)) }

    /// `code` in the styles of its tokens.
    func highlighted(_ code: String) -> StyledText {
        if isDiff { return DiffHighlighter.highlighted(code) }
        var lexer = CodeLexer(Array(code.utf8), self)
        return lexer.highlighted()
    }
}

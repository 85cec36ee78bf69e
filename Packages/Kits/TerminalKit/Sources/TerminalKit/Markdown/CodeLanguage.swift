/// What the lexer has to know about a language.
struct CodeLanguage: Sendable {
    /// A kind of quoted text.
    struct Quote: Sendable {
        var open: [UInt8]
        var close: [UInt8]
        /// Whether a backslash escapes the next character.
        var hasEscapes: Bool
        /// Whether it may span several lines.
        var spansLines: Bool
        /// Whether it contains at most one character, so that the same mark may have another meaning (`'a` in Rust).
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
    /// What begins a comment up to the end of the line.
    var lineComments: [String] = []
    /// Whether such a comment needs a space before it (`$#` is not a comment in a shell).
    var commentsFollowSpace = false
    /// Whether there are `/* … */` comments.
    var hasBlockComments = false
    /// The kinds of quotes, longer marks first.
    var quotes: [Quote] = [Quote("\"")]
    var ignoresCase = false
    /// Whether a word before a colon is a key.
    var hasKeys = false
    /// Whether `#word` at the beginning of a line is a compiler directive.
    var hasDirectives = false
    /// Whether each line is a change, marked by its first character.
    private var isDiff = false

    init(_ keywords: String) { self.keywords = Set(keywords.split(separator: " ").map(String.init)) }

    /// `code` in the styles of its tokens.
    func highlighted(_ code: String) -> StyledText {
        if isDiff { return DiffHighlighter.highlighted(code) }
        var lexer = CodeLexer(Array(code.utf8), self)
        return lexer.highlighted()
    }
}

extension CodeLanguage {
    /// The language named by the first word after a fence.
    static func named(_ info: String) -> CodeLanguage? {
        let name = info.prefix { !$0.isWhitespace && $0 != "{" && $0 != "," && $0 != ":" }.lowercased()
        return switch name {
        case "swift": swift
        case "python", "py", "python3": python
        case "javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx": javaScript
        case "json", "jsonc", "json5", "jsonl", "ndjson": json
        case "yaml", "yml": yaml
        case "bash", "sh", "shell", "zsh", "console": bash
        case "c", "h", "cpp", "c++", "cc", "cxx", "hpp": c
        case "go", "golang": go
        case "rust", "rs": rust
        case "sql", "sqlite", "postgresql", "mysql": sql
        case "diff", "patch": diff
        default: nil
        }
    }

    private static let swift = {
        var language = CodeLanguage(
            """
            actor any as associatedtype async await borrowing break case catch class consuming continue default defer deinit \
            do else enum extension fallthrough false fileprivate final for func guard if import in indirect init inout \
            internal is isolated lazy let mutating nil nonisolated open operator override package private protocol public \
            repeat rethrows return self Self sending some static struct subscript super switch throw throws true try \
            typealias unowned unsafe var weak where while
            """)
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.quotes = [Quote("\"\"\"", lines: true), Quote("\"")]
        return language
    }()

    private static let python = {
        var language = CodeLanguage(
            """
            False None True and as assert async await break case class continue def del elif else except finally for from \
            global if import in is lambda match nonlocal not or pass raise return self try while with yield
            """)
        language.lineComments = ["#"]
        language.quotes = [Quote("\"\"\"", lines: true), Quote("'''", lines: true), Quote("\""), Quote("'")]
        return language
    }()

    private static let javaScript = {
        var language = CodeLanguage(
            """
            abstract any as async await boolean break case catch class const continue debugger default delete do else enum \
            export extends false finally for from function get if implements import in instanceof interface let new null \
            number of private protected public readonly return set static string super switch this throw true try type \
            typeof undefined var void while with yield
            """)
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.quotes = [Quote("`", lines: true), Quote("\""), Quote("'")]
        return language
    }()

    private static let json = {
        var language = CodeLanguage("true false null")
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.hasKeys = true
        return language
    }()

    private static let yaml = {
        var language = CodeLanguage("true false null yes no on off")
        language.lineComments = ["#"]
        language.commentsFollowSpace = true
        language.quotes = [Quote("\""), Quote("'", escapes: false)]
        language.hasKeys = true
        return language
    }()

    private static let bash = {
        var language = CodeLanguage(
            """
            alias break case cd continue coproc declare do done echo elif else esac eval exec exit export false fi for \
            function if in local printf read readonly return select set shift source test then time trap true unset until \
            while
            """)
        language.lineComments = ["#"]
        language.commentsFollowSpace = true
        language.quotes = [Quote("\"", lines: true), Quote("'", escapes: false, lines: true)]
        return language
    }()

    private static let c = {
        var language = CodeLanguage(
            """
            alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum \
            explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr NULL \
            operator override private protected public register restrict return short signed sizeof static static_assert \
            struct switch template this throw true try typedef typename union unsigned using virtual void volatile while
            """)
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.hasDirectives = true
        language.quotes = [Quote("\""), Quote("'", character: true)]
        return language
    }()

    private static let go = {
        var language = CodeLanguage(
            """
            any bool break byte case chan const continue default defer else error fallthrough false for func go goto if import \
            int interface iota map nil package range return rune select string struct switch true type var
            """)
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.quotes = [Quote("`", escapes: false, lines: true), Quote("\""), Quote("'", character: true)]
        return language
    }()

    private static let rust = {
        var language = CodeLanguage(
            """
            as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move \
            mut pub ref return self Self static struct super trait true type unsafe use where while
            """)
        language.lineComments = ["//"]
        language.hasBlockComments = true
        language.quotes = [Quote("\"", lines: true), Quote("'", character: true)]
        return language
    }()

    private static let sql = {
        var language = CodeLanguage(
            """
            add all alter and as asc begin between by case check column commit constraint create cross default delete desc \
            distinct drop else end except exists foreign from full group having if in index inner insert intersect into is \
            join key left like limit not null offset on or order outer primary references returning right rollback select set \
            table then transaction union unique update using values view when where with
            """)
        language.lineComments = ["--"]
        language.hasBlockComments = true
        language.quotes = [Quote("'", escapes: false, lines: true), Quote("\"", escapes: false)]
        language.ignoresCase = true
        return language
    }()

    private static let diff = {
        var language = CodeLanguage("")
        language.isDiff = true
        return language
    }()
}

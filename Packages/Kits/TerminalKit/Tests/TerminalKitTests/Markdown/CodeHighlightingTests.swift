import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct CodeHighlightingTests {
    /// The tokens of `code` that are not plain text, each with the first letter of its kind.
    private func tokens(_ code: String, _ name: String) -> [String] {
        let kinds: [(Style, String)] = [
            (CodeToken.keyword.style, "k"), (CodeToken.string.style, "s"), (CodeToken.comment.style, "c"),
            (CodeToken.number.style, "n"), (CodeToken.added.style, "+"), (CodeToken.removed.style, "-"),
        ]
        let runs = CodeLanguage.named(name)?.highlighted(code).runs ?? []
        return runs.compactMap { run in kinds.first { $0.0 == run.style }.map { "\($0.1) \(run.text)" } }
    }

    @Test(
        "Each language has its keywords, strings, comments and numbers",
        arguments: [
            ("swift", "let a = \"x\\\"y\" // c", ["k let", "s \"x\\\"y\"", "c // c"]),
            ("swift", "\"\"\"\n a \"b\"\n\"\"\"; 1...9", ["s \"\"\"\n a \"b\"\n\"\"\"", "n 1", "n 9"]),
            ("python", "def f(x='a'): # c\n  return 0x1F", ["k def", "s 'a'", "c # c", "k return", "n 0x1F"]),
            ("py", "'''a\n'b' '''", ["s '''a\n'b' '''"]), ("ts", "const a = `x\n${b}`;", ["k const", "s `x\n${b}`"]),
            ("js", "a /* b\nc */ 1.5e3", ["c /* b\nc */", "n 1.5e3"]),
            ("json", "{\"a\": [\"b\", -1, true]}", ["k \"a\"", "s \"b\"", "n 1", "k true"]),
            ("yaml", "my-key: 'a\\' # c\nurl: http://x#y", ["k my-key", "s 'a\\'", "c # c", "k url"]),
            (
                "bash", "if [ $# -gt 1 ]; then echo 'a\nb' # c\nfi",
                ["k if", "n 1", "k then", "k echo", "s 'a\nb'", "c # c", "k fi"]
            ),
            (
                "c++", "#include <a>\nchar c = '\\n'; int d = 1'000;",
                ["k #include", "k char", "s '\\n'", "k int", "n 1", "n 000"]
            ),
            ("go", "func f() { return `a\\` }", ["k func", "k return", "s `a\\`"]),
            ("rust", "fn f<'a>(x: &'a str) -> char { 'x' }", ["k fn", "s 'x'"]),
            ("sql", "select 'it''s' FROM t -- c", ["k select", "s 'it''s'", "k FROM", "c -- c"]),
            ("diff", "--- a\n+++ b\n@@ 1 @@\n-x\n+y\n z", ["k --- a", "k +++ b", "c @@ 1 @@", "- -x", "+ +y"]),
        ])
    func languages(name: String, code: String, expected: [String]) {
        #expect(tokens(code, name) == expected)
    }

    @Test("Keywords match whole words only")
    func words() {
        #expect(tokens("letter outlet lets in_let 漢let", "swift").isEmpty)
        #expect(tokens("a1 _2 x0", "swift").isEmpty)
    }

    @Test("A long line of code breaks after a space or a mark, and inside a word only if necessary")
    func folded() {
        let text = "let terminal = open(path: terminalPath)"
        let lines = Markdown.render("```swift\n\(text)\n```", width: 22, level: .none).map(\.plainText).dropFirst()
        #expect(lines == ["  let terminal = ", "  open(path: ", "  terminalPath)"])
        let word = String(repeating: "x", count: 30)
        #expect(StyledText(word).folded(to: 20).map(\.width) == [20, 10])
        #expect(StyledText("ab \(word)").folded(to: 20).map(\.width) == [20, 13])
    }

    @Test(
        "An unclosed string or comment continues to the end", arguments: ["\"abc", "/* abc", "// abc", "\"\"\"\na\nb"])
    func open(code: String) {
        #expect(CodeLanguage.named("swift")?.highlighted(code).runs.map(\.text) == [code])
        #expect(tokens("\"a\nlet", "swift") == ["s \"a", "k let"])
    }

    @Test(
        "The language is the first word after the fence, in any case",
        arguments: ["Swift", "swift title=x", "swift{1}", "swift:a.swift"])
    func names(info: String) {
        #expect(CodeLanguage.named(info)?.keywords.contains("func") == true)
        #expect(CodeLanguage.named("brainfuck") == nil)
    }

    @Test("Colours change no character of the code", arguments: UInt64(1)...40)
    func unchanged(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "'", "`", "\"\"\"", "\\", "/*", "*/", "//", "#", "--", "\n", " ", "let", "if", "1.5", ".", ":", "漢",
            "é", "$", "'a", "+",
        ]
        let code = (0..<80).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        for name in ["swift", "py", "js", "json", "yaml", "sh", "c", "go", "rs", "sql", "diff"] {
            #expect(CodeLanguage.named(name)?.highlighted(code).plainText == code, "\(name), seed \(seed)")
        }
    }
}

import Testing

@testable import TerminalKit

@Suite struct MarkdownBlockTests {
    private static let prose = "A paragraph with **strong** words,\n*stressed* ones and `code` in it."

    @Test(
        "A paragraph is wrapped at the width",
        arguments: [
            (20, ["A paragraph with", "**strong** words,", "*stressed* ones and", "`code` in it."]),
            (40, ["A paragraph with **strong** words,", "*stressed* ones and `code` in it."]),
            (80, ["A paragraph with **strong** words, *stressed* ones and `code` in it."]),
        ])
    func paragraph(width: Int, lines: [String]) {
        #expect(drawn(Self.prose, width) == lines)
    }

    @Test("Without a width only hard breaks end a line")
    func unwrapped() {
        #expect(drawn("one  \ntwo\\\nthree\nfour " + String(repeating: "word ", count: 100), nil).count == 3)
    }

    @Test("Headings keep their marks, however they were written")
    func headings() {
        #expect(
            drawn("# One\n### Three ###\nTwo\n---\n#none", 40) == ["# One", "", "### Three", "", "## Two", "", "#none"])
        #expect(drawn("## A heading that goes on", 20) == ["## A heading that", "goes on"])
    }

    @Test(
        "Lists are numbered, indented and tight as they were written",
        arguments: [
            ("- a\n- b\n  - c\n    1. d", ["• a", "• b", "  • c", "    1. d"]),
            ("9. a\n1. b", [" 9. a", "10. b"]), ("3) a", ["3) a"]),
            ("- a\n\n- b", ["• a", "", "• b"]), ("- a\n\n  b\n- c", ["• a", "", "  b", "", "• c"]),
            ("- [ ] a\n- [x] b\n- c", ["[ ] a", "[x] b", "• c"]), ("1. [x] a", ["1. [x] a"]),
            ("-\n- a", ["•", "• a"]), ("- - a", ["• • a"]), ("- a\n\n\n1. b", ["• a", "", "1. b"]),
            ("- # a\n  > b", ["• # a", "  │ b"]),
        ])
    func lists(text: String, lines: [String]) {
        #expect(drawn(text, 40) == lines)
    }

    @Test("The text of an item is indented after its marker")
    func hanging() {
        #expect(
            drawn("1. some words that need\n   two lines\n   - and some more of them", 20) == [
                "1. some words that", "   need two lines", "   • and some more", "     of them",
            ])
    }

    @Test("Quotes have a line in front, also of empty lines")
    func quotes() {
        #expect(drawn("> a\nb\n>\n> > c\n> - d", 40) == ["│ a b", "│", "│ │ c", "│", "│ • d"])
        #expect(drawn("> some words that need two lines", 20) == ["│ some words that", "│ need two lines"])
    }

    @Test("Deep nesting leaves room for the text")
    func deep() {
        let text = (0..<30).map { String(repeating: "  ", count: $0) + "- level" }.joined(separator: "\n")
        let lines = drawn(text, 40)
        #expect(lines.count { $0.contains("level") } == 30)
        #expect(lines.allSatisfy { TextWidth.of($0) <= 40 })
    }

    @Test("Code keeps its spaces and lines, and is folded if it is too long")
    func code() {
        #expect(drawn("```\na  b\n\n  *c*\n```", 40) == ["  a  b", "", "    *c*"])
        #expect(drawn("    one\n\n    two\n", 40) == ["  one", "", "  two"])
        #expect(drawn("```sh -x\nls\n```", 40) == ["  sh -x", "  ls"])
        #expect(drawn("```\n0123456789 12345 789\n```", 16) == ["  0123456789 ", "  12345 789"])
        #expect(drawn("```\n\tx\n\ta\tb\n```", 40) == ["      x", "      a   b"])
        #expect(drawn("```\nnever closed\n", 40) == ["  never closed"])
        #expect(drawn("```\n```", 40) == [])
    }

    @Test("HTML is shown as text")
    func html() {
        #expect(
            drawn("<div onclick=\"x\">\n<b>*a*</b>\n</div>", 40) == ["<div onclick=\"x\">", "<b>*a*</b>", "</div>"])
        #expect(drawn("a<br>b <!-- c -->", 40) == ["a<br>b <!-- c -->"])
    }

    @Test("A rule is as wide as there is room", arguments: [(20, 20), (80, 72)])
    func rule(width: Int, columns: Int) {
        #expect(drawn("***", width) == [String(repeating: "─", count: columns)])
    }

    @Test("Wide characters count as the columns that they take", arguments: [20, 40, 80])
    func wide(width: Int) {
        let text = String(repeating: "漢字 👨‍👩‍👧‍👦 e\u{301}e\u{301} 한국어 ", count: 10)
        let lines = drawn(text, width)
        #expect(lines.allSatisfy { TextWidth.of($0) <= width && TextWidth.of($0) > width - 10 || $0 == lines.last })
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
    }

    @Test("Empty text gives no lines", arguments: ["", "\n\n", "  \n\t\n"])
    func empty(text: String) {
        #expect(drawn(text, 40) == [])
    }

    @Test("No line is wider than the width", arguments: 8...100)
    func widths(width: Int) {
        for line in Markdown.render(everyBlock, width: width, level: .ansi256, links: true) {
            #expect(TextWidth.of(line.plainText) <= width, "\(line.plainText)")
        }
    }
}

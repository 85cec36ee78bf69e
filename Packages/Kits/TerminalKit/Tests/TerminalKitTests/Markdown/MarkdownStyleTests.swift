import Capabilities
import Testing

@testable import TerminalKit

@Suite struct MarkdownStyleTests {
    private func runs(_ text: String) -> [StyledText.Run] {
        Markdown.render(text, width: 80, level: .truecolor).flatMap(\.runs)
    }

    @Test(
        "Each kind of text has its style, without marks",
        arguments: [
            ("*a*", "a", Style(italic: true)), ("**a**", "a", Style(bold: true)),
            ("***a***", "a", Style(bold: true, italic: true)), ("~~a~~", "a", Style(strikethrough: true)),
            ("`*a*`", "*a*", Style(.code)), ("[a](b)", "a", Style(.link, underline: true)),
            ("<b>", "<b>", Style(.mutedForeground)), ("~a~", "~a~", .plain),
        ])
    func inlines(text: String, shown: String, style: Style) {
        #expect(runs(text).first?.text == shown)
        #expect(runs(text).first?.style == style)
    }

    @Test("Marks stay only where no style can replace them")
    func marks() {
        #expect(drawn("*a* **b** ~~c~~ `d` ``e`f``", 80) == ["*a* **b** ~~c~~ `d` ``e`f``"])
        #expect(runs("*a* **b** ~~c~~ `d` ``e`f``").map(\.text).joined() == "a b c d e`f")
    }

    @Test("Headings are bold after a quiet mark")
    func headings() {
        #expect(
            runs("## a *b*").map(\.style) == [
                Style(.mutedForeground), Style(.heading, bold: true), Style(.heading, bold: true, italic: true),
            ])
    }

    @Test("Without a level there is no escape sequence")
    func plain() {
        let lines = Markdown.render(everyBlock, width: 40, level: .none, links: true)
        #expect(!lines.contains { $0.rendered(level: .none).contains("\u{1B}") })
    }

    @Test("Strikethrough text has its sequence")
    func strikethrough() {
        #expect(StyledText("x", Style(strikethrough: true)).rendered(level: .ansi16) == "\u{1B}[9mx\u{1B}[0m")
    }
}

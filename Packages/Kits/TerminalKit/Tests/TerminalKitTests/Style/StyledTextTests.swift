import Capabilities
import Testing

@testable import TerminalKit

@Suite struct StyledTextTests {
    @Test("A text on a surface has the colours of both, and without colours a surface that stands out is reversed")
    func surfaces() {
        let text = StyledText("x", Style(background: .destructive))
        #expect(text.rendered(level: .truecolor) == "\u{1B}[38;2;255;255;255;48;2;227;42;13mx\u{1B}[0m")
        #expect(text.rendered(level: .ansi16) == "\u{1B}[97;41mx\u{1B}[0m")
        #expect(StyledText("x", Style(background: .accent)).rendered(level: .ansi16) == "\u{1B}[7mx\u{1B}[0m")
        #expect(StyledText("x", Style(reverse: true)).rendered(level: .ansi256) == "\u{1B}[7mx\u{1B}[0m")
    }

    @Test("Without colour there is no escape sequence")
    func plain() {
        let text = StyledText("a", Style(.destructive, bold: true)) + "b"
        #expect(text.rendered(level: .none) == "ab")
    }

    @Test(
        "Each level has its own sequence",
        arguments: [
            (ColorLevel.ansi16, "\u{1B}[1;31mno\u{1B}[0m"), (.ansi256, "\u{1B}[1;38;5;203mno\u{1B}[0m"),
            (.truecolor, "\u{1B}[1;38;2;227;42;13mno\u{1B}[0m"),
        ])
    func levels(level: ColorLevel, expected: String) {
        #expect(StyledText("no", Style(.destructive, bold: true)).rendered(level: level) == expected)
    }

    @Test("Every attribute has its parameter")
    func attributes() {
        let style = Style(bold: true, dim: true, italic: true, underline: true)
        #expect(StyledText("x", style).rendered(level: .ansi16) == "\u{1B}[1;2;3;4mx\u{1B}[0m")
        #expect(StyledText("x").bytes(level: .truecolor) == [0x78])
    }

    @Test("Text from outside cannot bring its own escape sequences")
    func sanitized() {
        var text = StyledText("\u{1B}[31m")
        text.append("\u{9B}2J", Style(.ring))
        text.append(StyledText(stringLiteral: "\u{07}"))
        #expect(text.plainText == "␛[31m\u{FFFD}2J␇")
    }

    @Test("Neighbours in one style are one run, and empty runs are dropped")
    func merging() {
        let text = StyledText("a") + StyledText("") + StyledText("b") + StyledText("c", Style(.ring))
        #expect(text.runs.map(\.text) == ["ab", "c"])
    }

    @Test(
        "Truncation keeps the styles of the remaining text",
        arguments: [
            (6, "ab漢cd", 2), (5, "ab漢…", 2), (4, "ab…", 2), (3, "ab…", 2), (2, "a…", 1), (1, "…", 1), (0, "", 0),
        ])
    func truncation(width: Int, expected: String, runs: Int) {
        let text = StyledText("ab", Style(.ring)) + StyledText("漢cd", Style(.accent))
        let short = text.truncated(to: width)
        #expect(short.plainText == expected)
        #expect(short.runs.count == runs)
        #expect(short.width <= width)
    }
}

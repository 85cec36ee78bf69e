import Capabilities
import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct TextWrappingTests {
    @Test(
        "Text is cut between words, and inside words only if they are too long",
        arguments: [
            ("", 10, [""]), ("one two", 10, ["one two"]), ("one two three", 7, ["one two", "three"]),
            ("one  two", 4, ["one", "two"]), ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("a abcdefgh", 4, ["a", "abcd", "efgh"]),
            ("AB:CD:EF:01", 7, ["AB:CD:", "EF:01"]), ("x AB:CD:EF:01", 7, ["x", "AB:CD:", "EF:01"]),
            ("/a/quite-long/path", 10, ["/a/quite-", "long/path"]), ("a:bcdefgh", 6, ["a:bcde", "fgh"]),
            ("a\nb", 10, ["a", "b"]), ("a\n\nb\n", 10, ["a", "", "b", ""]), ("a\r\nb", 10, ["a", "b"]),
            ("  code", 10, ["  code"]), ("ab   ", 3, ["ab"]), ("ab ", 3, ["ab "]), ("     abc", 4, ["abc"]),
            ("漢字漢字", 5, ["漢字", "漢字"]), ("ab漢字", 4, ["ab漢", "字"]), ("word漢字word", 6, ["word漢", "字word"]),
            ("👍🏽👍🏽👍🏽", 4, ["👍🏽👍🏽", "👍🏽"]), ("漢字", 1, ["漢", "字"]),
        ])
    func wrap(text: String, width: Int, expected: [String]) {
        #expect(TextWidth.wrap(text, to: width).map(String.init) == expected)
    }

    @Test("Every line fits, and only white space is lost", arguments: UInt64(1)...200)
    func properties(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = random.text()
        let width = Int.random(in: 2...40, using: &random)
        let lines = TextWidth.wrap(text, to: width)
        for line in lines {
            #expect(TextWidth.of(line) <= width, "\(line.debugDescription) of \(text.debugDescription)")
        }
        #expect(letters(lines.joined()) == letters(text))
    }

    @Test("Styled text is cut at the same places and keeps its styles", arguments: UInt64(1)...50)
    func styled(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var text = StyledText()
        for token in [ThemeToken.ring, .accent, .destructive] {
            text.append(random.text(maximumCount: 20), Style(token))
        }
        let lines = text.wrapped(to: 12)
        #expect(lines.map(\.plainText) == TextWidth.wrap(text.plainText, to: 12).map(String.init))
        for token in [ThemeToken.ring, .accent, .destructive] {
            func inToken(_ texts: [StyledText]) -> String {
                texts.flatMap(\.runs).filter { $0.style.token == token }.map(\.text).joined()
            }
            #expect(letters(inToken(lines)) == letters(inToken([text])))
        }
    }

    /// Everything but the white space, by scalar: a grapheme may join another one when lines are put together.
    private func letters(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { !$0.properties.isWhitespace }
    }
}

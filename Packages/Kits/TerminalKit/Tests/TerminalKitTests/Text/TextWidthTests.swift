import Testing

@testable import TerminalKit

@Suite struct TextWidthTests {
    @Test(
        "A grapheme takes the columns in which it is drawn",
        arguments: [
            ("", 0), ("a", 1), ("hello", 5), ("é", 1), ("e\u{301}", 1), ("e\u{301}\u{323}", 1), ("ñandú", 5),
            ("漢", 2), ("漢字", 4), ("かな", 4), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
            ("👨‍👩‍👧‍👦", 2), ("👩🏽‍💻", 2), ("👍", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🇩🇪🇫🇷", 4), ("🇩", 1), ("❤", 1), ("❤️", 2), ("1️⃣", 2),
            ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("🫠", 2), ("\u{200D}", 0), ("\u{FE0F}", 0), ("\u{301}", 0), ("\u{200B}", 0),
            ("\n", 0), ("\r\n", 0), ("\u{1B}", 0), ("\u{7F}", 0), ("\u{85}", 0), ("\t", 8), ("a\tb", 10), ("…", 1),
            ("─", 1), ("⠋", 1),
        ])
    func width(text: String, columns: Int) {
        #expect(TextWidth.of(text) == columns)
        #expect(TextWidth.of(text[...]) == columns)
    }

    @Test(
        "Truncated text keeps whole graphemes and ends in an ellipsis",
        arguments: [
            ("hello", 5, "hello"), ("hello", 4, "hel…"), ("hello", 1, "…"), ("hello", 0, ""), ("", 0, ""),
            ("漢字漢字", 5, "漢字…"), ("漢字漢字", 4, "漢…"), ("漢字", 1, "…"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ])
    func truncate(text: String, width: Int, expected: String) {
        #expect(TextWidth.truncate(text, to: width) == expected)
    }

    @Test("An ellipsis wider than the room is left out")
    func ellipsisTooWide() {
        #expect(TextWidth.truncate("hello", to: 2, ellipsis: "...") == "he")
    }

    @Test(
        "Padding counts columns",
        arguments: [
            ("ab", 4, TextAlignment.leading, "ab  "), ("ab", 4, .trailing, "  ab"), ("漢", 4, .leading, "漢  "),
            ("👍🏽", 3, .trailing, " 👍🏽"), ("abc", 2, .leading, "abc"),
        ])
    func pad(text: String, width: Int, alignment: TextAlignment, expected: String) {
        #expect(TextWidth.pad(text, to: width, alignment: alignment) == expected)
    }
}

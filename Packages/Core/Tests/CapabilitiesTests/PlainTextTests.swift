import Capabilities
import Testing

@Suite("PlainText")
struct PlainTextTests {
    @Test(
        "A long text is cut before it is escaped",
        arguments: [
            ("", ""), ("abcd", "abcd"), ("abcde", "abcd…"), ("a\u{1B}cd", "a\\u{1B}cd"), ("a\u{1B}cde", "a\\u{1B}cd…"),
        ])
    func cut(text: String, shown: String) {
        #expect(PlainText.escape(text, limit: 4) == shown)
    }

    @Test("Lines stay lines, and everything else that a terminal would interpret is escaped")
    func lines() {
        #expect(PlainText.escape("a\nb\u{202E}") == "a\\u{A}b\\u{202E}")
        #expect(PlainText.escapeLines("a\nb\u{202E}\n") == "a\nb\\u{202E}\n")
    }
}

import Testing

@testable import TerminalKit

@Suite struct LineGuardTests {
    private func guarded(_ line: String) -> String {
        String(decoding: LineGuard.guarded(Array(line.utf8)), as: UTF8.self)
    }

    @Test(
        "Ordinary lines are not changed",
        arguments: [
            "", "text", "> > - 1. a", "----------------------------------------------------------------", "1.5 - 2",
            "| - | :-: |",
            "****************************************************", "- a - b - c", "-", "123456789. a",
        ])
    func ordinary(line: String) {
        #expect(guarded(line) == line)
    }

    @Test(
        "The first mark beyond the limit is escaped",
        arguments: [
            (">", ">", "\\>"), ("> ", ">", "\\>"), ("- ", "- ", "\\- "), ("1. ", "7) ", "7\\) "),
            ("> - ", "+ ", "\\+ "),
        ])
    func nested(pattern: String, last: String, escaped: String) {
        let marks = pattern.filter { !$0.isWhitespace && !$0.isNumber }.count
        let line = String(repeating: pattern, count: LineGuard.maximumDepth / marks)
        #expect(guarded(line + last + "x") == line + escaped + "x")
        #expect(guarded(line + "x") == line + "x")
    }

    @Test("Cells beyond the last column lose their bars")
    func cells() {
        for (line, expected) in [
            ("|a|b|", "|a|b|"), ("|a|b|c|", "|a|b\\|c|"), ("a|b|c", "a|b\\|c"), ("a|b|", "a|b|"),
            ("|a\\|b|c|", "|a\\|b|c|"),
            ("|||||", "||\\|\\||"), ("", ""), ("|", "|"),
        ] {
            #expect(
                String(decoding: LineGuard.guarded(Array(line.utf8), columns: 2), as: UTF8.self) == expected, "\(line)")
        }
    }
}

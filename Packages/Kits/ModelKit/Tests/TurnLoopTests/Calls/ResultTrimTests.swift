import Testing

@testable import TurnLoop

@Suite("Shortened results")
struct ResultTrimTests {
    @Test("A short result is not changed")
    func short() {
        #expect(ResultTrim.trimmed("abc", to: 3) == "abc")
        #expect(ResultTrim.trimmed("", to: 0) == "")
    }

    @Test("A shortened result never ends in the middle of a character", arguments: 0..<40)
    func characters(limit: Int) {
        let text = "aé漢👩‍👩‍👧z" + String(repeating: "漢é", count: 30) + "👍🏽end"
        let trimmed = ResultTrim.trimmed(text, to: limit)
        #expect(!trimmed.contains("\u{FFFD}"))
        let parts = trimmed.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        #expect(text.unicodeScalars.starts(with: parts[0].unicodeScalars))
        #expect(text.unicodeScalars.reversed().starts(with: parts[2].unicodeScalars.reversed()))
        #expect(parts[0].utf8.count + parts[2].utf8.count <= limit)
    }
}

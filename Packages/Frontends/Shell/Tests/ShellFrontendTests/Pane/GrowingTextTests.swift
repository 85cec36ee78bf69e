import CoreTesting
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct GrowingTextTests {
    private func rows(_ text: GrowingText, _ words: String, isOpen: Bool = true) -> [String] {
        let count = text.count(of: words, isOpen: isOpen)
        return text.rows(0..<count, of: words, isOpen: isOpen).map(\.plainText)
    }

    @Test("Plain lines that grow in any pieces are those of the whole", arguments: UInt64(1)...30)
    func plain(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = ["word", " ", "\n", "\n", "\r\n", "漢字", "a longer piece of text ", "\t", "e\u{301}", ""]
        let text = GrowingText(.plain(.plain), columns: 20, level: .none)
        var words = ""
        for _ in 0..<60 {
            words += parts.randomElement(using: &random) ?? ""
            let whole = GrowingText(.plain(.plain), columns: 20, level: .none)
            #expect(rows(text, words) == rows(whole, words, isOpen: false), "seed \(seed): \(words.debugDescription)")
        }
    }

    @Test("A text that is replaced, shortened or begun again is laid out from its beginning")
    func replaced() {
        for kind in [GrowingText.Kind.markdown, .plain(.plain)] {
            let text = GrowingText(kind, columns: 20, level: .none)
            #expect(rows(text, "one two") == ["one two"])
            #expect(rows(text, "one") == ["one"])
            #expect(rows(text, "other") == ["other"])
            #expect(rows(text, "other", isOpen: false) == ["other"])
            #expect(rows(text, "other words") == ["other words"])
        }
    }

    @Test("A change in the middle of a long text is seen once the text is complete")
    func middle() {
        let text = GrowingText(.plain(.plain), columns: 20, level: .none)
        let lines = (0..<5_000).map { "line \($0)" }
        _ = rows(text, lines.joined(separator: "\n"))
        var changed = lines
        changed[2_500] = "LINE 2500"
        let words = changed.joined(separator: "\n") + "\nend"
        _ = rows(text, words)
        #expect(rows(text, words, isOpen: false) == changed + ["end"])
    }

    @Test("A part of the rows is a part of all of them")
    func ranges() {
        let text = GrowingText(.plain(.plain), columns: 20, level: .none)
        let words = (0..<10).map(String.init).joined(separator: "\n")
        let all = text.rows(0..<10, of: words, isOpen: true)
        for first in 0..<12 {
            for end in first..<12 {
                let part = text.rows(first..<end, of: words, isOpen: true)
                #expect(part == Array(all[min(first, 10)..<min(end, 10)]))
            }
        }
    }
}

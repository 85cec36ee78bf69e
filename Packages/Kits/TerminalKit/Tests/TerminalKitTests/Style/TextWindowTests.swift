import Capabilities
import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct TextWindowTests {
    private func window(_ text: String, _ start: Int, _ columns: Int) -> String {
        StyledText(text).window(from: start, columns: columns).plainText
    }

    @Test(
        "A window shows a part of a line, with a mark at each edge beyond which there is more",
        arguments: [
            ("abcdefghij", 0, 10, "abcdefghij"), ("abcdefghij", 0, 20, "abcdefghij"), ("abcdefghij", 0, 5, "abcd…"),
            ("abcdefghij", 2, 5, "…def…"), ("abcdefghij", 5, 5, "…ghij"), ("abcdefghij", 4, 5, "…fgh…"),
            ("abcdefghij", 8, 5, "…j"), ("abcdefghij", 10, 5, "…"), ("abcdefghij", 99, 5, "…"), ("", 3, 5, ""),
            ("abcdefghij", 0, 0, ""), ("abcdefghij", 3, 0, ""), ("abcdefghij", 0, 1, "…"), ("abcdefghij", 3, 1, "…"),
            ("abcdefghij", 3, 2, "……"), ("日本語日本語", 0, 6, "日本 …"), ("日本語日本語", 0, 7, "日本語…"),
            ("日本語日本語", 1, 6, "…本語…"), ("日本語日本語", 2, 6, "… 語 …"), ("a👨‍👩‍👧b", 0, 3, "a …"),
            ("xx👨‍👩‍👧yy", 1, 9, "…👨‍👩‍👧yy"), ("xx👨‍👩‍👧yy", 2, 9, "… yy"), ("e\u{301}e\u{301}e\u{301}", 1, 5, "…e\u{301}"),
        ])
    func cases(text: String, start: Int, columns: Int, shown: String) { #expect(window(text, start, columns) == shown) }

    @Test("The parts keep their styles, and the marks have their own")
    func styles() {
        let line =
            StyledText("red", Style(.error)) + StyledText("green", Style(.accent)) + StyledText("日", Style(.code))
        let seen = line.window(from: 1, columns: 6)
        #expect(seen.runs.map(\.text) == ["…", "d", "gre", "…"])
        #expect(seen.runs.map(\.style.token) == [.mutedForeground, .error, .accent, .mutedForeground])
    }

    @Test("It is as wide as the window wherever the line goes on, and every column is seen", arguments: UInt64(1)...40)
    func widths(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = StyledText()
        for _ in 0..<12 {
            let cluster = (SeededGenerator.agreedClusters + ["👨‍👩‍👧", "漢"]).randomElement(using: &random) ?? ""
            line.append(cluster, random.style())
        }
        for columns in 1...12 {
            for start in 0...(line.width + 2) {
                let seen = line.window(from: start, columns: columns)
                let wanted = start < line.width ? min(columns, line.width - start) : line.isEmpty ? 0 : 1
                #expect(seen.width == wanted, "\(line.plainText) from \(start), \(columns) columns")
            }
        }
        let whole = line.window(from: 0, columns: line.width)
        #expect(whole == line)
    }

    @Test("A line of a megabyte is cut anywhere in it", .timeLimit(.minutes(1)))
    func long() {
        let line = StyledText(String(repeating: "abcdefghi ", count: 100_000))
        for start in stride(from: 0, to: 1_000_000, by: 99_000) {
            #expect(line.window(from: start, columns: 80).width == 80)
        }
    }
}

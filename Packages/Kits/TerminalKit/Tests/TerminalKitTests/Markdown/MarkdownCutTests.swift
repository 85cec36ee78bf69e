import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct MarkdownCutTests {
    private func segments(_ text: String) -> [MarkdownSegment] {
        var splitter = MarkdownSplitter()
        return splitter.append(Array(text.utf8)) + splitter.finish()
    }

    @Test("Segments drawn separately are equal to the document drawn at once", arguments: UInt64(1)...150)
    func apart(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let segments = segments(random.markdown(lines: 40))
        var apart = MarkdownWriter(look: MarkdownLook(level: .ansi256, links: false))
        var whole = apart
        let document = MarkdownSegment(text: segments.flatMap(\.text), continues: false)
        #expect(segments.flatMap { apart.write($0, width: 60) } == whole.write(document, width: 60), "seed \(seed)")
    }

    @Test("Every top-level block is a segment")
    func blocks() {
        #expect(segments(everyBlock).map(\.continues).allSatisfy { !$0 })
        #expect(segments("a\n\nb\n# c\n- d\n\n- e\n\nf\n```\n\n\n```\ng").count == 7)
    }

    @Test(
        "An answer of any shape is read at most twice, in pieces of twenty bytes",
        arguments: [
            everyBlock + "\n\n", "word ", "word\n", "- item\n", "- item\n\n", "| a | b |\n", "> quote\n", "    code\n",
            "漢字",
            "[a][b] ", "[a]: b\n", "[a]: b\n\n", "<div>\n", "`", "* ",
        ])
    func cost(pattern: String) {
        let bytes = Array(String(repeating: pattern, count: 1_000_000 / 8 / pattern.utf8.count).utf8)
        var stream = MarkdownStream(width: 80, level: .ansi256)
        var frames = 0
        for start in stride(from: 0, to: bytes.count, by: 20) {
            _ = stream.append(Array(bytes[start..<min(start + 20, bytes.count)]))
            if start % 20_000 == 0 {
                _ = stream.tail()
                frames += 1
            }
        }
        // Each line is read once to find the cuts, once more after a cut, and once to be drawn. Possible definitions
        // are read twice more.
        let factor = pattern.contains("]:") ? 5 : 3
        #expect(stream.parsedBytes <= factor * bytes.count + 8 * BlockCutter.hardLimit)
        #expect(stream.previewedBytes <= frames * 2 * BlockCutter.hardLimit)
    }

    @Test("An answer of a megabyte costs in proportion to its length")
    func megabyte() {
        let text = String(repeating: everyBlock + "\n\n", count: 1_000_000 / everyBlock.utf8.count)
        var stream = MarkdownStream(width: 80, level: .ansi256)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 20) {
            _ = stream.append(Array(bytes[start..<min(start + 20, bytes.count)]))
        }
        #expect(stream.parsedBytes <= 3 * bytes.count)
        #expect(stream.finish().count < 20)
    }

    @Test("A long program continues as a program, and its lines are final before it ends")
    func longCode() {
        let lines = (1...2_000).map { "let value\($0) = \($0)" }
        var stream = MarkdownStream(width: 80, level: .none)
        let early = stream.append("```swift\n" + lines.joined(separator: "\n") + "\n")
        let late = stream.append("```\nend\n") + stream.finish()
        #expect(early.count > 1_000)
        #expect((early + late).map(\.plainText) == ["  swift"] + lines.map { "  " + $0 } + ["", "end"])
    }

    @Test("A long table continues below its titles")
    func longTable() {
        let rows = (1...3_000).map { "| \($0) | value |" }
        let drawn = drawn("| n | v |\n|--:|---|\n" + rows.joined(separator: "\n"), 80)
        #expect(drawn.count { $0.hasSuffix(" │ value") } == 3_000)
        #expect(drawn.count { $0.hasSuffix("n │ v") } > 1)
        #expect(!drawn.contains(""))
    }

    @Test("Text after a block of exactly the limit is a separate block", arguments: 16_370...16_400)
    func limit(size: Int) {
        let head = "| n |\n|---|\n"
        let rows = String(repeating: "| 1 |\n", count: (size - head.utf8.count) / 6)
        let pad = String(repeating: "x", count: (size - head.utf8.count) % 6)
        let lines = drawn(head + rows + "|\(pad)|\n# next\ntext", 80)
        #expect(lines.suffix(4) == ["", "# next", "", "text"])
        #expect(!zip(lines, lines.dropFirst()).contains { $0.hasPrefix("───") && $1.isEmpty })
    }

    @Test("An endless line is cut between characters, and nothing is lost")
    func longLine() {
        for pattern in ["a", "漢", "é"] {
            let text = String(repeating: pattern, count: 100_000 / pattern.utf8.count)
            let lines = drawn("```\n" + text, 80)
            #expect(lines.map { $0.filter { $0 != " " } }.joined() == text)
        }
    }
}

import CoreTesting
import Testing

@testable import OfflinePlanner

@Suite("Parsing of tool results")
struct FileLinesTests {
    @Test("Numbers, tabs and notes are told apart")
    func reading() {
        let lines = FileLines("     7\tone\n     8\t\n     9\t\tthree\n[lines 7 to 9 are shown; go on with offset 10]")
        #expect(lines.first == 7 && lines.last == 9 && lines.next == 10)
        #expect(lines.lines == ["one", "", "\tthree"] && !lines.isWhole)
        #expect(lines[8] == "" && lines[10] == nil)
    }

    @Test("Omitted lines in the middle are a gap and never a line")
    func gap() {
        let lines = FileLines("     1\ta\n     2\tb\n[… 100 of 200 bytes are left out here …]\n     9\ti\n")
        #expect(lines.hasGap && !lines.isWhole && lines[9] == "i" && lines[2] == "b")
    }

    @Test("A block around a line occurs once in the file and contains the line")
    func blocks() {
        let seed = UInt64.random(in: 1...1_000_000)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let count = Int.random(in: 1...30, using: &random)
            let rows = (1...count).map { _ in ["", "a", "ab", "b", "}"].randomElement(using: &random) ?? "" }
            let lines = FileLines(rows.enumerated().map { "\($0.offset + 1)\t\($0.element)\n" }.joined())
            let number = Int.random(in: 1...count, using: &random)
            guard let block = lines.block(around: number) else { continue }
            #expect(block.contains(number), "seed \(seed)")
            #expect(rows.joined(separator: "\n").count(of: lines.text(block)) == 1, "seed \(seed)")
        }
    }

    @Test("Rows of a search are read, whatever the line contains")
    func hits() {
        let hits = Hit.all(in: "a/b.swift:12:    let x: Int = 3:4\nc d.txt:1:\n--\n[there is more]\nnonsense\n")
        #expect(hits.map(\.place) == ["a/b.swift:12", "c d.txt:1"])
        #expect(hits.map(\.text) == ["    let x: Int = 3:4", ""])
    }

    @Test("Code in Markdown stays code", arguments: ["a", "`", "a`b", "``", "", " a\nb "])
    func code(text: String) {
        let shown = Markdown.code(text)
        #expect(shown.hasPrefix("`") && shown.hasSuffix("`") && !shown.contains("\n"))
        #expect(Markdown.block("```\n\(text)").hasPrefix("````"))
    }
}

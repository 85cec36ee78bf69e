import Testing

@testable import TerminalKit

@Suite struct TableTests {
    static func sample() -> Table {
        var table = Table([
            TableColumn("ID"), TableColumn("NAME", mayTruncate: true), TableColumn("SIZE", alignment: .trailing),
            TableColumn("NOTE", mayTruncate: true, minimumWidth: 4, priority: -1),
        ])
        table.append(["a1", "漢字の名前がとても長い模型", "4.1 GB", "a note that goes on for quite some time"])
        table.append(["b22", "👨‍👩‍👧‍👦 family", "900 MB", ""])
        table.append(["c", "a name with\na second line\tand a tab in it", "7 B", "short"])
        return table
    }

    @Test("columns are aligned, and no line ends in spaces")
    func aligned() {
        var table = Table([TableColumn("NAME"), TableColumn("SIZE", alignment: .trailing), TableColumn("NOTE")])
        table.append(["漢字", "4", "x"])
        table.append(["model", "1000", ""])
        table.append(["", "", "last"])
        #expect(
            table.lines(width: nil).map(\.plainText) == [
                "NAME   SIZE  NOTE", "漢字      4  x", "model  1000", "             last",
            ])
    }

    @Test("a table keeps to every width that its fixed columns allow", arguments: 20...200)
    func width(width: Int) {
        let lines = Self.sample().lines(width: width)
        // Fixed columns 3 + 6, minimums 8 + 4, three gaps of 2.
        for line in lines { #expect(line.width <= max(width, 27), "\(line.plainText)") }
        #expect(lines.map(\.plainText).allSatisfy { !$0.hasSuffix(" ") })
        #expect(lines[1].plainText.hasPrefix("a1   漢"))
        #expect(lines[3].plainText.contains("   7 B"))
    }

    @Test("the column of the lowest priority gives way first, then the widest")
    func priorities() {
        let full = Self.sample().lines(width: nil)
        let widest = full.map(\.width).max() ?? 0
        let lines = Self.sample().lines(width: widest - 10)
        #expect(lines[1].plainText.contains("漢字の名前がとても長い模型"))
        #expect(lines[1].plainText.hasSuffix("…"))
    }

    @Test("without a width nothing is truncated, and cells stay on one line")
    func untruncated() {
        let text = Self.sample().lines(width: nil).map(\.plainText).joined(separator: "\n")
        #expect(!text.contains("…"))
        #expect(text.contains("a name with a second line and a tab in it"))
        #expect(text.split(separator: "\n").count == 4)
    }

    @Test("the titles have the header style, or are left out")
    func header() {
        var table = Table([TableColumn("A")], headerStyle: Style(bold: true))
        table.append(["1"])
        #expect(table.lines(width: 80).map { $0.rendered(level: .ansi16) } == ["\u{1B}[1mA\u{1B}[0m", "1"])
        table.showsHeader = false
        #expect(table.lines(width: 80).map(\.plainText) == ["1"])
    }

    @Test("a table without rows or columns draws what there is")
    func empty() {
        #expect(Table([]).lines(width: 80).map(\.plainText) == [""])
        #expect(Table([TableColumn("A"), TableColumn("B")]).lines(width: 80).map(\.plainText) == ["A  B"])
    }
}

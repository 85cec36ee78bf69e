import Testing

@testable import TerminalKit

@Suite struct TableTests {
    static func sample() -> Table {
        var table = Table([
            TableColumn("ID"), TableColumn("NAME", mayWrap: true), TableColumn("SIZE", alignment: .trailing),
            TableColumn("NOTE", mayWrap: true),
        ])
        table.append(["a1", "漢字の名前がとても長い模型", "4.1 GB", "a note that goes on for quite some time"])
        table.append(["b22", "👨‍👩‍👧‍👦 family", "900 MB", ""])
        table.append(["c", "a name with\na second line\tand a tab in it", "7 B", "short"])
        return table
    }

    @Test("Columns are aligned, and no line ends in spaces")
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

    @Test("A table fits every width and loses nothing", arguments: 20...200)
    func width(width: Int) {
        let lines = Self.sample().lines(width: width).map(\.plainText)
        for line in lines { #expect(TextWidth.of(line) <= width, "\(line)") }
        #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
        let text = lines.joined(separator: "\n")
        for word in ["a1", "b22", "4.1", "900", "GB", "family", "note", "quite", "time", "second", "tab", "short"] {
            #expect(text.contains(word), "\(word) at \(width)")
        }
        #expect(!text.contains("…"))
        #expect("漢字の名前がとても長い模型".allSatisfy { text.contains($0) })
    }

    @Test("Cells that are too wide take several lines, and values to copy stay whole")
    func wrapped() {
        let lines = Self.sample().lines(width: 50).map(\.plainText)
        #expect(lines[1].hasPrefix("a1   漢"))
        #expect(lines.count > 5 && lines.contains { $0.contains("900 MB") })
    }

    @Test("A table that is far too wide becomes records")
    func records() {
        var table = Table([TableColumn("CHECK"), TableColumn("STATE"), TableColumn("WHAT", mayWrap: true)])
        table.append(["host.settings", "failed", "config.json:3:3: no such setting"])
        table.append(["host.files", "ok", ""])
        #expect(
            table.lines(width: 30).map(\.plainText) == [
                "CHECK  host.settings", "STATE  failed", "WHAT   config.json:3:3: no", "       such setting", "",
                "CHECK  host.files", "STATE  ok",
            ])
    }

    @Test("Without a width nothing is truncated, and cells stay on one line")
    func untruncated() {
        let text = Self.sample().lines(width: nil).map(\.plainText).joined(separator: "\n")
        #expect(!text.contains("…"))
        #expect(text.contains("a name with a second line and a tab in it"))
        #expect(text.split(separator: "\n").count == 4)
    }

    @Test("The titles have the header style, or are left out")
    func header() {
        var table = Table([TableColumn("A")], headerStyle: Style(bold: true))
        table.append(["1"])
        #expect(table.lines(width: 80).map { $0.rendered(level: .ansi16) } == ["\u{1B}[1mA\u{1B}[0m", "1"])
        table.showsHeader = false
        #expect(table.lines(width: 80).map(\.plainText) == ["1"])
    }

    @Test("A table without rows or columns draws the rest")
    func empty() {
        #expect(Table([]).lines(width: 80).map(\.plainText) == [""])
        #expect(Table([TableColumn("A"), TableColumn("B")]).lines(width: 80).map(\.plainText) == ["A  B"])
    }
}

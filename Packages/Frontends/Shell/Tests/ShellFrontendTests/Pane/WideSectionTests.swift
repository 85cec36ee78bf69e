import Capabilities
import JSON
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct WideSectionTests {
    private let digits = String((0..<60).map { Character(String($0 % 10)) })

    private func log(_ lines: [String]) -> Block { .log(Feed(lines.map { Log.Line($0) })) }
    private func right(_ screen: inout PaneScreen) -> Bool { screen.act { $0.scrollSideways(forward: true) } }
    private func left(_ screen: inout PaneScreen) -> Bool { screen.act { $0.scrollSideways(forward: false) } }

    @Test("The lines of a log are read by half the width to their end, and back to their beginning")
    func log() {
        var screen = PaneScreen(columns: 20, rows: 3, log([digits, "short"]))
        #expect(screen.rows == ["0123456789012345678…", "short", ""] && screen.pane.isCut)
        #expect(right(&screen) && screen.rows == ["…123456789012345678…", "…", ""])
        for _ in 0..<3 { #expect(right(&screen)) }
        #expect(screen.rows[0] == "…1234567890123456789" && !screen.pane.isCut)
        #expect(!right(&screen), "this is the end")
        for _ in 0..<4 { #expect(left(&screen)) }
        #expect(screen.rows == ["0123456789012345678…", "short", ""] && !left(&screen))
    }

    @Test("How far a log was moved stays while it grows, and its end is followed on")
    func growing() {
        let feed = Feed([Log.Line(digits)])
        var screen = PaneScreen(columns: 20, rows: 3, .log(feed))
        #expect(right(&screen) && screen.pane.follows)
        feed.append([Log.Line(digits), Log.Line("x" + digits), Log.Line("yy" + digits)])
        screen.show(.log(feed))
        #expect(screen.rows == ["…123456789012345678…", "…012345678901234567…", "…901234567890123456…"])
        #expect(screen.pane.follows)
    }

    @Test("Wide characters are never cut in half")
    func wide() {
        var screen = PaneScreen(columns: 12, rows: 2, log([String(repeating: "漢字", count: 8), "a👨‍👩‍👧‍👦" + digits]))
        #expect(screen.rows[0] == "漢字漢字漢 …")
        #expect(right(&screen) && screen.rows[0] == "… 漢字漢字 …")
        #expect(screen.rows.allSatisfy { TextWidth.of($0) <= 12 })
    }

    @Test("Code and changes are read line by line, and paragraphs beside them stay")
    func code() {
        let code = Block(.code(Code("if a {\n\t\(digits)\n}\n")), id: "code")
        let diff = Block(.diff(Diff("+ \(digits)\n- b")), id: "diff")
        let text = Block(.text(RichText("words that are wrapped into lines")), id: "text")
        var screen = PaneScreen(columns: 20, rows: 12, .stack([text, code, diff]))
        #expect(
            screen.rows[3..<6] == ["if a {", "    012345678901234…", "}"] && screen.rows[8] == "+ 01234567890123456…")
        let paragraph = screen.rows[0..<2]
        #expect(right(&screen) && screen.rows[4] == "…789012345678901234…" && screen.rows[0..<2] == paragraph)
        #expect(screen.rows[8] == "+ 01234567890123456…", "only the first that can be moved is")
        while screen.rows[8].hasPrefix("+") { #expect(right(&screen)) }
        #expect(screen.rows[8] == "…901234567890123456…")
        #expect(PaneScreen(columns: 20, .lines(2)).pane.isCut == false)
    }

    @Test("The nodes of a tree are read sideways, those below others too, and folding keeps the place")
    func tree() {
        let inner = Tree.Node("inner", RichText(digits), state: "failed")
        let tree = Tree([Tree.Node("top", "top", [inner]), Tree.Node("wide", RichText("a\nb 漢字\(digits)"))])
        var screen = PaneScreen(columns: 20, rows: 3, Block(.tree(tree), id: "tree"))
        let before = screen.rows
        #expect(before[0] == "▾ top" && before[1].hasSuffix("…") && before[1].hasPrefix("    ") && screen.pane.isCut)
        for _ in 0..<20 where right(&screen) {}
        #expect(screen.rows[0] == "…" && screen.rows[1].hasPrefix("…") && screen.rows[1].hasSuffix("  failed"))
        #expect(!screen.pane.isCut && !right(&screen))
        let moved = screen.rows
        screen.act { $0.goToStart() }
        #expect(screen.act { $0.toggle() } && screen.act { $0.toggle() } && screen.rows == moved)
        for _ in 0..<20 where left(&screen) {}
        #expect(screen.rows == before && !left(&screen))
        #expect(screen.act { $0.find("89  failed") } && screen.marked == ["89  failed"])
    }

    @Test("The steps of a timeline are read sideways, and their notes are found beyond the edge")
    func timeline() {
        func timeline(_ note: String) -> Block {
            let steps = [
                Timeline.Step("a", "build", state: "ok", exitCode: 0, note: "\(digits) needle"),
                Timeline.Step("b", "test", state: "running", note: note),
            ]
            return Block(.timeline(Timeline(steps)), id: "line")
        }
        var screen = PaneScreen(columns: 20, rows: 2, timeline("short"))
        let before = screen.rows
        #expect(before[0].hasSuffix("…") && screen.pane.isCut)
        for _ in 0..<20 where right(&screen) {}
        #expect(screen.rows[0].hasSuffix("needle") && screen.rows[1] == "…" && !right(&screen))
        let moved = screen.rows[0]
        screen.show(timeline("another"))
        #expect(screen.rows[0] == moved, "another value stays where it was read")
        for _ in 0..<20 where left(&screen) {}
        #expect(screen.rows[0] == before[0])
        #expect(screen.act { $0.find("needle") } && screen.marked == ["needle"])
    }

    private func table(_ rows: Int = 2) -> Block {
        let columns = [
            Schema.Property("name", "", .string, role: .name), Schema.Property("note", "", .string),
            Schema.Property("size", "", .integer(nil)), Schema.Property("other", "", .string),
        ]
        let rows = (0..<rows).map { number -> JSONObject in
            [
                "name": .string("row \(number)"), "note": .string("a note of thirty-five columns, \(number)"),
                "size": .int(number), "other": .string("the other column \(number)"),
            ]
        }
        return Block(.table(Screens.Table(columns, .all(rows), id: ["name"])), id: "table")
    }

    @Test("A table whose columns are cut shows all of them from the first step on, with their titles")
    func tables() {
        var screen = PaneScreen(columns: 40, rows: 3, table())
        let fitted = screen.rows
        #expect(fitted[0].contains("NOTE") && !fitted[1].contains("columns, 0") && screen.pane.isCut)
        #expect(right(&screen))
        #expect(
            screen.rows[1].hasPrefix("row 0  a note of thirty-five columns, 0") && screen.rows[0].hasPrefix("NAME "))
        #expect(right(&screen) && right(&screen))
        #expect(screen.rows[0].hasSuffix("OTHER") && screen.rows[1].hasSuffix("the other column 0"))
        #expect(screen.rows[1].hasPrefix("…") && !screen.pane.isCut && !right(&screen))
        screen.down()
        #expect(screen.selected?.hasSuffix("the other column 1") == true)
        for _ in 0..<3 { #expect(left(&screen)) }
        #expect(screen.rows == fitted && !left(&screen))
        var small = PaneScreen(.table(["a", "b"]))
        #expect(!right(&small) && !small.pane.isCut)
    }

    @Test("The name of a row keeps a third of the room, and is cut as much as other texts where there is little")
    func names() {
        let columns = [
            Schema.Property("key", "", .string, role: .name), Schema.Property("value", "", .string),
            Schema.Property("meaning", "", .string),
        ]
        let row: JSONObject = [
            "key": "auth.certificate-key", "value": "a value of thirty-one characters",
            "meaning": "what it means, in more words than fit",
        ]
        let block = Block(.table(Screens.Table(columns, .all([row]), id: ["key"])), id: "table")
        let row60 = PaneScreen(columns: 60, rows: 2, block).rows[1]
        #expect(row60.hasPrefix("auth.certificate-…  a value of") && row60.hasSuffix("…"), "\(row60)")
        let row30 = PaneScreen(columns: 30, rows: 2, block).rows[1]
        #expect(row30.hasPrefix("auth.c") && row30.contains("…  a value") && row30.hasSuffix("…"), "\(row30)")
    }

    @Test("The block of the selected row is moved, and another that is seen if that one cannot be")
    func several() {
        var screen = PaneScreen(columns: 40, rows: 12, .stack([.table(["a", "b"]), table()]))
        #expect(right(&screen) && screen.rows[5].contains("thirty-five columns, 0"))
        var both = PaneScreen(columns: 40, rows: 12, .stack([log([digits]), table()]))
        both.act { $0.goToStart() }
        both.down()
        #expect(both.selected?.hasPrefix("row 0") == true && right(&both))
        #expect(both.rows[0].hasPrefix("0123") && both.rows[3].contains("thirty-five columns, 0"))
    }

    @Test("A text that is found beyond the edge is brought into view, whole and marked")
    func search() {
        let lines = (0..<9).map { "line \($0) " + digits + digits + ($0 == 7 ? "needle" : "") + digits }
        var screen = PaneScreen(columns: 20, rows: 4, log(lines))
        screen.act { $0.goToStart() }
        #expect(screen.act { $0.find("needle") } && screen.marked == ["needle"])
        #expect(
            screen.act { $0.find("line 3") } && screen.selected == "line 3 012345678901…" && screen.marked == ["line 3"]
        )
        let code = Block(.code(Code(lines.joined(separator: "\n"))))
        var other = PaneScreen(columns: 20, rows: 4, code)
        #expect(other.act { $0.find("needle") } && other.marked == ["needle"])
        for columns in 8...60 {
            var any = PaneScreen(columns: columns, rows: 4, log(lines))
            #expect(any.act { $0.find("needle") } && any.marked == ["needle"], "\(columns)")
        }
    }

    @Test("A text that is wider than the pane is seen from its beginning")
    func longSearch() {
        var screen = PaneScreen(columns: 12, rows: 2, log(["abc" + digits + digits]))
        let wanted = String(digits.dropFirst(5).prefix(30))
        #expect(screen.act { $0.find(wanted) } && screen.rows[0].contains(wanted.prefix(4)))
    }

    @Test("A table finds what a cell leaves out")
    func tableSearch() {
        var screen = PaneScreen(columns: 40, rows: 3, table(9))
        #expect(screen.act { $0.find("column 4") } && screen.marked == ["column 4"])
        #expect(screen.act { $0.find("row 8") } && screen.marked == ["row 8"])
    }

    @Test("Where lines are printed nothing of them is cut")
    func printed() {
        var pane = Pane()
        let code = Block(.code(Code(digits)), id: "code")
        pane.show(.stack([log([digits]), code]), columns: 20, PaneLook(level: .none, now: Timestamp(microseconds: 0)))
        #expect(pane.allItems().flatMap { $0.rows.map(\.plainText) } == [digits, "", digits])
    }

    @Test("Of a million lines only those that are seen are cut", .timeLimit(.minutes(1)))
    func million() {
        let feed = Feed<Log.Line>(mostEntries: 1_000_000, mostBytes: 1 << 30)
        for start in stride(from: 0, to: 1_000_000, by: 10_000) {
            feed.append((start..<start + 10_000).map { Log.Line("line \($0) with some words beyond the edge") })
        }
        var screen = PaneScreen(columns: 20, rows: 20, .log(feed))
        // To cut all of them even once would take longer than the test may.
        for number in 0..<200 {
            screen.act { _ = $0.scrollSideways(forward: number % 2 == 0) }
            screen.act { $0.page(down: false) }
            screen.show(.log(feed))
        }
        #expect(screen.rows.allSatisfy { $0.hasPrefix("line ") && $0.hasSuffix("…") })
    }
}

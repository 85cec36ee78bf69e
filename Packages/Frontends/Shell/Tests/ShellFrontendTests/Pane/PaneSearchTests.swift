import Capabilities
import JSON
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct PaneSearchTests {
    private let fruits = Block.table(["apple", "banana", "cherry", "Apple pie", "date", "elder", "fig", "apple tart"])

    @Test("A search finds rows that are not seen, in any case, and goes round at the end")
    func forwards() {
        var screen = PaneScreen(rows: 3, fruits)
        #expect(screen.act { $0.find("aPPle") } && screen.selected == "apple")
        #expect(screen.act { $0.find(next: true) } && screen.selected == "Apple pie")
        #expect(screen.act { $0.find(next: true) } && screen.selected == "apple tart")
        #expect(screen.act { $0.find(next: true) } && screen.selected == "apple")
    }

    @Test("A search backwards goes round at the beginning")
    func backwards() {
        var screen = PaneScreen(rows: 3, fruits)
        screen.act { _ = $0.find("apple") }
        #expect(screen.act { $0.find(next: false) } && screen.selected == "apple tart")
        #expect(screen.act { $0.find(next: false) } && screen.selected == "Apple pie")
        #expect(screen.act { $0.find(next: false) } && screen.selected == "apple")
    }

    @Test("What is nowhere is not found, and moves nothing")
    func nowhere() {
        var screen = PaneScreen(rows: 3, fruits)
        screen.down(2)
        let rows = screen.rows
        #expect(!screen.act { $0.find("kiwi") } && screen.rows == rows && screen.selected == "cherry")
        #expect(screen.act { $0.find("") } && screen.pane.search.isEmpty)
        #expect(!screen.act { $0.find(next: true) })
    }

    @Test("The only place is found again and again")
    func only() {
        var screen = PaneScreen(rows: 3, fruits)
        #expect(screen.act { $0.find("cherry") } && screen.act { $0.find(next: true) })
        #expect(screen.selected == "cherry" && screen.act { $0.find(next: false) } && screen.selected == "cherry")
    }

    @Test("Every place in the rows that are seen is marked, and nothing after the search is left")
    func marks() {
        var screen = PaneScreen(rows: 9, fruits)
        screen.act { _ = $0.find("apple") }
        #expect(screen.marked == ["apple", "Apple", "apple"])
        screen.act { _ = $0.find("") }
        #expect(screen.marked.isEmpty)
    }

    @Test("Marks are at their columns beside wide characters and letters that grow in lower case")
    func columns() {
        var screen = PaneScreen(.table(["漢字 find İİ find", "FIND ß"]))
        screen.act { _ = $0.find("find") }
        #expect(screen.marked == ["findfind", "FIND"])
        screen.act { _ = $0.find("ß") }
        #expect(screen.marked == ["ß"])
    }

    @Test("The hidden end of a cell is found and brought into view")
    func truncated() {
        var screen = PaneScreen(columns: 20, .table(["short", String(repeating: "x", count: 60) + "needle"]))
        #expect(screen.act { $0.find("needle") } && screen.selected?.hasPrefix("…xxx") == true)
        #expect(screen.marked == ["needle"])
    }

    @Test("In folded output a text is found and opened, at the row where it is")
    func foldedEntry() {
        let output = (0..<200).map { "out \($0)" }.joined(separator: "\n")
        var screen = PaneScreen(.transcript(Feed([said("a"), said("tool", .tool, output), said("b")])))
        #expect(screen.act { $0.find("out 150") } && screen.rows.contains("out 150") && screen.selected == "out 150")
        #expect(!screen.pane.follows)
        #expect(screen.act { $0.find("out 15") } && screen.selected == "out 150")
        #expect(screen.act { $0.find(next: false) } && screen.selected == "out 15")
        #expect(screen.act { $0.find(next: true) } && screen.selected == "out 150")
        screen.act { _ = $0.find(next: false) }
        #expect(screen.act { $0.find(next: false) } && screen.selected == "out 159")
    }

    @Test("Words are found across the end of a row, and between the marks of Markdown")
    func wrapped() {
        let text = (0..<30).map { "word\($0)" }.joined(separator: " ") + " **very** important"
        let feed = Feed([said("a"), said("b", .model, text), said("c")])
        var screen = PaneScreen(columns: 22, rows: 4, .transcript(feed))
        for number in 0..<29 {
            #expect(screen.act { $0.find("word\(number) word\(number + 1)") }, "\(number)")
            #expect(screen.selected?.contains("word\(number)") == true, "\(number): \(screen.rows)")
        }
        #expect(screen.act { $0.find("very important") })
        var paragraph = PaneScreen(columns: 22, rows: 4, Block(.text(RichText(text))))
        #expect(paragraph.act { $0.find("word20 word21") } && paragraph.rows.contains { $0.contains("word20") })
    }

    @Test("A node that is folded away is found and its parents are opened")
    func foldedNode() {
        let inner = Tree.Node("inner", "inner", [Tree.Node("needle", "a needle")])
        let block = Block(.tree(Tree([Tree.Node("top", "top", [inner]), Tree.Node("last", "last needle")])))
        func folded() -> PaneScreen {
            var screen = PaneScreen(block)
            screen.down()
            screen.act { _ = $0.toggle() }
            screen.up()
            screen.act { _ = $0.toggle() }
            return screen
        }
        var screen = folded()
        #expect(screen.rows.prefix(3) == ["▸ top", "  last needle", ""])
        #expect(screen.act { $0.find("needle") } && screen.selected == "      a needle")
        #expect(screen.act { $0.find(next: true) } && screen.selected == "  last needle")
        var other = folded()
        other.down()
        other.act { _ = $0.find("needle") }
        #expect(other.selected == "  last needle" && other.rows[0] == "▸ top")
        #expect(other.act { $0.find(next: false) } && other.selected == "      a needle")
    }

    @Test("A text in a block that is folded away is found and the block is opened")
    func foldedBlock() {
        let log = Block(.log(Log(logFeed(100))))
        let inner = Block(.collapsible(Collapsible(log)), id: "inner", title: "Inner")
        let outer = Block(.collapsible(Collapsible(inner)), id: "outer", title: "Outer")
        var screen = PaneScreen(.stack([outer, .table(["line 7 of a table"])]))
        #expect(screen.act { $0.find("line 77") } && screen.selected == "line 77")
        var back = PaneScreen(.stack([outer, .table(["line 7 of a table"])]))
        back.act { $0.goToEnd() }
        #expect(back.act { $0.find("line 9") } && back.selected == "line 9")
        #expect(back.act { $0.find(next: false) } && back.selected == "line 99", "round the beginning")
    }

    @Test("A log is searched as far as it goes, in both directions")
    func log() {
        let feed = logFeed(5_000)
        var screen = PaneScreen(.log(feed))
        screen.act { $0.goToStart() }
        #expect(screen.act { $0.find("line 4321") } && screen.selected == "line 4321")
        #expect(screen.act { $0.find("line 1234") } && screen.selected == "line 1234")
        screen.act { $0.goToStart() }
        screen.act { _ = $0.find("line 432") }
        #expect(screen.selected == "line 432" && screen.act { $0.find(next: false) } && screen.selected == "line 4329")
        #expect(!screen.act { $0.find("line 5000") })
    }

    @Test("In a log of which lines were dropped the right line is found")
    func droppedLog() {
        var screen = PaneScreen(.log(logFeed(500, mostEntries: 100)))
        #expect(screen.act { $0.find("line 450") } && screen.selected == "line 450")
        #expect(screen.act { $0.find("not kept") } && screen.rows[0] == "400 older lines are not kept.")
        #expect(screen.act { $0.find("line 4") } && screen.selected == "line 400")
        #expect(screen.act { $0.find(next: false) } && screen.selected == "line 499")
    }

    @Test("Found text that cannot be selected is seen")
    func text() {
        var screen = PaneScreen(.lines(100))
        #expect(screen.act { $0.find("line 50") } && screen.rows.contains("line 50"))
        #expect(screen.act { $0.find("line 9") } && screen.rows.contains("line 90"))
        #expect(screen.act { $0.find(next: false) } && screen.rows.contains("line 9"))
        #expect(screen.act { $0.find(next: true) } && screen.rows.contains("line 90"))
        screen.show(.lines(100))
        #expect(screen.rows.contains("line 90"))
    }

    @Test("A search while a conversation grows leaves its end")
    func growing() {
        let feed = Feed((0..<50).map { said("e\($0)") })
        var screen = PaneScreen(.transcript(feed))
        #expect(screen.act { $0.find("e10") } && !screen.pane.follows)
        let rows = screen.rows
        feed.append(said("new"))
        screen.show(.transcript(feed))
        #expect(screen.rows == rows && screen.pane.news == 1)
    }
}

@Suite struct PaneSearchStepTests {
    private let look = PaneLook(level: .none, now: Timestamp(microseconds: 0))

    private func window(_ block: Block) -> PaneWindow {
        var window = PaneWindow()
        window.show(PaneParts(block, columns: 40, look), drawn: [])
        window.rows = 5
        return window
    }

    @Test("A search says which row has the text, and changes nothing in the window")
    func found() {
        var window = window(.lines(9))
        let search = PaneSearch("line 7")
        guard case .found(let item, 0)? = search.next(from: nil, forward: true, fromHere: true, in: &window) else {
            Issue.record("it is not found")
            return
        }
        #expect(item.item == 7 && window.isAtStart)
        #expect(PaneSearch("nothing").next(from: nil, forward: true, fromHere: true, in: &window) == nil)
        #expect(PaneSearch("").next(from: nil, forward: true, fromHere: true, in: &window) == nil)
        var empty = PaneWindow()
        #expect(search.next(from: nil, forward: true, fromHere: true, in: &empty) == nil)
    }

    @Test("A search asks for what is folded to be opened, and gives up if the text is gone then")
    func folded() {
        let output = (0..<20).map { "out \($0)" }.joined(separator: "\n")
        var window = window(.transcript(Feed([said("a"), said("tool", .tool, output)])))
        let search = PaneSearch("out 15")
        guard case .folded(let folded)? = search.next(from: nil, forward: true, fromHere: true, in: &window) else {
            Issue.record("it is not folded")
            return
        }
        #expect(folded.item.item == 1)
        guard case .found(_, 0)? = search.next(after: folded, forward: true, in: &window) else {
            Issue.record("it goes to the head of what was not opened")
            return
        }
        let node = Block(.collapsible(Collapsible(.lines(9))), id: "more", title: "More")
        var other = self.window(node)
        guard case .folded(let block)? = PaneSearch("line 8").next(from: nil, forward: true, fromHere: true, in: &other)
        else {
            Issue.record("it is not folded")
            return
        }
        #expect(PaneSearch("line 8").next(after: block, forward: true, in: &other) == nil)
    }
}

@Suite struct SearchTextTests {
    @Test(
        "A text is found in any case",
        arguments: [
            ("b", "abc", true), ("BC", "abc", true), ("abcd", "abc", false), ("straße", "STRASSE", false),
            ("ÄÖ", "xäö", true), ("aab", "aaab", true), ("c", "", false), ("日本", "これは日本語", true), ("@", "`", false),
            ("[", "{", false),
        ])
    func cases(wanted: String, text: String, isIn: Bool) {
        #expect(SearchText(wanted).isIn(text) == isIn)
        #expect(SearchText(wanted).ranges(in: text).isEmpty != isIn)
    }

    @Test("Places do not overlap")
    func ranges() {
        #expect(SearchText("aa").ranges(in: "aaaaa").count == 2)
        #expect(SearchText("ää").ranges(in: "äÄäÄä").count == 2)
        #expect(SearchText("").ranges(in: "abc").isEmpty)
    }
}

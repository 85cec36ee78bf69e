import Screens
import Testing

@testable import ShellFrontend

@Suite struct FoldingTests {
    private let output = (0..<9).map { "out \($0)" }.joined(separator: "\n")

    @Test("The output of a tool is folded at first, and opened by its id")
    func tool() {
        let feed = Feed([said("before"), said("tool", .tool, output)])
        var screen = PaneScreen(rows: 20, .transcript(feed))
        #expect(screen.rows[3..<8] == ["tool", "out 0", "out 1", "▸ 7 more lines", ""])
        #expect(screen.act { $0.toggle() })
        #expect(screen.rows[3..<6] == ["tool", "out 0", "out 1"] && screen.rows.contains("out 8"))
        feed.append(said("after"))
        screen.show(.transcript(feed))
        #expect(screen.rows.contains("out 8") && screen.rows.contains("after"))
        #expect(screen.act { $0.toggle() } && screen.rows.contains("▸ 7 more lines"))
    }

    @Test("Another feed with the same entries keeps what is open")
    func otherFeed() {
        let feed = Feed([said("tool", .tool, output)])
        var screen = PaneScreen(rows: 20, .transcript(feed))
        screen.act { _ = $0.toggle() }
        screen.show(.transcript(Feed([said("older"), said("tool", .tool, output)])))
        #expect(screen.rows.contains("out 8") && screen.pane.cursor?.id == "tool")
    }

    @Test("A short entry cannot be folded, and a tool that grows is folded once it is long")
    func short() {
        let feed = Feed([said("tool", .tool, "one", isOpen: true)])
        var screen = PaneScreen(rows: 20, .transcript(feed))
        #expect(!screen.act { $0.toggle() })
        feed.replaceLast(with: said("tool", .tool, output, isOpen: true))
        screen.show(.transcript(feed))
        #expect(screen.rows[3] == "▸ 7 more lines")
    }

    @Test("A folded node stays folded when others come and its own children change")
    func tree() {
        func tree(_ names: [String], _ children: [String]) -> Block {
            let nodes = names.map { Tree.Node($0, RichText($0), children.map { Tree.Node($0, RichText($0)) }) }
            return Block(.tree(Tree(nodes)))
        }
        var screen = PaneScreen(rows: 8, tree(["a"], ["x", "y"]))
        #expect(screen.rows.prefix(3) == ["▾ a", "    x", "    y"])
        #expect(screen.act { $0.toggle() } && screen.rows.prefix(2) == ["▸ a", ""])
        screen.show(tree(["new", "a"], ["z"]))
        #expect(screen.rows.prefix(3) == ["▾ new", "    z", "▸ a"] && screen.selected == "▸ a")
        #expect(screen.act { $0.toggle() } && screen.rows[3] == "    z")
    }

    @Test("A leaf and a row of a table cannot be folded")
    func leaf() {
        var screen = PaneScreen(Block(.tree(Tree([Tree.Node("a", "a")]))))
        #expect(!screen.act { $0.toggle() })
        screen.show(.table(["a"]))
        #expect(!screen.act { $0.toggle() })
    }

    @Test("A collapsible block is opened and folded at its title, and stays so from value to value")
    func collapsible() {
        func value(_ text: String) -> Block {
            .stack([
                Block(.collapsible(Collapsible(.lines(1, text))), id: "fold", title: "More"), .table(["row"]),
            ])
        }
        var screen = PaneScreen(value("inner"))
        #expect(screen.rows.prefix(4) == ["▸ More", "", "NAME", "row"] && screen.selected == "▸ More")
        #expect(screen.act { $0.toggle() } && screen.rows.prefix(3) == ["▾ More", "", "inner 0"])
        screen.show(value("other"))
        #expect(screen.rows.prefix(3) == ["▾ More", "", "other 0"] && screen.selected == "▾ More")
        #expect(screen.act { $0.toggle() } && !screen.rows.contains("other 0"))
    }

    @Test("Tabs show one block at a time, and the chosen one stays")
    func tabs() {
        func value(_ ids: [String]) -> Block {
            Block(.tabs(Tabs(ids.map { Block(.text(RichText("text of \($0)")), id: $0, title: $0.uppercased()) })))
        }
        var screen = PaneScreen(value(["a", "b", "c"]))
        #expect(screen.rows.prefix(3) == ["[A] B  C", "", "text of a"])
        #expect(screen.act { $0.turn(forward: true) } && screen.rows.prefix(3) == [" A [B] C", "", "text of b"])
        screen.show(value(["x", "a", "b"]))
        #expect(screen.rows.prefix(3) == [" X  A [B]", "", "text of b"])
        #expect(screen.act { $0.turn(forward: true) } && screen.rows[0].hasPrefix("[X]"))
        #expect(screen.act { $0.turn(forward: false) } && screen.rows[0].hasSuffix("[B]"))
        screen.show(value(["a", "c"]))
        #expect(screen.rows[2] == "text of a")
        screen.show(.table(["row"]))
        #expect(!screen.act { $0.turn(forward: true) })
    }

    @Test("The chosen tab is seen even if not all titles fit")
    func manyTabs() {
        let blocks = (0..<30).map { Block(.text(RichText("text \($0)")), id: "t\($0)", title: "Title \($0)") }
        var screen = PaneScreen(Block(.tabs(Tabs(blocks))))
        for _ in 0..<20 { screen.act { _ = $0.turn(forward: true) } }
        #expect(screen.rows[0].contains("[Title 20]") && screen.rows[2] == "text 20")
    }

    @Test("Turning to a tab that grows keeps the tabs selected")
    func growingTab() {
        let blocks = [
            Block(.text("text"), id: "a", title: "A"), Block(.log(Log(logFeed(50))), id: "b", title: "B"),
        ]
        var screen = PaneScreen(Block(.tabs(Tabs(blocks))))
        #expect(screen.act { $0.turn(forward: true) } && screen.selected == " A [B]")
        #expect(screen.act { $0.turn(forward: true) } && screen.selected == "[A] B")
    }
}

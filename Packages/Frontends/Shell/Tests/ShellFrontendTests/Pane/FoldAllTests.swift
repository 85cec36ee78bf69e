import Screens
import Testing

@testable import ShellFrontend

@Suite struct FoldAllTests {
    private func thought(_ id: String, isOpen: Bool = false) -> Transcript.Entry {
        said(id, .thought, (0..<6).map { "\(id) \($0)" }.joined(separator: "\n"), isOpen: isOpen)
    }

    private func tool(_ id: String) -> Transcript.Entry {
        said(id, .tool, (0..<6).map { "\(id) \($0)" }.joined(separator: "\n"))
    }

    @discardableResult
    private func toggleAll(_ screen: inout PaneScreen) -> Bool? { screen.act { $0.toggleAll()?.isFolded } }

    @Test("All thoughts are opened and folded at once, also those that come later, and tools stay")
    func thoughts() {
        let feed = Feed([thought("a"), said("m", .model), tool("t"), thought("b"), said("n", .notice)])
        var screen = PaneScreen(rows: 60, .transcript(feed))
        screen.act { $0.goToStart() }
        screen.down()
        #expect(screen.selected == "m")
        #expect(toggleAll(&screen) == false)
        #expect(screen.rows.contains("a 5") && screen.rows.contains("b 5") && !screen.rows.contains("t 5"))
        #expect(screen.selected == "m")
        feed.append(thought("c"))
        screen.show(.transcript(feed))
        #expect(screen.rows.contains("c 5"))
        #expect(toggleAll(&screen) == true)
        #expect(!screen.rows.contains("a 5") && !screen.rows.contains("b 5") && !screen.rows.contains("c 5"))
        feed.append(thought("d", isOpen: true))
        screen.show(.transcript(feed))
        #expect(screen.rows.contains("d 1") && !screen.rows.contains("d 5"))
    }

    @Test("One thought is folded by hand after all were opened, and all are opened again from there")
    func single() {
        let feed = Feed([thought("a"), thought("b"), thought("c")])
        var screen = PaneScreen(rows: 60, .transcript(feed))
        screen.act { $0.goToStart() }
        screen.act { _ = $0.toggle() }
        #expect(screen.rows.contains("a 5") && !screen.rows.contains("b 5"))
        #expect(toggleAll(&screen) == true, "the selected one is open, so all are folded")
        #expect(!screen.rows.contains("a 5") && !screen.rows.contains("b 5"))
        #expect(toggleAll(&screen) == false)
        screen.down()
        #expect(screen.act { $0.toggle() } && screen.selected == "b")
        #expect(screen.rows.contains("a 5") && !screen.rows.contains("b 5") && screen.rows.contains("c 5"))
        #expect(toggleAll(&screen) == false, "the selected one is folded, so all are opened")
        #expect(["a 5", "b 5", "c 5"].allSatisfy(screen.rows.contains))
        screen.show(.transcript(Feed([thought("x"), thought("b")])))
        #expect(screen.rows.contains("x 5"), "another feed at the same place")
    }

    @Test("On the output of a tool all outputs are opened, and thoughts stay")
    func tools() {
        let feed = Feed([tool("s"), thought("a"), tool("t"), said("m", .model)])
        var screen = PaneScreen(rows: 60, .transcript(feed))
        screen.act { $0.goToStart() }
        #expect(toggleAll(&screen) == false)
        #expect(screen.rows.contains("s 5") && screen.rows.contains("t 5") && !screen.rows.contains("a 5"))
    }

    @Test("An end that is followed is followed on, and what is written there decides nothing")
    func following() {
        let feed = Feed((0..<20).map { thought("t\($0)") } + [tool("tool")])
        var screen = PaneScreen(rows: 12, .transcript(feed))
        #expect(screen.pane.follows)
        #expect(toggleAll(&screen) == false)
        #expect(screen.pane.follows && screen.rows.contains("t19 5") && screen.rows.contains("▸ 4 more lines"))
        feed.append(thought("new", isOpen: true))
        screen.show(.transcript(feed))
        #expect(screen.pane.follows && screen.rows.contains("new 5"))
    }

    @Test("All nodes of a tree are folded, those that come later too, and the cursor goes to the node above")
    func tree() {
        func tree(_ names: [String]) -> Block {
            let leaf = { (name: String) in Tree.Node("\(name)-leaf", RichText("leaf of \(name)")) }
            return Block(
                .tree(Tree(names.map { Tree.Node($0, RichText($0), [Tree.Node("\($0)-in", "in", [leaf($0)])]) })))
        }
        var screen = PaneScreen(rows: 12, tree(["a", "b"]))
        screen.down(5)
        #expect(screen.selected == "      leaf of b")
        #expect(toggleAll(&screen) == true)
        #expect(screen.rows.prefix(3) == ["▸ a", "▸ b", ""] && screen.selected == "▸ b")
        screen.show(tree(["a", "b", "c"]))
        #expect(screen.rows[2] == "▸ c")
        #expect(screen.act { $0.toggle() } && screen.rows.prefix(4) == ["▸ a", "▾ b", "  ▸ in", "▸ c"])
        #expect(toggleAll(&screen) == true && screen.rows.prefix(3) == ["▸ a", "▸ b", "▸ c"])
        #expect(toggleAll(&screen) == false && screen.rows.contains("      leaf of c"))
    }

    @Test("All blocks with titles are opened from the title of one, and folded also inside each other")
    func blocks() {
        func block(_ id: String, _ inner: Block) -> Block {
            Block(.collapsible(Collapsible(inner)), id: id, title: id.uppercased())
        }
        let value = Block.stack([block("a", block("in", .lines(1, "inner"))), block("b", .lines(1, "other"))])
        var screen = PaneScreen(rows: 12, value)
        #expect(toggleAll(&screen) == false)
        #expect(screen.rows.contains("inner 0") && screen.rows.contains("other 0") && screen.selected == "▾ A")
        screen.down()
        #expect(screen.selected == "▾ IN" && toggleAll(&screen) == true)
        #expect(screen.rows.prefix(3) == ["▸ A", "", "▸ B"] && screen.selected == "▸ A")
        screen.act { _ = $0.toggle() }
        #expect(screen.rows.prefix(3) == ["▾ A", "", "▸ IN"])
    }

    @Test("Where nothing folds nothing is done")
    func nothing() {
        var screen = PaneScreen(.stack([.table(["a"]), .lines(3)]))
        #expect(toggleAll(&screen) == nil)
        var empty = Pane()
        #expect(empty.toggleAll() == nil)
    }
}

import Capabilities
import CoreTesting
import JSON
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct PaneFuzzTests {
    @Test(
        "Random values, sizes and keys never crash, and the cursor is on an item that exists", arguments: UInt64(1)...60
    )
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var blocks = RandomBlocks(seed: seed)
        var pane = Pane()
        var block = blocks.block(depth: 3)
        let sizes = [(0, 0), (1, 1), (2, 1), (10, 3), (40, 12), (80, 24), (130, 40)]
        var (columns, rows) = (40, 12)
        pane.show(block, columns: columns, look(0))
        for step in 0..<150 {
            switch Int.random(in: 0..<18, using: &random) {
            case 0: block = blocks.block(depth: 3)
            case 1: (columns, rows) = sizes.randomElement(using: &random) ?? (40, 12)
            case 2: blocks.grow()
            case 3: pane.page(down: Bool.random(using: &random))
            case 4: pane.scroll(by: Int.random(in: -30...30, using: &random))
            case 5: Bool.random(using: &random) ? pane.goToEnd() : pane.goToStart()
            case 6: _ = pane.toggle()
            case 7: _ = pane.turn(forward: Bool.random(using: &random))
            case 8: _ = pane.find(["a", "1", "line", "zz", "", "漢"].randomElement(using: &random) ?? "")
            case 9: _ = pane.find(next: Bool.random(using: &random))
            case 10: _ = pane.select(row: Int.random(in: -1..<40, using: &random))
            case 11: pane.layOut(columns: columns, look(Int64(step) * 700_000))
            case 12: pane.follow()
            case 13: _ = pane.toggleAll()
            case 14: _ = pane.scrollSideways(forward: Int.random(in: 0..<3, using: &random) > 0)
            default: pane.move(down: Bool.random(using: &random))
            }
            if step % 3 == 0 { pane.show(block, columns: columns, look(Int64(step) * 300_000)) }
            var cells = CellBuffer(columns: columns, rows: rows)
            let caret = pane.draw(on: &cells, cells.area, isFocused: true)
            if let caret { #expect(cells.area.contains(caret), "seed \(seed), step \(step)") }
            if step % 10 == 0 { check(pane, "seed \(seed), step \(step)") }
        }
    }

    private func look(_ time: Int64) -> PaneLook { PaneLook(level: .ansi256, now: Timestamp(microseconds: time)) }

    private func check(_ pane: Pane, _ note: Comment) {
        _ = (pane.offers, pane.primary, pane.detail, pane.selectedText, pane.lastCode, pane.news)
        // In a window with room for everything the cursor is seen.
        var pane = pane
        var cells = CellBuffer(columns: 20, rows: 1_500)
        let caret = pane.draw(on: &cells, cells.area, isFocused: true)
        #expect((caret == nil) == (pane.cursor == nil), note)
    }

    @Test("A window without room draws nothing", arguments: [(0, 0), (0, 5), (5, 0), (1, 1), (100_000, 1), (1, 1_000)])
    func sizes(columns: Int, rows: Int) {
        var blocks = RandomBlocks(seed: 5)
        for _ in 0..<40 {
            var pane = Pane()
            pane.show(blocks.block(depth: 3), columns: columns, look(0))
            var cells = CellBuffer(columns: min(columns, 300), rows: rows)
            let area = CellArea(row: 0, column: 0, rows: rows, columns: columns)
            for _ in 0..<3 {
                _ = pane.draw(on: &cells, area, isFocused: true)
                pane.page(down: true)
                pane.move(down: true)
                pane.goToEnd()
            }
        }
    }

    @Test("An empty pane takes every key")
    func empty() {
        var pane = Pane()
        pane.move(down: true)
        pane.page(down: false)
        pane.scroll(by: 5)
        pane.goToEnd()
        pane.goToStart()
        #expect(
            !pane.toggle() && !pane.turn(forward: true) && pane.toggleAll() == nil && !pane.find("a")
                && !pane.select(row: 0))
        var screen = PaneScreen(.stack([]))
        screen.down()
        screen.act { $0.page(down: true) }
        #expect(screen.caret == nil && screen.rows.allSatisfy(\.isEmpty))
    }
}

/// Blocks of all kinds with texts that are hard to draw.
private struct RandomBlocks {
    private var random: SeededGenerator
    private let lines = Feed<Log.Line>(mostEntries: 50)
    private let entries = Feed<Transcript.Entry>(mostEntries: 30)
    private var number = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func count(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }

    private mutating func word() -> String {
        let words = [
            "a", "line 1", "漢字", "e\u{301}", "\n", "\t", "👨‍👩‍👧‍👦", "#1", "", "long words that go on and on", "\u{1B}[2J",
            "| x |\n|---|\n", "- b",
        ]
        return (0..<count(4)).map { _ in words.randomElement(using: &random) ?? "" }.joined()
    }

    private mutating func id() -> String {
        ["a", "b", "c", "title", "gap", "#0", ""].randomElement(using: &random) ?? ""
    }

    mutating func grow() {
        number += 1
        lines.append((0..<count(20)).map { _ in Log.Line(word(), state: Bool.random(using: &random) ? "error" : nil) })
        let author = Transcript.Author.allCases.randomElement(using: &random) ?? .model
        let entry = Transcript.Entry(
            "\(number % 40)", author, (0..<count(8)).map { _ in word() }.joined(), isOpen: true)
        Bool.random(using: &random) ? entries.append(entry) : entries.replaceLast(with: entry)
    }

    private mutating func node(_ depth: Int) -> Tree.Node {
        number += 1
        let children = depth > 0 ? (0..<count(3)).map { _ in node(depth - 1) } : []
        return Tree.Node("\(number % 9)", RichText(word()), state: "running", children)
    }

    mutating func block(depth: Int) -> Block {
        let title = Bool.random(using: &random) ? word() : nil
        return Block(content(depth), id: id(), title: title, links: [.action("x.y", "Do", ["id": .row("id")])])
    }

    private mutating func content(_ depth: Int) -> Block.Content {
        func inner(_ most: Int) -> [Block] { (0..<count(most)).map { _ in block(depth: depth - 1) } }
        let axis: Stack.Axis = Bool.random(using: &random) ? .horizontal : .vertical
        switch Int.random(in: 0..<(depth > 0 ? 19 : 14), using: &random) {
        case 0: return .text(RichText(word()))
        case 1: return .markdown(MarkdownText(word(), isOpen: Bool.random(using: &random)))
        case 2: return .code(Code(word()))
        case 3: return .diff(Diff("+\(word())\n-\(word())"))
        case 4: return .values(Values([Schema.Property("v", "", .string)], JSONObject([("v", .string(word()))])))
        case 5:
            let rows = (0..<count(30)).map { _ in JSONObject([("id", .string(id())), ("n", .int(count(99)))]) }
            let columns = [Schema.Property("id", "", .string), Schema.Property("n", "", .integer(nil))]
            return .table(Screens.Table(columns, .all(rows), id: ["id"], detail: .screen("x.z", "More")))
        case 6: return .tree(Tree((0..<count(4)).map { _ in node(3) }))
        case 7, 8: return .log(Log(lines))
        case 9, 10: return .transcript(Transcript(entries))
        case 11:
            return .timeline(
                Timeline((0..<count(5)).map { _ in Timeline.Step(id(), word(), state: "ok", group: id()) }))
        case 12: return .form(Form("x.y", values: ["a": "b"], submit: word()))
        case 13: return .placeholder(Placeholder(.empty, word(), retry: .action("x.r", "Again")))
        case 14:
            return .split(
                Split(
                    block(depth: depth - 1), block(depth: depth - 1), axis,
                    fraction: .random(in: -1...2, using: &random)))
        case 15: return .tabs(Tabs(inner(4)))
        case 16: return .collapsible(Collapsible(block(depth: depth - 1), isOpen: Bool.random(using: &random)))
        default: return .stack(Stack(inner(5), axis))
        }
    }
}

import Capabilities
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct PaneWindowTests {
    private let look = PaneLook(level: .none, now: Timestamp(microseconds: 0))

    private func window(_ block: Block, rows: Int) -> PaneWindow {
        var window = PaneWindow()
        window.show(PaneParts(block, columns: 40, look), drawn: [])
        window.rows = rows
        window.settle()
        return window
    }

    private func text(_ window: inout PaneWindow) -> [String] { window.shown().flatMap(\.rows).map(\.plainText) }

    @Test("It shows rows from the first one on, and scrolls to the last and no further")
    func scrolling() {
        var window = window(.lines(10), rows: 3)
        #expect(text(&window) == ["line 0", "line 1", "line 2"] && window.isAtStart && !window.isAtEnd)
        window.scroll(by: 4)
        #expect(text(&window) == ["line 4", "line 5", "line 6"] && !window.isAtStart)
        window.scroll(by: 100)
        #expect(text(&window) == ["line 7", "line 8", "line 9"] && window.isAtEnd)
        window.scroll(by: -100)
        #expect(text(&window).first == "line 0" && window.isAtStart)
    }

    @Test("It scrolls by the rows of an item, and no further than a revealed row needs")
    func items() {
        let entries = (0..<3).map { said("e\($0)", .person, (0..<4).map { "row \($0)  " }.joined(separator: "\n")) }
        var window = window(.transcript(Feed(entries)), rows: 4)
        window.stopFollowing()
        window.goToStart()
        window.scroll(by: 2)
        #expect(window.seen().first?.hidden == 2)
        let last = PaneWindow.Position(part: 0, item: 2)
        window.reveal(last, 0..<1)
        #expect(text(&window).last == "e2")
        window.reveal(last, 0..<1)
        #expect(text(&window).last == "e2", "it is seen already")
    }

    @Test("What comes at an end that was left is counted, and followed again at the end")
    func following() {
        let feed = logFeed(10)
        var window = window(.log(feed), rows: 2)
        #expect(text(&window) == ["line 8", "line 9"] && window.grows && window.news == 0)
        window.stopFollowing()
        window.scroll(by: -3)
        feed.append([Log.Line("a"), Log.Line("b")])
        window.show(PaneParts(.log(feed), columns: 40, look), drawn: [])
        window.settle()
        #expect(window.news == 2 && text(&window) == ["line 5", "line 6"])
        window.follows = true
        window.settle()
        #expect(window.news == 0 && text(&window) == ["a", "b"])
    }

    @Test("Without parts it is empty, at its start and at its end")
    func empty() {
        var window = PaneWindow()
        window.scroll(by: 3)
        window.settle()
        #expect(window.seen().isEmpty && window.isAtEnd && !window.grows && window.shown().isEmpty)
    }
}

import Screens
import Testing

@testable import ShellFrontend

@Suite struct TranscriptTests {
    private func entries(_ range: Range<Int>) -> [Transcript.Entry] { range.map { said("e\($0)") } }

    @Test("A conversation is followed at its end while it grows")
    func follows() {
        let feed = Feed(entries(0..<10))
        var screen = PaneScreen(rows: 3, .transcript(feed))
        #expect(screen.rows == ["e9", "text of e9", ""] && screen.pane.follows)
        feed.append(said("new"))
        screen.show(.transcript(feed))
        #expect(screen.rows == ["new", "text of new", ""] && screen.pane.news == 0)
        #expect(screen.selected == "new")
    }

    @Test("Scrolled up, the rows that are read do not move, and new entries are counted until End")
    func scrolledUp() {
        let feed = Feed(entries(0..<10))
        var screen = PaneScreen(rows: 5, .transcript(feed))
        screen.act { $0.scroll(by: -4) }
        let rows = screen.rows
        #expect(!screen.pane.follows && screen.pane.news == 0)
        for number in 1...30 {
            feed.append(said("new \(number)"))
            screen.show(.transcript(feed))
            #expect(screen.rows == rows && screen.pane.news == number)
        }
        screen.act { $0.goToEnd() }
        #expect(
            screen.pane.follows && screen.pane.news == 0 && screen.rows.suffix(3) == ["new 30", "text of new 30", ""])
        feed.append(said("newest"))
        screen.show(.transcript(feed))
        #expect(screen.rows.suffix(3).first == "newest")
    }

    @Test("Scrolling to the end follows again, and so does sending")
    func followsAgain() {
        let feed = Feed(entries(0..<10))
        var screen = PaneScreen(rows: 5, .transcript(feed))
        screen.act { $0.scroll(by: -4) }
        screen.act { $0.scroll(by: 3) }
        #expect(!screen.pane.follows)
        screen.act { $0.scroll(by: 3) }
        #expect(screen.pane.follows)
        screen.act { $0.page(down: false) }
        #expect(!screen.pane.follows)
        screen.act { $0.follow() }
        #expect(screen.pane.follows && screen.rows.suffix(3).first == "e9")
    }

    @Test("Moving up leaves the end, and down to the end comes back to it")
    func keys() {
        let feed = Feed(entries(0..<4))
        var screen = PaneScreen(rows: 20, .transcript(feed))
        screen.up()
        #expect(!screen.pane.follows && screen.selected == "e2")
        screen.down(2)
        #expect(screen.selected == "e3" && screen.pane.follows)
    }

    @Test("New entries are counted when older ones are dropped for them")
    func dropped() {
        let feed = Feed(entries(0..<10), mostEntries: 10)
        var screen = PaneScreen(rows: 4, .transcript(feed))
        screen.act { $0.scroll(by: -3) }
        let rows = screen.rows
        feed.append(entries(10..<13))
        screen.show(.transcript(feed))
        #expect(screen.pane.news == 3 && screen.rows == rows)
        feed.append(entries(13..<40))
        screen.show(.transcript(feed))
        #expect(screen.pane.news == 30, "what was read is dropped: \(screen.rows)")
        screen.act { $0.goToStart() }
        #expect(screen.rows.first == "30 older entries are not kept.")
    }

    @Test("An entry taller than the pane is read row by row, up and down")
    func tall() {
        let text = (0..<10).map { "line \($0)" }.joined(separator: "\n")
        let feed = Feed([said("a"), said("tall", .notice, text), said("b")])
        var screen = PaneScreen(rows: 4, .transcript(feed))
        #expect(screen.rows == ["", "b", "text of b", ""] && screen.selected == "b")
        screen.up()
        #expect(screen.rows == ["line 7", "line 8", "line 9", ""] && screen.pane.cursor?.id == "tall")
        screen.up(8)
        #expect(screen.rows[0] == "tall" && screen.pane.cursor?.id == "tall")
        screen.up()
        #expect(screen.pane.cursor?.id == "a")
        screen.down()
        #expect(screen.pane.cursor?.id == "tall")
        screen.down(20)
        #expect(screen.pane.cursor?.id == "b" && screen.pane.follows)
    }

    @Test("An open entry that grows below what is read does not move it")
    func growsBelow() {
        let feed = Feed([said("a"), said("open", .model, "one", isOpen: true)])
        var screen = PaneScreen(rows: 6, .transcript(feed))
        screen.act { $0.goToStart() }
        let first = screen.rows[0]
        for count in 1..<30 {
            let text = (0..<count).map { "- item \($0)" }.joined(separator: "\n")
            feed.replaceLast(with: said("open", .model, text, isOpen: true))
            screen.show(.transcript(feed))
            #expect(screen.rows[0] == first && screen.pane.news == 0)
        }
    }

    @Test("An open entry that is read in its middle is not moved by its growth")
    func growsInside() {
        let feed = Feed([said("open", .notice, (0..<30).map { "line \($0)" }.joined(separator: "\n"), isOpen: true)])
        var screen = PaneScreen(rows: 5, .transcript(feed))
        screen.act { $0.scroll(by: -10) }
        let rows = screen.rows
        let text = (0..<90).map { "line \($0)" }.joined(separator: "\n")
        feed.replaceLast(with: said("open", .notice, text, isOpen: true))
        screen.show(.transcript(feed))
        #expect(screen.rows == rows)
    }

    @Test("An answer that is written piece by piece looks like the whole one")
    func pieces() {
        let text =
            "# Title\n\nSome **bold** words that are longer than a row of the pane.\n\n- one\n- two\n\n```\ncode\n```\nend"
        let feed = Feed([said("open", .model, "", isOpen: true)])
        var screen = PaneScreen(rows: 20, .transcript(feed))
        for end in text.indices {
            feed.replaceLast(with: said("open", .model, String(text[..<end]), isOpen: true))
            screen.show(.transcript(feed))
        }
        feed.replaceLast(with: said("open", .model, text))
        screen.show(.transcript(feed))
        let whole = PaneScreen(rows: 20, .transcript(Feed([said("open", .model, text)])))
        #expect(screen.rows == whole.rows && screen.rows.contains("• two"))
    }

    @Test("Copies of a pane that show other texts do not disturb each other")
    func copies() {
        let (left, right) = (
            Feed([said("a", .model, "one", isOpen: true)]), Feed([said("a", .model, "one", isOpen: true)])
        )
        var first = PaneScreen(rows: 4, .transcript(left))
        var second = first
        left.replaceLast(with: said("a", .model, "one and left", isOpen: true))
        right.replaceLast(with: said("a", .model, "one or right", isOpen: true))
        first.show(.transcript(left))
        second.show(.transcript(right))
        first.draw()
        second.draw()
        #expect(first.rows[1] == "one and left" && second.rows[1] == "one or right")
    }

    @Test("A conversation that arrives while it is loading is seen at its end")
    func loading() {
        var screen = PaneScreen(rows: 3, Block(.placeholder(Placeholder(.loading, "Loading …"))))
        screen.down()
        screen.up()
        screen.show(.transcript(Feed(entries(0..<10))))
        #expect(screen.rows[0] == "e9")
    }

    @Test("A log in the middle of a page is not followed, so that the page begins at its top")
    func middle() {
        let screen = PaneScreen(rows: 4, .stack([.table(["a"]), .log(logFeed(50)), .lines(2)]))
        #expect(screen.rows[0] == "NAME" && !screen.pane.grows)
    }

    @Test("A conversation is followed also if something is below it, which stays in sight")
    func below() {
        let feed = Feed(entries(0..<30))
        var screen = PaneScreen(rows: 8, .stack([.transcript(feed), .lines(2)]))
        #expect(screen.rows.contains("e29") && screen.pane.grows && screen.pane.follows)
        feed.append(said("newest"))
        screen.show(.stack([.transcript(feed), .lines(2)]))
        #expect(screen.rows.contains("newest"))
        screen.act { $0.page(down: false) }
        #expect(!screen.rows.contains("newest"))
    }

    @Test("An empty conversation says so")
    func empty() {
        #expect(PaneScreen(.transcript(Feed())).rows[0] == "Nothing was said yet.")
    }

    @Test("The text of an entry is copied as it was said")
    func copy() {
        let screen = PaneScreen(.transcript(Feed([said("a", .model, "**bold** words")])))
        #expect(screen.pane.selectedText == "**bold** words")
    }
}

import Screens
import Testing

@testable import ShellFrontend

@Suite struct LogTests {
    @Test("A log is followed at its end, and says how many lines were dropped")
    func dropped() {
        let feed = logFeed(30, mostEntries: 10)
        var screen = PaneScreen(.log(feed))
        #expect(screen.rows == (25..<30).map { "line \($0)" })
        screen.act { $0.goToStart() }
        #expect(screen.rows.prefix(2) == ["20 older lines are not kept.", "line 20"] && screen.selected == "line 20")
    }

    @Test("A line stays where it is read while lines are added and dropped")
    func stays() {
        let feed = logFeed(100, mostEntries: 100)
        var screen = PaneScreen(.log(feed))
        screen.act { $0.scroll(by: -20) }
        let rows = screen.rows
        for number in 0..<60 {
            feed.append(Log.Line("more \(number)"))
            screen.show(.log(feed))
            #expect(screen.rows == rows && screen.pane.news == number + 1)
        }
    }

    @Test("When the lines that are read are dropped, the oldest that are kept take their place")
    func gone() {
        let feed = logFeed(100, mostEntries: 100)
        var screen = PaneScreen(.log(feed))
        screen.act { $0.goToStart() }
        screen.act { $0.scroll(by: 2) }
        #expect(screen.rows[0] == "line 2")
        feed.append((100..<150).map { Log.Line("line \($0)") })
        screen.show(.log(feed))
        #expect(Int(screen.rows[4].split(separator: " ")[1]).map { $0 < 60 } == true, "\(screen.rows)")
        #expect(screen.pane.news == 50)
    }

    @Test("An empty log says so, and a line of several lines is drawn on one")
    func lines() {
        #expect(PaneScreen(.log(Feed())).rows[0] == "No lines yet.")
        let feed = Feed([Log.Line("a\nb\tc", state: "error")])
        #expect(PaneScreen(.log(feed)).rows[0] == "error  a b c")
    }

    @Test("Text in a line cannot control the terminal")
    func controls() {
        let feed = Feed([Log.Line("a\u{1B}[2Jb\u{202E}c")])
        let row = PaneScreen(columns: 60, .log(feed)).rows[0]
        #expect(row.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } && row.hasSuffix("c"))
    }
}

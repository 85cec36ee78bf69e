import Testing

@testable import TerminalKit

@Suite("Lines redrawn in place")
struct LiveLinesTests {
    private let size = TerminalSize(columns: 20, rows: 5)

    @Test("New lines replace the earlier ones, below the permanent output")
    func redraw() {
        var screen = VirtualScreen(columns: 20, rows: 5)
        var live = LiveLines(level: .none)
        screen.show(live.show(["one", "two"], size: size))
        screen.show(live.show(["one", "2", "three"], above: ["a note"], size: size))
        screen.show(live.finish(["all done"], size: size))
        #expect(screen.everything.map { $0.trimmingTrailingSpaces() }.filter { !$0.isEmpty } == ["a note", "all done"])
    }

    @Test("Lines are cut to the window in both directions, and stay one row each")
    func cut() {
        var screen = VirtualScreen(columns: 20, rows: 5)
        var live = LiveLines(level: .none)
        let long = StyledText(String(repeating: "x", count: 50) + "\n")
        screen.show(live.show(Array(repeating: long, count: 9), size: size))
        let lines = screen.everything.map { $0.trimmingTrailingSpaces() }.filter { !$0.isEmpty }
        #expect(lines == Array(repeating: String(repeating: "x", count: 18) + "…", count: 4))
    }
}

extension String {
    fileprivate func trimmingTrailingSpaces() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct LiveMarkdownTests {
    private let size = TerminalSize(columns: 40, rows: 12)

    /// What the terminal shows of a document that arrives in pieces, one for each step of time.
    private func shown(_ pieces: [String], step: Duration, level: ColorLevel = .ansi16) -> VirtualScreen {
        var live = LiveMarkdown(level: level, links: false)
        var screen = VirtualScreen(columns: size.columns, rows: size.rows)
        var now = Duration.zero
        for piece in pieces {
            screen.show(live.append(piece, at: now, size: size))
            now += step
        }
        screen.show(live.finish(size: size))
        return screen
    }

    @Test("A document ends as if it had been drawn at once, whatever the pieces and their speed")
    func equalToWhole() {
        let whole = Markdown.render(everyBlock, width: size.columns - 1, level: .ansi16).map(\.withoutTrailingSpaces)
        for seed in UInt64(1)...12 {
            var random = SeededGenerator(seed: seed)
            var pieces: [String] = []
            var rest = Substring(everyBlock)
            while !rest.isEmpty {
                let count = Int.random(in: 1...12, using: &random)
                pieces.append(String(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let screen = shown(pieces, step: .milliseconds(Int.random(in: 1...40, using: &random)))
            #expect(screen.everything == whole.map(\.plainText), "seed \(seed)")
            #expect(screen.column == 0, "seed \(seed)")
        }
    }

    @Test("The open block is there before it is final, with the cursor behind it")
    func tail() {
        var live = LiveMarkdown(level: .ansi16, links: false)
        var screen = VirtualScreen(columns: size.columns, rows: size.rows)
        screen.show(live.append("First.\n\nSecond **par", at: .zero, size: size))
        #expect(screen.lines == ["First.", "", "Second **par"])
        screen.show(live.append("t**", at: .seconds(1), size: size))
        #expect(screen.lines == ["First.", "", "Second part"])
        #expect(screen.column == 11)
    }

    @Test("A document is drawn at most thirty times a second, and the next call draws the rest")
    func throttled() {
        var live = LiveMarkdown(level: .ansi16, links: false)
        var drawings = 0
        for step in 0..<1000 where !live.append("w\(step) ", at: .milliseconds(step), size: size).isEmpty {
            drawings += 1
        }
        #expect((25...30).contains(drawings))
        let isBehind = live.isBehind
        #expect(isBehind)
        let drawn = [1000, 1100, 9000].map { live.draw(at: .milliseconds($0), size: size) }
        #expect(drawn[0].isEmpty && drawn[1].contains("w999") && drawn[2].isEmpty)
    }

    @Test("A block taller than the screen shows its end, and is whole once it is final")
    func tall() {
        let items = (1...40).map { "- item \($0)\n" }
        var live = LiveMarkdown(level: .ansi16, links: false)
        var screen = VirtualScreen(columns: size.columns, rows: size.rows)
        var now = Duration.zero
        for item in items {
            screen.show(live.append(item, at: now, size: size))
            now += .milliseconds(50)
        }
        #expect(screen.lines.last?.hasSuffix("item 40") == true && screen.above.isEmpty)
        screen.show(live.finish(size: size))
        let whole = Markdown.render(items.joined(), width: size.columns - 1, level: .ansi16)
        #expect(screen.everything == whole.map(\.plainText))
    }

    @Test("A growing paragraph costs only what was added")
    func bytes() {
        var live = LiveMarkdown(level: .ansi16, links: false)
        var count = 0
        var now = Duration.zero
        for _ in 0..<200 {
            count += live.append("word ", at: now, size: size).utf8.count
            now += .milliseconds(40)
        }
        #expect(count < 200 * 5 * 3, "\(count) bytes for 1000 characters")
    }

    @Test("Two successive documents do not affect each other")
    func twice() {
        var live = LiveMarkdown(level: .ansi16, links: false)
        var screen = VirtualScreen(columns: size.columns, rows: size.rows)
        for text in ["- one\n", "two"] {
            screen.show(live.append(text, at: .zero, size: size))
            screen.show(live.finish(size: size))
            let again = live.finish(size: size)
            #expect(again.isEmpty)
        }
        #expect(screen.lines == ["• one", "two"])
    }
}

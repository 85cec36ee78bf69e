import Capabilities
import CoreTesting
import JSON
import RunReports
import Synchronization
import TerminalKit
import Testing

@testable import Runs

@Suite("Run progress", .timeLimit(.minutes(5)))
struct ProgressTests {
    /// Records the drawings.
    final class Screen: Sendable {
        private let text = Mutex<[String]>([])

        var writes: [String] { text.withLock { $0 } }
        func write(_ more: String) { text.withLock { $0.append(more) } }
    }

    private func live(_ screen: Screen, rows: Int = 24, clock: TestClock = TestClock()) -> LiveProgress {
        LiveProgress(
            level: .none, clock: clock, size: { TerminalSize(columns: 80, rows: rows) }, write: { screen.write($0) })
    }

    @Test("The tree shows running, failed and waiting steps")
    func tree() {
        let screen = Screen()
        let live = live(screen)
        live.receive(.began(facts(["fetch", "ask", "tell"])))
        live.receive(.step(update("fetch", .ok)))
        live.receive(.step(update("ask[model=a]", .running)))
        live.receive(.step(update("ask[model=b]", .failed, StepError(code: "x", message: "no answer\u{1B}[2J"))))
        live.draw()
        let drawn = screen.writes.joined()
        #expect(drawn.contains("✓ fetch") && drawn.contains("▸ ask  1 of 2, 1 failed"))
        #expect(drawn.contains("▸ [model=a]") && drawn.contains("✗ [model=b]") && drawn.contains("· tell"))
        #expect(drawn.contains("demo  1/3  1 running") && !drawn.contains("\u{1B}[2J"))
    }

    @Test("The tree shows the time of running steps after one second, and of finished steps always")
    func elapsed() {
        let (screen, clock) = (Screen(), TestClock())
        let live = live(screen, clock: clock)
        live.receive(.began(facts(["fetch", "ask"])))
        live.receive(.step(update("fetch", .ok, took: .milliseconds(15))))
        live.receive(.step(update("ask", .running)))
        clock.advance(by: .milliseconds(999))
        live.draw()
        let early = screen.writes.joined()
        #expect(early.contains("✓ fetch  15 ms") && early.contains("▸ ask") && early.contains("demo  1/2  1 running"))
        #expect(!early.contains("▸ ask  ") && !early.contains("1 running  "), "\(early)")
        clock.advance(by: .milliseconds(1))
        // Draws whole lines; `draw` would write only the changes.
        live.finish()
        let late = screen.writes.last ?? ""
        #expect(late.contains("▸ ask  1.0 s") && late.contains("demo  1/2  1 running  1.0 s"), "\(late)")
    }

    @Test("The tree has the colours of the chosen theme")
    func theme() {
        func drawn(_ theme: Theme) -> String {
            let screen = Screen()
            let live = LiveProgress(
                level: .ansi256, theme: theme, clock: TestClock(), size: { TerminalSize(columns: 80, rows: 24) },
                write: { screen.write($0) })
            live.receive(.began(facts(["fetch"])))
            live.receive(.step(update("fetch", .failed, StepError(code: "x", message: "no answer"))))
            live.draw()
            return screen.writes.joined()
        }
        for theme in [Theme.light, .dark, .terminal] {
            let mark = StyledText("✗", Style(.destructive)).rendered(level: .ansi256, theme: theme).prefix { $0 != "✗" }
            #expect(!mark.isEmpty && drawn(theme).contains("\(mark)✗"), "\(drawn(theme))")
        }
        #expect(drawn(.light) != drawn(.dark) && drawn(.dark) != drawn(.terminal))
    }

    @Test("The tree shows the number of runs of a step from the start") func spread() {
        let screen = Screen()
        let live = live(screen)
        live.receive(.began(facts(["ask", "inner"])))
        live.receive(.spread(step: "ask", count: 3))
        live.receive(.step(update("ask[model=a]", .running)))
        live.receive(.step(update("inner", .running)))
        live.receive(.spread(step: "inner", count: 2))
        live.draw()
        let drawn = screen.writes.joined()
        #expect(drawn.contains("▸ ask  0 of 3") && drawn.contains("▸ inner  0 of 2"), "\(drawn)")
        live.receive(.step(update("ask[model=a]", .ok)))
        live.draw()
        #expect(screen.writes.last?.contains("1 of 3") == true)
    }

    @Test("The tree fits on one screen, however large the matrix or the bundle is")
    func wide() {
        let screen = Screen()
        let live = live(screen, rows: 12)
        live.receive(.began(facts((0..<500).map { "step-\($0)" } + ["ask"])))
        for index in 0..<400 { live.receive(.step(update("step-\(index)", .ok))) }
        for index in 0..<1_000 { live.receive(.step(update("ask[n=\(index)]", index < 990 ? .ok : .running))) }
        live.draw()
        let lines = screen.writes.joined().split(separator: "\n")
        #expect(lines.count <= 11)
        #expect(lines.contains { $0.contains("▸ ask  990 of 1000") } && lines.contains { $0.contains("more") })
        #expect(lines.last?.contains("demo  400/501  1 running") == true)
    }

    @Test("The tree is drawn at most ten times a second")
    func rate() async throws {
        let (screen, clock) = (Screen(), TestClock())
        let live = live(screen, clock: clock)
        live.receive(.began(facts(["a"])))
        let drawing = Task { await live.run() }
        for round in 1...5 {
            await clock.waitForSleepers(1)
            for index in 0..<200 { live.receive(.step(update("a[\(index)]", .running))) }
            #expect(screen.writes.count == round - 1)
            clock.advance(by: .milliseconds(100))
        }
        await clock.waitForSleepers(1)
        #expect(screen.writes.count == 5)
        drawing.cancel()
        await drawing.value
    }

    @Test("Notices appear above the tree, and the last state stays on the screen")
    func end() {
        let screen = Screen()
        let live = live(screen)
        live.receive(.began(facts(["a"])))
        live.receive(.step(update("a", .running)))
        live.draw()
        live.receive(.notice(step: "a", "this takes long"))
        live.receive(.step(update("a", .ok)))
        live.finish()
        let count = screen.writes.count
        live.draw()
        live.finish()
        let last = screen.writes.last ?? ""
        #expect(last.contains("a: this takes long") && last.contains("✓ a") && last.hasSuffix("\r\n"))
        #expect(screen.writes.count == count)
    }

    @Test("The outputs of a run are printed as readable lines") func outputs() {
        var summary = summary([])
        summary.outputs = ["file": "a.md", "count": 3, "none": .null, "review": "First\n\nLast", "all": ["x"]]
        #expect(
            PlainProgress.outputs(summary)
                == ["file: a.md", "count: 3", "review:", "  First", "", "  Last", #"all: ["x"]"#])
    }

    @Test("Plain progress has a line for each start and each end")
    func plain() {
        #expect(PlainProgress.line(.step(update("a", .running))) == "  starts    a: demo.act")
        #expect(
            PlainProgress.line(
                .step(update("a", .failed, StepError(code: "c", message: "no way"), took: .milliseconds(1_234))))
                == "  failed    a (1.2 s): no way")
        #expect(
            PlainProgress.end(summary([update("a", .ok), update("b", .ok), update("c", .skipped)]))
                == "demo ok in 4.0 s, run 20261120t101500-abcd: 2 ok, 1 skipped")
    }
}

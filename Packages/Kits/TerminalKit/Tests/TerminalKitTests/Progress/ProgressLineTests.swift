import TerminalTesting
import Testing

@testable import TerminalKit

@Suite(.timeLimit(.minutes(5))) struct ProgressLineTests {
    @Test("Only messages are written if the output is not a terminal")
    func piped() async throws {
        let pipe = try Pipe()
        let progress = ProgressLine(fileDescriptor: pipe.writeEnd, level: .none, clock: ManualClock(sleeps: 3))
        progress.update("working", fraction: 0.5)
        await progress.run()
        progress.around {}
        #expect(pipe.content() == "")
        progress.message("one thing")
        progress.finish()
        #expect(pipe.content() == "one thing\n")
    }

    @Test("The line shows its text, the time and a bar, and is removed at the end")
    func shownAndGone() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        // Its time is that of the current task, and not of the program.
        clock.advance(by: .seconds(600))
        progress.update("model.gguf")
        clock.advance(by: .seconds(67))
        progress.update("model.gguf", fraction: 0.25)
        let shown = try await pty.output()
        #expect(rows(after: shown) == ["━━━━━─────────────── 25% model.gguf 1m07s"])
        progress.finish()
        progress.update("too late")
        #expect(rows(after: shown + (try await pty.output())) == [])
    }

    @Test("A retired line is hidden until the next update, which counts again from zero")
    func retired() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        progress.update("first")
        clock.advance(by: .seconds(9))
        progress.retire()
        progress.around {}
        let shown = try await pty.output()
        #expect(rows(after: shown) == [])
        clock.advance(by: .seconds(9))
        progress.update("second")
        #expect(rows(after: shown + (try await pty.output())) == ["⠋ second 0s"])
    }

    @Test("Updates are drawn at most thirty times a second")
    func throttled() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        var draws = 0
        for step in 0..<1000 {
            progress.update("step \(step)")
            clock.advance(by: .milliseconds(1))
            if try await !pty.output().isEmpty { draws += 1 }
        }
        #expect((25...30).contains(draws))
    }

    @Test("Messages stay above the line")
    func message() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        progress.update("working")
        clock.advance(by: .seconds(1))
        progress.message("first")
        clock.advance(by: .seconds(1))
        progress.message("second")
        #expect(rows(after: try await pty.output()) == ["first", "second", "⠋ working 2s"])
    }

    @Test("Output around the line and updates from the body do not collide with it")
    func around() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        progress.update("working on something long")
        clock.advance(by: .seconds(1))
        await progress.around { () async in
            Terminal(fileDescriptor: pty.slave).write("res")
            progress.update("next")
            await Task.yield()
            progress.around { Terminal(fileDescriptor: pty.slave).write("ult\n") }
        }
        #expect(rows(after: try await pty.output()) == ["result", "⠋ next 1s"])
    }

    @Test("An error from the body is passed on, and the line returns")
    func throwing() async throws {
        let pty = try PseudoTerminal()
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        progress.update("working")
        clock.advance(by: .seconds(1))
        #expect(throws: CancellationError.self) { try progress.around { throw CancellationError() } }
        #expect(rows(after: try await pty.output()) == ["⠋ working 1s"])
    }

    @Test("The spinner turns while the owner runs the line")
    func spinner() async throws {
        let pty = try PseudoTerminal()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: ManualClock(sleeps: 3))
        progress.update("working")
        await progress.run()
        #expect(try await pty.output().filter { "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains($0) } == "⠋⠙⠹⠸")
    }

    @Test("A step writes only what it changes, and a window that becomes narrower leaves nothing of the wide line")
    func difference() async throws {
        let pty = try PseudoTerminal(columns: 30, rows: 5)
        let clock = ManualClock()
        let progress = ProgressLine(fileDescriptor: pty.slave, level: .none, clock: clock)
        progress.update("a text as long as it can be", fraction: 0.25)
        var shown = try await pty.output()
        clock.advance(by: .seconds(1))
        progress.update("a text as long as it can be", fraction: 0.26)
        let change = try await pty.output()
        #expect(change.utf8.count < 20, "\(change.debugDescription)")
        shown += change
        #expect(rows(after: shown, columns: 30) == [" 26% a text as long as it… 1s"])
        pty.resize(columns: 20, rows: 5)
        clock.advance(by: .seconds(1))
        progress.update("short")
        // The terminal has broken the line into two.
        let narrow = try await pty.output()
        #expect(narrow.contains("\u{1B}[1A") && narrow.contains("\u{1B}[J"))
    }

    @Test("A frame never takes more than its width", arguments: 0...100)
    func frameWidth(width: Int) {
        for fraction in [nil, 0, 0.5, 1, 7, -.infinity, .nan] as [Double?] {
            let frame = ProgressFrame(text: "漢字 and 👨‍👩‍👧‍👦 and more text than there is room for", fraction: fraction)
            #expect(frame.line(elapsed: .seconds(7300), width: width).width <= width)
        }
    }
}

/// What a terminal shows after some output.
private func rows(after output: String, columns: Int = 80) -> [String] {
    var screen = VirtualScreen(columns: columns, rows: 24)
    screen.show(output)
    return screen.lines
}

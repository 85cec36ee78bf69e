import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

/// A full-screen program as a job of a shell. The numbers are those of the terminal's cases.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ScreenJobControlTests {
    /// The ways to stop a program.
    enum Stop: CaseIterable, CustomTestStringConvertible {
        case key, signal, byForce

        var testDescription: String { "\(self)" }

        func apply(to program: pid_t, in session: ShellSession) throws {
            let result =
                switch self {
                case .key:
                    // Typed to the program, and not made a signal by the terminal.
                    Int32(0)
                case .signal: kill(program, SIGTSTP)
                case .byForce: kill(program, SIGSTOP)
                }
            if self == .key { session.type("\u{1A}") }
            guard result == 0 else { throw TestTerminalError(message: "kill: \(errno)") }
            try session.output(upTo: "Stopped")
            try session.outputToPrompt()
        }
    }

    private static func problems(_ session: ShellSession) -> [String] {
        TerminalModes(after: session.transcript).problems
    }

    @Test(
        "Case 46: A stopped program leaves the terminal to the shell, and fg shows its screen again",
        arguments: Stop.allCases)
    func stopped(by stop: Stop) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            let program = try session.start("mouse", "sync")
            for _ in 0..<3 {
                try stop.apply(to: program, in: session)
                // Nothing can be done before SIGSTOP. The shell mends its own modes, but the screen stays.
                if stop != .byForce { #expect(Self.problems(session).isEmpty, "\(Self.problems(session))") }
                #expect(try session.modes() == before)
                session.type("fg\n")
                try session.output(upTo: "\u{1B}[?1049h\u{1B}[H\u{1B}[2J")
                #expect(try session.painted() == program)
            }
            session.type("q")
            #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
            #expect(Self.problems(session).isEmpty, "\(Self.problems(session))")
            #expect(try session.modes() == before)
        }
    }

    @Test(
        "Case 46: In the background a program stops again at once, without a byte to the terminal",
        arguments: Stop.allCases)
    func background(stop: Stop) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            let program = try session.start("mouse")
            try stop.apply(to: program, in: session)
            for _ in 0..<2 {
                let output = try session.answer(to: "bg") + (try session.outputUntilStopped())
                #expect(!output.contains("pid=") && !output.contains("\u{1B}[?"), "\(output.debugDescription)")
                #expect(try session.modes() == before)
            }
            session.type("fg\n")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.painted()
            session.type("q")
            #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
            #expect(Self.problems(session).isEmpty, "\(Self.problems(session))")
            #expect(try session.modes() == before)
        }
    }

    @Test("A stop takes a program along that waits for this one, so that the shell notices")
    func wrapped() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            session.type("sh -c \"$probe; exit 5\"\n")
            try session.output(upTo: "\n")
            _ = try session.outputToPrompt()
            _ = try session.answer(to: "probe=\"\(ScreenProbe.command(["mouse"]))\"")
            session.type("sh -c \"$probe; exit 5\"\n")
            try session.output(upTo: "5\"\r\n")
            try session.painted()
            session.type("\u{1A}")
            try session.output(upTo: "Stopped")
            try session.outputToPrompt()
            #expect(Self.problems(session).isEmpty, "\(Self.problems(session))")
            session.type("fg\n")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.painted()
            session.type("q")
            #expect(try session.outputToPrompt().hasSuffix("rc=5\(ShellSession.prompt)"))
            #expect(try session.modes() == before)
        }
    }

    @Test(
        "Case 47: Modes that were changed during a stop are those that the program restores", arguments: Stop.allCases)
    func changed(stop: Stop) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            let program = try session.start()
            try stop.apply(to: program, in: session)
            _ = try session.answer(to: "stty quit ^X -ixon")
            let changed = try session.modes()
            #expect(changed != before)
            session.type("fg\n")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.painted()
            session.type("q")
            _ = try session.outputToPrompt()
            #expect(try session.modes() == changed)
        }
    }

    @Test("A continuation after a stop without effect shows the screen again")
    func continuedLater() async throws {
        try await ShellSession.with { session in
            let (program, _) = try session.startAlone()
            // A job without a shell is not stopped. Its screen is back after half a second.
            #expect(kill(program, SIGTSTP) == 0)
            for _ in 0..<2 {
                try session.output(upTo: "\u{1B}[?25h")
                try session.output(upTo: "\u{1B}[?1049h")
                #expect(try session.painted() == program)
                #expect(kill(program, SIGCONT) == 0)
            }
        }
    }

    @Test("A program that is killed while it is stopped has left the screen, and nothing is written again")
    func killedWhileStopped() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            let program = try session.start("mouse")
            let guardian = try OtherProcess.child(of: program)
            try Stop.signal.apply(to: program, in: session)
            #expect(kill(program, SIGKILL) == 0)
            try OtherProcess.waitForEnd(of: guardian)
            let after = try session.answer(to: "echo end")
            #expect(!after.contains("\u{1B}[?"), "\(after.debugDescription)")
            #expect(Self.problems(session).isEmpty, "\(Self.problems(session))")
            #expect(try session.modes() == before)
        }
    }

    @Test("A program that is killed after SIGSTOP has left its screen to the shell, which gets the right one")
    func killedAfterStop() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            let program = try session.start("mouse")
            let guardian = try OtherProcess.child(of: program)
            try Stop.byForce.apply(to: program, in: session)
            #expect(kill(program, SIGKILL) == 0)
            try OtherProcess.waitForEnd(of: guardian)
            #expect(try session.modes() == before)
            #expect(Self.problems(session).isEmpty, "\(Self.problems(session))")
        }
    }

    @Test("The guardian of a killed program does not touch the terminal of another job")
    func killedBehindAnotherJob() async throws {
        try await ShellSession.with { session in
            let program = try session.start("mouse")
            let guardian = try OtherProcess.child(of: program)
            try Stop.byForce.apply(to: program, in: session)
            // Once it says so, the shell has put its own modes away.
            session.type("echo be''gin; cat\n")
            try session.output(upTo: "begin\r\n")
            session.type("hello\n")
            try session.output(upTo: "hello\r\nhello\r\n")
            #expect(kill(program, SIGKILL) == 0)
            try OtherProcess.waitForEnd(of: guardian)
            session.type("again\n")
            #expect(try session.output(upTo: "again\r\nagain\r\n") == "again\r\nagain\r\n")
            session.type("\u{04}")
            try session.outputToPrompt()
        }
    }
}

/// Replies of the terminal that come late. The numbers are those of the terminal's cases.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ScreenReplyTests {
    private static let query = "\u{1B}]11;?\u{1B}\\\u{1B}[c"
    private static let colour = "\u{1B}]11;rgb:1111/2222/3333\u{1B}\\"
    private static let attributes = "\u{1B}[?62;22c"

    @Test("Case 45: Replies that come after the program was quit are not typed into the shell")
    func late() async throws {
        try await ShellSession.with { session in
            try session.start("still")
            session.type("Q")
            try session.output(upTo: Self.query)
            session.type(Self.colour + String(Self.attributes.prefix(4)))
            session.type(Self.attributes.dropFirst(4) + "echo typed-ahead\n")
            let output = try session.outputToPrompt()
            #expect(output.hasSuffix("rc=0\(ShellSession.prompt)"))
            let next = try session.outputToPrompt()
            #expect(next.contains("echo typed-ahead") && !next.contains("11;"), "\(next.debugDescription)")
            #expect(try session.answer(to: "echo alone").hasPrefix("alone\r\n"))
            #expect(!String(decoding: session.transcript, as: UTF8.self).contains("2222"))
        }
    }

    @Test("Case 45: The same after a signal, and after a stop", arguments: [SIGTERM, SIGTSTP])
    func lateAfterSignal(signal: Int32) async throws {
        try await ShellSession.with { session in
            let program = try session.start("still")
            session.type("a")
            try session.output(upTo: Self.query)
            #expect(kill(program, signal) == 0)
            session.type(Self.colour)
            session.type(Self.attributes)
            _ = try session.outputToPrompt()
            #expect(try session.answer(to: "echo alone").hasPrefix("alone\r\n"))
            #expect(!String(decoding: session.transcript, as: UTF8.self).contains("2222"))
        }
    }

    @Test("Case 45: A terminal that does not answer holds up the end for a moment only")
    func none() async throws {
        try await ShellSession.with { session in
            try session.start("still")
            session.type("Q")
            try session.output(upTo: Self.query)
            let start = ContinuousClock.now
            #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
            let pause = ContinuousClock.now - start
            #expect(pause > .milliseconds(190) && pause < .seconds(2), "\(pause)")
        }
    }

    @Test("The end of an answer to DA1 is found wherever it is cut, and nothing else is one")
    func attributesAnswer() {
        func end(_ text: String) -> Int? {
            var answer = DeviceAttributesAnswer()
            return Array(text.utf8).firstIndex { answer.isEnded(by: $0) }
        }
        #expect(end("abc") == nil)
        #expect(end("\u{1B}[?1;2c") == 6)
        #expect(end("\u{1B}\u{1B}[?1u\u{1B}[?62;22cc") == 14)
        #expect(end("\u{1B}[1;2c") == nil)
        #expect(end("\u{1B}[?2026;2$y") == nil)
    }
}

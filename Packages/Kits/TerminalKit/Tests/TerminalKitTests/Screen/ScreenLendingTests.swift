import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

/// A full-screen program that lends the terminal to an editor. The numbers are those of the terminal's cases.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ScreenLendingTests {
    /// Starts the program with a shell command as its editor, and lets it lend the terminal.
    private static func lend(_ editor: String, _ session: ShellSession, key: String = "l") throws {
        try session.answer(to: "export MARTLET_SCREEN_EDITOR='\(editor)'")
        try session.start("mouse", "sync")
        session.type(key)
    }

    private static func quit(_ session: ShellSession, _ before: String) throws {
        session.type("q")
        #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
        let problems = TerminalModes(after: session.transcript).problems
        #expect(problems.isEmpty, "\(problems)")
        #expect(try session.modes() == before)
    }

    @Test("Case 48: An editor gets the terminal as the shell's programs do, and the screen comes back after it")
    func editor() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            try Self.lend("stty -g; read line; echo got-$line; exit 4", session)
            try session.output(upTo: "\u{1B}[?25h")
            #expect(TerminalModes(after: session.transcript).problems.isEmpty)
            #expect(try session.output(upTo: "\n").dropLast() == before)
            session.type("typed\n")
            try session.output(upTo: "got-typed\r\n")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.output(upTo: "lent=4;")
            try Self.quit(session, before)
        }
    }

    @Test("While one program has the terminal, it is not lent to another one")
    func twice() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            try Self.lend("read line; echo got-$line; exit 4", session, key: "L")
            try session.output(upTo: "<terminal.busy>")
            session.type("typed\n")
            try session.output(upTo: "got-typed\r\n")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.output(upTo: "<status 4>")
            try session.painted()
            try Self.quit(session, before)
        }
    }

    @Test(
        "Case 48: An editor that cannot be run, fails, or leaves its modes behind changes nothing",
        arguments: [("missing", -1), ("exit 1", 1), ("stty raw -echo; kill -9 $$", 137), (":", 0)])
    func failing(editor: String, status: Int) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            try Self.lend(editor, session)
            try session.output(upTo: "\u{1B}[?25h")
            try session.output(upTo: "\u{1B}[?1049h")
            try session.output(upTo: "lent=\(status);")
            try Self.quit(session, before)
        }
    }

    @Test("Case 48: An editor stopped by Ctrl-Z stops the program too, and fg continues both")
    func stopped() async throws {
        try await ShellSession.with { session in
            try Self.lend("echo editor; read line; echo got-$line", session)
            try session.output(upTo: "editor\r\n")
            let editor = session.foreground
            for _ in 0..<2 {
                session.type("\u{1A}")
                try session.output(upTo: "Stopped")
                try session.outputToPrompt()
                let output = try session.answer(to: "bg") + session.outputUntilStopped()
                #expect(!output.contains("\u{1B}[?"), "\(output.debugDescription)")
                session.type("fg\n")
                try session.wait(forForeground: editor)
            }
            try session.answerEditor()
            session.type("q")
            #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
            #expect(TerminalModes(after: session.transcript).problems.isEmpty)
        }
    }
}

extension ShellSession {
    fileprivate func answerEditor() throws {
        type("typed\n")
        try output(upTo: "got-typed\r\n")
        try output(upTo: "\u{1B}[?1049h")
        try painted()
    }
}

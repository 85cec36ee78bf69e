import CoreTesting
import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

/// A full-screen program under a shell, ended at every kind of moment. The numbers are those of the terminal's cases.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ScreenRestoreTests {
    /// How a program ends, and the exit status that a shell then says.
    enum End: CaseIterable, CustomTestStringConvertible {
        case quit, error, exit, trap, terminate, interrupt, quitSignal, hangUp, kill

        var testDescription: String { "\(self)" }

        var action: (key: String?, signal: Int32) {
            switch self {
            case .quit: ("q", 0)
            case .error: ("e", 0)
            case .exit: ("x", 0)
            case .trap: ("t", 0)
            case .terminate: (nil, SIGTERM)
            case .interrupt: (nil, SIGINT)
            case .quitSignal: (nil, SIGQUIT)
            case .hangUp: (nil, SIGHUP)
            case .kill: (nil, SIGKILL)
            }
        }

        var status: Int32 {
            switch self {
            case .quit: 0
            case .error: 3
            case .exit: 7
            #if arch(arm64)
                case .trap: 128 + SIGTRAP
            #else
                case .trap: 128 + SIGILL
            #endif
            default: 128 + action.signal
            }
        }
    }

    /// Ends a program at one moment, and compares the terminal with what it was.
    private static func end(_ session: ShellSession, _ end: End, after bytes: Int, isStalled: Bool = false) throws {
        try session.begin(isStalled ? ["mouse", "large"] : ["mouse", "sync"])
        try session.output(of: bytes)
        if isStalled { try session.waitForStall() }
        // The program is no longer there to wait for its guardian, and the shell does not know that.
        let guardian = end == .kill ? try OtherProcess.child(of: session.foreground) : nil
        if let key = end.action.key {
            session.type(key)
        } else if kill(session.foreground, end.action.signal) != 0 {
            throw TestTerminalError(message: "kill: \(errno)")
        }
        let output = try session.outputToPrompt()
        if let guardian {
            try OtherProcess.waitForEnd(of: guardian)
            try session.answer(to: ":")
        }
        #expect(output.hasSuffix("rc=\(end.status)\(ShellSession.prompt)"), "\(output.suffix(200).debugDescription)")
        let problems = TerminalModes(after: session.transcript).problems
        #expect(problems.isEmpty, "after \(bytes) bytes: \(problems)")
    }

    @Test(
        "Case 43: The terminal is as before, at whichever moment the program ends",
        arguments: End.allCases.filter { $0 != .kill })
    func ended(by end: End) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            var moments = SeededGenerator(seed: 43)
            for _ in 0..<20 {
                try Self.end(session, end, after: Int.random(in: 1...4_000, using: &moments))
                #expect(try session.modes() == before)
            }
        }
    }

    @Test("Case 44: The terminal is as before after 50 kills, also in the middle of a frame")
    func killed() async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            var moments = SeededGenerator(seed: 44)
            for number in 0..<50 {
                let moment = Int.random(in: 1...4_000, using: &moments)
                try Self.end(session, .kill, after: moment, isStalled: number % 2 == 1)
                #expect(try session.modes() == before)
            }
        }
    }

    @Test("Case 44: The modes are restored if the program is killed while the screen is not shown")
    func killedWithoutScreen() async throws {
        try await ShellSession.with { session in
            let (program, raw) = try session.startAlone()
            let guardian = try OtherProcess.child(of: program)
            // A job without a shell is not stopped, but it leaves the screen for half a second.
            #expect(kill(program, SIGTSTP) == 0)
            try session.output(upTo: "\u{1B}[?25h")
            let before = try session.modes(otherThan: raw)
            var modes = raw
            #expect(unsafe tcsetattr(session.pty.slave, TCSANOW, &modes) == 0)
            #expect(kill(program, SIGKILL) == 0)
            try OtherProcess.waitForEnd(of: guardian)
            #expect(session.pty.flags == before)
        }
    }

    @Test(
        "A program that a signal ends while the terminal takes nothing leaves the screen when the terminal goes on",
        arguments: [End.terminate, .hangUp, .exit])
    func stalled(end: End) async throws {
        try await ShellSession.with { session in
            let before = try session.modes()
            try Self.end(session, end, after: 3_000, isStalled: true)
            #expect(try session.modes() == before)
        }
    }

    @Test("Case 50: The shell's descriptors stay blocking, during and after the program")
    func blocking() async throws {
        try await ShellSession.with { session in
            try session.start()
            #expect(try (0...2).map { try session.flags(of: $0) & O_NONBLOCK } == [0, 0, 0])
            session.type("q")
            _ = try session.outputToPrompt()
            #expect(try (0...2).map { try session.flags(of: $0) & O_NONBLOCK } == [0, 0, 0])
        }
    }

    @Test("Case 49: A program whose terminal is closed ends within a second, and leaves no process")
    func closed() async throws {
        for isIgnoring in [false, true] {
            try await ShellSession.with { session in
                if isIgnoring { _ = try session.answer(to: "trap '' HUP") }
                let program = try session.start()
                let guardian = try OtherProcess.child(of: program)
                let start = ContinuousClock.now
                session.pty.hangUp()
                try OtherProcess.waitForEnd(of: program)
                try OtherProcess.waitForEnd(of: guardian)
                #expect(ContinuousClock.now - start < .seconds(1))
            }
        }
    }
}

extension ShellSession {
    /// The flags of an open descriptor of the shell.
    fileprivate func flags(of descriptor: Int) throws -> Int32 {
        let text = OtherProcess.text(of: "/proc/\(shell)/fdinfo/\(descriptor)") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("flags:") }
        guard let flags = line?.split(separator: "\t").last.flatMap({ Int32($0, radix: 8) }) else {
            throw TestTerminalError(message: "no flags in \(text.debugDescription)")
        }
        return flags
    }
}

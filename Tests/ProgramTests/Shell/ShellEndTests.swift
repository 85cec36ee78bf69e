import CoreTesting
import Glibc
import TerminalTesting
import Testing

@Suite("The end of the shell", .serialized, .timeLimit(.minutes(10)))
struct ShellEndTests {
    enum End: CaseIterable, CustomTestStringConvertible {
        case key, terminate, hangUp, interrupt, kill

        var testDescription: String { "\(self)" }

        var signal: Int32 {
            switch self {
            case .key: 0
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .interrupt: SIGINT
            case .kill: SIGKILL
            }
        }

        /// What a shell says afterwards. A hang-up ends like a termination.
        var status: Int32 {
            switch self {
            case .key: 0
            case .hangUp: 128 + SIGTERM
            default: 128 + signal
            }
        }
    }

    /// Ends a shell when it has sent some bytes, and compares the terminal with what it was.
    private static func end(_ session: ShellSession, _ end: End, after bytes: Int) throws {
        session.type("$M\n")
        try session.output(upTo: "$M\r\n")
        try session.output(of: bytes)
        // The program is no longer there to wait for its guardian, and bash does not know that.
        let guardian = end == .kill ? try OtherProcess.child(of: session.foreground) : nil
        if end == .key {
            session.type("q")
        } else {
            try #require(kill(session.foreground, end.signal) == 0)
        }
        let output = try session.outputToPrompt()
        if let guardian {
            try OtherProcess.waitForEnd(of: guardian)
            try session.answer(to: ":")
        }
        #expect(
            output.hasSuffix("rc=\(end.status)\(ShellSession.prompt)"),
            "after \(bytes) bytes: \(output.suffix(200).debugDescription)")
        let problems = Self.problems(session)
        #expect(problems.isEmpty, "after \(bytes) bytes: \(problems)")
    }

    /// What of the terminal is not as before. Whole frames turn wrapping and the cursor off again.
    private static func problems(_ session: ShellSession) -> [String] {
        TerminalModes(after: session.transcript).problems.filter { !$0.contains(#/^mode (7|25): /#) }
    }

    @Test(
        "Cases 43 and 44: The terminal is as before, at whichever moment the shell ends", arguments: End.allCases)
    func ended(by end: End) async throws {
        try await ShellHome.with { home in
            try await home.session { session in
                let before = try session.modes()
                var moments = SeededGenerator(seed: 43)
                for _ in 0..<10 {
                    // The first frame alone has some two thousand bytes.
                    try Self.end(session, end, after: Int.random(in: 1...1_500, using: &moments))
                    #expect(try session.modes() == before)
                }
            }
        }
    }

    @Test("The shell leaves nothing on the main screen")
    func quiet() async throws {
        try await ShellHome.with { home in
            try await home.session { session in
                try session.open()
                session.type("q")
                let output = try session.outputToPrompt()
                let end = try #require(output.ranges(of: "\u{1B}[?1049l").last)
                let rest = TerminalOutput(Array(output[end.upperBound...].utf8)).text
                #expect(rest == "rc=0\(ShellSession.prompt)", "\(rest.debugDescription)")
            }
        }
    }

    @Test(
        "Case 46: Ctrl-Z gives the terminal back, and fg shows the same screen again",
        .enabled(if: PyteScreen.isInstalled))
    func stopped() async throws {
        try await ShellHome.with { home in
            try await home.session { session in
                let before = try session.modes()
                try session.open("shell config.settings")
                let wanted = "A PEM file"
                try session.rows { rows in rows.contains { $0.contains(wanted) } }
                for _ in 0..<2 {
                    session.type("\u{1A}")
                    try session.output(upTo: "Stopped")
                    try session.outputToPrompt()
                    let problems = Self.problems(session)
                    #expect(problems.isEmpty, "\(problems)")
                    #expect(try session.modes() == before)
                    session.type("fg\n")
                    try session.output(upTo: "\u{1B}[?1049h")
                    let rows = try session.rows { rows in rows.contains { $0.contains(wanted) } }
                    #expect(rows[0].contains(" 1 Home "), "\(rows)")
                }
                session.type("q")
                #expect(try session.outputToPrompt().hasSuffix("rc=0\(ShellSession.prompt)"))
                #expect(try session.modes() == before)
            }
        }
    }

    @Test("Case 49: A shell whose terminal is closed ends within a second, and leaves no process")
    func closed() async throws {
        try await ShellHome.with { home in
            for isIgnoring in [false, true] {
                try await home.session { session in
                    if isIgnoring { try session.answer(to: "trap '' HUP") }
                    try session.open()
                    let program = session.foreground
                    let guardian = try OtherProcess.child(of: program)
                    let start = ContinuousClock.now
                    session.pty.hangUp()
                    try OtherProcess.waitForEnd(of: program)
                    try OtherProcess.waitForEnd(of: guardian)
                    #expect(ContinuousClock.now - start < .seconds(1), "SIGHUP is ignored: \(isIgnoring)")
                }
            }
        }
    }

    @Test("Case 50: The descriptors of bash stay blocking")
    func blocking() async throws {
        try await ShellHome.with { home in
            try await home.session { session in
                try session.open()
                for descriptor in 0...2 {
                    let text = OtherProcess.text(of: "/proc/\(session.shell)/fdinfo/\(descriptor)") ?? ""
                    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("flags:") })
                    let flags = try #require(line.split(separator: "\t").last.flatMap { Int32($0, radix: 8) })
                    #expect(flags & O_NONBLOCK == 0)
                }
            }
        }
    }
}

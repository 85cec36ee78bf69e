import Glibc
import TerminalTesting
import Testing

@Suite("The size of the shell", .serialized, .timeLimit(.minutes(10)))
struct ShellSizeTests {
    /// Without a size of the terminal, it is 80 by 24.
    private static let sizes: [(columns: UInt16, rows: UInt16)] = [
        (0, 0), (1, 1), (39, 14), (40, 15), (39, 200), (300, 14), (300, 100), (1000, 1), (1, 1000), (80, 24),
    ]

    @Test("Case 39: The shell starts and ends at every size", arguments: sizes.indices)
    func started(index: Int) async throws {
        let (columns, rows) = Self.sizes[index]
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let output = try await home.session { session in
                let before = try session.modes()
                // bash cannot show its prompt in one column.
                session.type("stty cols \(columns) rows \(rows); $M; code=$?; stty cols 80 rows 24; (exit $code)\n")
                try session.output(upTo: "\u{1B}[?1049h")
                let shown = try session.transcript(afterPauseOf: 700)
                for key in ["3", "\r", ":", "\u{1B}", "?", "\u{1B}", "\t", "j", "G"] {
                    session.type(key)
                    try session.transcript(afterPauseOf: 120)
                }
                // On a busy machine an escape and the key after it are read as one key, and something is still open.
                for _ in 0..<2 {
                    session.type("\u{1B}")
                    try session.transcript(afterPauseOf: 400)
                }
                session.type("q")
                let end = try session.outputToPrompt()
                #expect(
                    end.hasSuffix("rc=0\(ShellSession.prompt)"),
                    "\(columns)x\(rows): \(end.suffix(300).debugDescription)")
                #expect(try session.modes() == before)
                return shown
            }
            let isSmall = (1..<40).contains(columns) || (1..<15).contains(rows)
            let text = TerminalOutput(output).text
            #expect(text.contains("Home") != isSmall, "\(columns)x\(rows): \(text.suffix(300))")
        }
    }

    @Test(
        "A window that is too small says so in one line, and a larger one shows the screen",
        .enabled(if: TmuxPane.isInstalled))
    func small() async throws {
        try await ShellHome.with { home in
            let pane = try await home.pane()
            try await pane.screen(with: " 1 Home ")
            try await pane.resize(columns: 39, rows: 14)
            let rows = try await pane.screen { $0.count { !$0.isEmpty } == 1 }
            #expect(rows.joined().contains("40"), "\(rows)")
            try await pane.resize(columns: 40, rows: 15)
            try await pane.screen(with: " 1 Home ")
        }
    }

    @Test(
        "Case 38: After 200 resizes within a second the last size is painted right, and few others",
        .enabled(if: PyteScreen.isInstalled))
    func resized() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let (fresh, shown, count, time) = try await home.session(columns: 90, rows: 30) { session in
                try session.open("shell chat.conversations")
                let fresh = try session.rows(columns: 90, rows: 30) { rows in rows.contains { $0.contains("Hello") } }
                try session.transcript(afterPauseOf: 500)
                let start = ContinuousClock.now
                for number in 0..<200 {
                    var size = winsize(
                        ws_row: UInt16(15 + number % 40), ws_col: UInt16(40 + number % 120), ws_xpixel: 0, ws_ypixel: 0)
                    if number == 199 { (size.ws_col, size.ws_row) = (90, 30) }
                    _ = unsafe ioctl(session.pty.master, UInt(TIOCSWINSZ), &size)
                    // The pace of a window that is dragged; what comes is read meanwhile.
                    try session.transcript(afterPauseOf: 0)
                    poll(nil, 0, 4)
                }
                let time = ContinuousClock.now - start
                let output = try session.transcript(afterPauseOf: 1_000)
                let paints = String(decoding: output, as: UTF8.self).ranges(of: " Home ").count
                // Everything is painted again for the last size, over whatever an emulator of a fixed size made of the others.
                session.type("\u{0C}")
                let shown = try session.rows(columns: 90, rows: 30) { rows in rows.contains { $0.contains("Hello") } }
                return (fresh, shown, paints, time)
            }
            let form = ScreenText(home: home.path)
            #expect(try form.text(shown) == form.text(fresh))
            // One more for the start, and one a frame.
            let limit = 3 + Int(time / .milliseconds(33))
            #expect(count <= limit, "\(count) paints in \(time)")
        }
    }
}

import Glibc
import LoopKit

/// A program with its own terminal and process, and its output as a real terminal emulator shows it.
enum Console {
    static let isInstalled = unsafe system("tmux -V >/dev/null 2>&1") == 0

    struct Failure: Error {
        let message: String
    }

    /// Ends the output; the shown text never contains it.
    static let end: UInt8 = 0x04

    /// Makes the terminal at `path` this process's controlling terminal, its standard input and its outputs.
    static func adopt(_ path: String) throws {
        let descriptor = setsid() > 0 ? unsafe open(path, O_RDWR) : -1
        guard descriptor >= 0 else { throw Failure(message: "no controlling terminal: \(errno)") }
        for defaultValue: Int32 in 0...2 { dup2(descriptor, defaultValue) }
        unsafe setenv("TERM", "xterm-256color", 1)
        // The test does not answer a query for the background colour.
        unsafe setenv("COLORFGBG", "15;0", 1)
        for name in ["NO_COLOR", "TMUX", "COLORTERM"] { unsafe unsetenv(name) }
    }

    /// Signals that the output is complete.
    static func finish() {
        var byte = end
        _ = unsafe write(1, &byte, 1)
    }

    /// The rows that tmux shows after `output`, including those that scrolled away.
    static func screen(_ output: String, columns: Int = 40, rows: Int = 12) throws -> [String] {
        let file = "/tmp/console-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { unsafe unlink(file) }
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard unsafe write(descriptor, output, output.utf8.count) == output.utf8.count else {
            throw Failure(message: "\(file) could not be written: \(errno)")
        }
        close(descriptor)
        let server = "env -u TMUX LC_ALL=C.UTF-8 tmux -u -S \(file).socket"
        defer { unsafe system("\(server) kill-server >/dev/null 2>&1; rm -f \(file).socket") }
        let script =
            "\(server) -f /dev/null new-session -d -x \(columns) -y \(rows) 'cat \(file); tmux wait-for -S shown; "
            + "exec sleep 60' \\; set-option -g status off \\; resize-window -x \(columns) -y \(rows)"
            + " && \(server) wait-for shown && \(server) capture-pane -p -S -"
        let shown = try CommandLineFrontendTests.output(of: script, given: "")
        guard shown.status == 0 else { throw Failure(message: "tmux: \(shown.text)") }
        var lines = shown.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}

/// The other side of a terminal: it types input in advance and reads the output.
final class ConsoleTerminal: Sendable {
    let path: String
    private let master: Int32
    private let slave: Int32

    init(typed: String = "", columns: UInt16 = 40, rows: UInt16 = 12) throws {
        var ends: (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe openpty(&ends.0, &ends.1, nil, nil, &size) == 0, unsafe ttyname_r(ends.1, &name, name.count) == 0
        else { throw Console.Failure(message: "openpty failed with \(errno)") }
        let (master, slave) = ends
        self.master = master
        self.slave = slave
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Without this, the terminal itself would show the input.
        var attributes = termios()
        _ = unsafe tcgetattr(slave, &attributes)
        attributes.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(slave, TCSANOW, &attributes)
        _ = unsafe write(master, typed, typed.utf8.count)
    }

    /// Whether a typed line is still unread; input typed a moment ago may need `limit` milliseconds to arrive.
    func hasTyping(limit: Int32 = 0) -> Bool {
        var ready = pollfd(fd: slave, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&ready, 1, limit) > 0
    }

    deinit {
        close(master)
        close(slave)
    }

    /// The output until the program signals that it is complete.
    ///
    /// - Parameter reply: The text to type once a prompt is shown.
    func output(replying reply: (prompt: String, typed: String)? = nil) async throws -> String {
        try await onOwnThread { [master] in Self.read(master, reply) }
    }

    private static func read(_ master: Int32, _ reply: (prompt: String, typed: String)?) -> String {
        var bytes: [UInt8] = []
        var reply = reply
        while true {
            var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard unsafe poll(&ready, 1, 30_000) == 1, unsafe Glibc.read(master, &byte, 1) == 1, byte != Console.end
            else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
            if let (prompt, typed) = reply, bytes.reversed().starts(with: prompt.utf8.reversed()) {
                _ = unsafe write(master, typed, typed.utf8.count)
                reply = nil
            }
        }
    }
}

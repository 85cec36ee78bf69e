import Glibc
import LoopKit

@testable import TerminalKit

/// A pane of a separate tmux server: a real terminal whose screen the test reads. Only a wait runs in it.
final class TmuxPane: Sendable {
    struct Failure: Error {
        let message: String
    }

    static let isInstalled = unsafe system("tmux -V >/dev/null 2>&1") == 0

    /// The server's socket.
    private let name: String
    /// The terminal of the pane.
    let path: String
    /// The same, for writing.
    let terminal: Terminal

    init(columns: Int = 60, rows: Int = 15) throws {
        name = "/tmp/martlet-tmux-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        // Without echo, and ended by its owner.
        path = try Self.run(
            name,
            "-f /dev/null new-session -d -x \(columns) -y \(rows) 'stty -echo; exec sleep 120' \\; "
                + "set-option -g status off \\; resize-window -x \(columns) -y \(rows) \\; "
                + "display-message -p '#{pane_tty}'")
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(message: "\(path) could not be opened: \(errno)") }
        terminal = Terminal(fileDescriptor: descriptor)
    }

    deinit {
        close(terminal.fileDescriptor)
        unsafe system("\(Self.command(name)) kill-server >/dev/null 2>&1; rm -f \(name)")
    }

    /// The rows that are not empty, including those that scrolled away.
    func lines() throws -> [String] {
        try Self.run(name, "capture-pane -p -S -").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// The visible rows.
    func screen() throws -> [String] {
        try Self.run(name, "capture-pane -p").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Writes `output` and returns the visible rows, without spaces at their ends, when tmux has read all of it.
    func screen(after output: String) async throws -> [String] {
        let mark = "\(UInt32.random(in: 0...UInt32.max))"
        // On a thread of its own, because a terminal takes a few kilobytes until they are read.
        let terminal = terminal
        try await onOwnThread { terminal.write("\(output)\u{1B}]2;\(mark)\u{1B}\\") }
        for _ in 0..<2_000 {
            if try Self.run(name, "display-message -p '#{pane_title}'") == mark { return try screen() }
            _ = try await onOwnThread { poll(nil, 0, 5) }
        }
        throw Failure(message: "the output was not read")
    }

    func press(_ keys: String) throws { _ = try Self.run(name, "send-keys \(keys)") }

    /// Pastes like a terminal, with marks if they were requested.
    func paste(_ text: String) throws {
        _ = try Self.run(name, "set-buffer -- '\(text)' \\; paste-buffer -p -r")
    }

    /// Resizes the window, and waits until the terminal knows the size, a moment later.
    func resize(columns: Int, rows: Int) async throws {
        _ = try Self.run(name, "resize-window -x \(columns) -y \(rows)")
        let size = TerminalSize(columns: columns, rows: rows)
        for _ in 0..<400 where terminal.size() != size { _ = try await onOwnThread { poll(nil, 0, 25) } }
        guard terminal.size() == size else { throw Failure(message: "the size stayed \(terminal.size())") }
    }

    /// Waits until the screen is as expected, and returns it; fails with the current screen if that does not happen in
    /// time.
    func lines(until isWanted: ([String]) -> Bool) async throws -> [String] {
        var lines: [String] = []
        for _ in 0..<400 {
            lines = try self.lines()
            if isWanted(lines) { return lines }
            _ = try await onOwnThread { poll(nil, 0, 25) }
        }
        throw Failure(message: "the screen stayed \(lines)")
    }

    func lines(until wanted: [String]) async throws -> [String] { try await lines { $0 == wanted } }

    private static func command(_ name: String) -> String { "env -u TMUX LC_ALL=C.UTF-8 tmux -u -S \(name)" }

    private static func run(_ name: String, _ words: String) throws -> String {
        guard let pipe = unsafe popen("\(command(name)) \(words) 2>&1", "r") else {
            throw Failure(message: "tmux could not be run: \(errno)")
        }
        var bytes: [UInt8] = []
        var byte = unsafe fgetc(pipe)
        while byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
            byte = unsafe fgetc(pipe)
        }
        var text = String(decoding: bytes, as: UTF8.self)
        guard unsafe pclose(pipe) == 0 else { throw Failure(message: "tmux \(words): \(text)") }
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}

public import Glibc
import LoopKit
public import TerminalKit

/// A pane of a separate tmux server: a real terminal whose screen the test reads.
public final class TmuxPane: Sendable {
    /// Whether there is tmux.
    public static let isInstalled = unsafe system("tmux -V >/dev/null 2>&1") == 0

    /// The server's socket.
    private let name: String
    /// The terminal of the pane.
    public let path: String
    /// The same, for writing.
    public let terminal: Terminal

    /// What runs in a pane in which only the test writes: a wait without echo, ended by its owner.
    private static let wait = "stty -echo; exec sleep 120"

    /// A pane of a size, in which a command of the shell runs.
    ///
    /// - Parameter command: without single quotes; nil for a pane in which only the test writes.
    public init(columns: Int = 60, rows: Int = 15, running command: String? = nil) throws {
        name = "/tmp/martlet-tmux-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        path = try Self.run(
            name,
            "-f /dev/null new-session -d -x \(columns) -y \(rows) '\(command ?? Self.wait)' \\; "
                + "set-option -g status off \\; resize-window -x \(columns) -y \(rows) \\; "
                + "display-message -p '#{pane_tty}'")
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestTerminalError(message: "\(path) could not be opened: \(errno)") }
        terminal = Terminal(fileDescriptor: descriptor)
    }

    deinit {
        close(terminal.fileDescriptor)
        unsafe system("\(Self.command(name)) kill-server >/dev/null 2>&1; rm -f \(name)")
    }

    /// The rows that are not empty, including those that scrolled away.
    public func lines() throws -> [String] {
        try Self.run(name, "capture-pane -p -S -").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// The visible rows.
    public func screen() throws -> [String] {
        try Self.run(name, "capture-pane -p").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Writes `output` and returns the visible rows, without spaces at their ends, when tmux has read all of it.
    public func screen(after output: String) async throws -> [String] {
        let mark = "\(UInt32.random(in: 0...UInt32.max))"
        // On a thread of its own, because a terminal takes a few kilobytes until they are read.
        let terminal = terminal
        try await onOwnThread { writeAll("\(output)\u{1B}]2;\(mark)\u{1B}\\", to: terminal.fileDescriptor) }
        for _ in 0..<2_000 {
            if try Self.run(name, "display-message -p '#{pane_title}'") == mark { return try screen() }
            _ = try await onOwnThread { poll(nil, 0, 5) }
        }
        throw TestTerminalError(message: "the output was not read")
    }

    /// Presses keys in the words of tmux, such as `Enter`.
    public func press(_ keys: String) throws { _ = try Self.run(name, "send-keys \(keys)") }

    /// Pastes like a terminal, with marks if they were requested.
    public func paste(_ text: String) throws {
        _ = try Self.run(name, "set-buffer -- '\(text)' \\; paste-buffer -p -r")
    }

    /// Resizes the window, and waits until the terminal knows the size, a moment later.
    public func resize(columns: Int, rows: Int) async throws {
        _ = try Self.run(name, "resize-window -x \(columns) -y \(rows)")
        let size = TerminalSize(columns: columns, rows: rows)
        for _ in 0..<400 where terminal.size() != size { _ = try await onOwnThread { poll(nil, 0, 25) } }
        guard terminal.size() == size else { throw TestTerminalError(message: "the size stayed \(terminal.size())") }
    }

    /// The process that runs in the pane.
    public func process() throws -> pid_t {
        let text = try Self.run(name, "display-message -p '#{pane_pid}'")
        guard let process = pid_t(text) else { throw TestTerminalError(message: "the pane has no process: \(text)") }
        return process
    }

    /// Waits until the visible rows are as expected, and returns them.
    @discardableResult
    public func screen(until isWanted: ([String]) -> Bool) async throws -> [String] {
        try await rows({ try screen() }, until: isWanted)
    }

    /// Waits until the screen is as expected, and returns it; fails with the current screen if that does not happen in
    /// time.
    public func lines(until isWanted: ([String]) -> Bool) async throws -> [String] {
        try await rows({ try self.lines() }, until: isWanted)
    }

    private func rows(_ read: () throws -> [String], until isWanted: ([String]) -> Bool) async throws -> [String] {
        var rows: [String] = []
        for _ in 0..<400 {
            rows = try read()
            if isWanted(rows) { return rows }
            _ = try await onOwnThread { poll(nil, 0, 25) }
        }
        throw TestTerminalError(message: "the screen stayed \(rows.joined(separator: "\n"))")
    }

    /// Waits until the rows that are not empty are these.
    public func lines(until wanted: [String]) async throws -> [String] { try await lines { $0 == wanted } }

    private static func command(_ name: String) -> String { "env -u TMUX LC_ALL=C.UTF-8 tmux -u -S \(name)" }

    private static func run(_ name: String, _ words: String) throws -> String {
        guard let pipe = unsafe popen("\(command(name)) \(words) 2>&1", "r") else {
            throw TestTerminalError(message: "tmux could not be run: \(errno)")
        }
        var bytes: [UInt8] = []
        var byte = unsafe fgetc(pipe)
        while byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
            byte = unsafe fgetc(pipe)
        }
        var text = String(decoding: bytes, as: UTF8.self)
        guard unsafe pclose(pipe) == 0 else { throw TestTerminalError(message: "tmux \(words): \(text)") }
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}

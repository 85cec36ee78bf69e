public import Glibc
import LoopKit
import Synchronization

/// An interactive bash with job control on a real terminal, whose other side the test holds. Its waits block, so tests
/// use it on a thread of their own.
public final class ShellSession: Sendable {
    /// What the shell prints after the exit status when it waits for a command.
    public static let prompt = " ready> "

    /// The terminal.
    public let pty: PseudoTerminal
    /// The process of bash.
    public let shell: pid_t
    /// Everything that the terminal got, and how much of it the test has looked at.
    private let received = Mutex<(bytes: [UInt8], seen: Int)>(([], 0))

    /// Runs `script` in a new session, on a thread that may block.
    ///
    /// - Parameter environment: the variables besides those that this process has and bash needs.
    public static func with<Value: Sendable>(
        columns: UInt16 = 80, rows: UInt16 = 24, environment: [String: String] = [:],
        _ script: @escaping @Sendable (ShellSession) throws -> Value
    ) async throws -> Value {
        let thread = try OwnThreadExecutor()
        defer { thread.end() }
        return try await withTaskExecutorPreference(thread) {
            try await Self.run(columns, rows, environment, script)
        }
    }

    @concurrent private static func run<Value>(
        _ columns: UInt16, _ rows: UInt16, _ environment: [String: String],
        _ script: @Sendable (ShellSession) throws -> Value
    ) async throws -> Value {
        let session = try ShellSession(try PseudoTerminal(columns: columns, rows: rows), environment)
        defer { session.end() }
        _ = try session.output(upTo: prompt)
        // The marks of bash's own line editor are not those of the program.
        _ = try session.answer(to: "bind 'set enable-bracketed-paste off'; ulimit -c 0")
        return try script(session)
    }

    private init(_ pty: PseudoTerminal, _ variables: [String: String]) throws {
        self.pty = pty
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_addopen(&actions, 0, pty.path, O_RDWR | O_NOCTTY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        // The thread of the test gets no signals, but what it starts does.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let names = ["PATH", "HOME", "LD_LIBRARY_PATH"]
        var settings = [
            "TERM": "xterm-256color", "PS1": "rc=$?\(Self.prompt)", "SWIFT_BACKTRACE": "enable=no", "HISTFILE": "",
        ]
        for name in names { settings[name] = unsafe getenv(name).map { unsafe String(cString: $0) } }
        settings.merge(variables) { $1 }
        let words = ["setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment = unsafe settings.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            unsafe (arguments + environment).forEach { unsafe free($0) }
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        var process = pid_t()
        let failure = unsafe posix_spawnp(&process, "setsid", &actions, &attributes, &arguments, &environment)
        guard failure == 0 else { throw TestTerminalError(message: "bash could not be started: \(failure)") }
        shell = process
    }

    private func end() {
        pty.hangUp()
        kill(shell, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(shell, &status, 0) < 0 && errno == EINTR {}
    }

    // MARK: Typing and reading

    /// Types a text.
    public func type(_ text: String) { pty.type(text) }

    /// What the terminal got since the last look, up to and including `marker`.
    @discardableResult
    public func output(upTo marker: String) throws -> String {
        let wanted = Array(marker.utf8)
        return try output { bytes in Self.end(of: wanted, in: bytes) }
    }

    /// The next `count` bytes.
    @discardableResult
    public func output(of count: Int) throws -> String {
        try output { $0.count >= count ? count : nil }
    }

    /// Everything until the next prompt.
    @discardableResult
    public func outputToPrompt() throws -> String { try output(upTo: Self.prompt) }

    /// Runs a command of the shell; its output with the next prompt.
    @discardableResult
    public func answer(to command: String) throws -> String {
        type("\(command)\n")
        try output(upTo: "\n")
        return try outputToPrompt()
    }

    /// The modes of the terminal as `stty -g` says them.
    public func modes() throws -> String {
        let answer = try answer(to: "stty -g")
        guard let end = answer.firstIndex(of: "\r\n"), answer[..<end].contains(":") else {
            throw TestTerminalError(message: "stty says \(answer.debugDescription)")
        }
        return String(answer[..<end])
    }

    /// All output of the terminal so far that the test has looked at.
    public var transcript: [UInt8] { received.withLock { Array($0.bytes.prefix($0.seen)) } }

    /// Looks at what comes, for as long as something comes within the pause.
    ///
    /// - Returns: all output of the terminal so far.
    @discardableResult
    public func transcript(afterPauseOf milliseconds: Int32) throws -> [UInt8] {
        while try receive(within: milliseconds) {}
        return received.withLock { received in
            received.seen = received.bytes.count
            return received.bytes
        }
    }

    private func output(_ end: ([UInt8].SubSequence) -> Int?) throws -> String {
        while true {
            let found: String? = received.withLock { received in
                let new = received.bytes[received.seen...]
                guard let count = end(new) else { return nil }
                received.seen += count
                return String(decoding: new.prefix(count), as: UTF8.self)
            }
            if let found { return found }
            guard try receive(within: 30_000) else { throw missing() }
        }
    }

    /// Reads what is there, or comes in time; false if nothing does.
    private func receive(within milliseconds: Int32) throws -> Bool {
        var ready = pollfd(fd: pty.master, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, milliseconds) == 1 else { return false }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(pty.master, &chunk, chunk.count)
        guard count > 0 else { throw missing() }
        received.withLock { $0.bytes += chunk.prefix(count) }
        return true
    }

    private func missing() -> TestTerminalError {
        let shown = received.withLock { String(decoding: $0.bytes.suffix(600), as: UTF8.self) }
        return TestTerminalError(message: "the awaited output did not come after \(shown.debugDescription)")
    }

    private static func end(of wanted: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = wanted.first, bytes.count >= wanted.count else { return nil }
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: first) {
            if bytes[found...].starts(with: wanted) { return found + wanted.count - bytes.startIndex }
            start = found + 1
        }
        return nil
    }

    // MARK: Programs

    /// Waits until the terminal has other modes, and returns them.
    public func modes(otherThan modes: termios) throws -> [tcflag_t] {
        for _ in 0..<20_000 {
            let flags = pty.flags
            if flags != [modes.c_lflag, modes.c_iflag, modes.c_oflag] { return flags }
            poll(nil, 0, 1)
        }
        throw TestTerminalError(message: "the terminal keeps its modes")
    }

    /// The group of processes that has the terminal.
    public var foreground: pid_t { tcgetpgrp(pty.master) }

    /// Waits until the shell says that its job is stopped; what the terminal got in the meantime.
    public func outputUntilStopped() throws -> String {
        var output = ""
        for _ in 0..<2_000 {
            let answer = try answer(to: "jobs")
            output += answer
            if answer.contains("Stopped") { return output }
            poll(nil, 0, 10)
        }
        throw TestTerminalError(message: "the job was not stopped again: \(output.suffix(300))")
    }

    /// Waits until a group of processes has the terminal.
    public func wait(forForeground group: pid_t) throws {
        for _ in 0..<20_000 {
            if foreground == group { return }
            poll(nil, 0, 1)
        }
        throw TestTerminalError(message: "the terminal belongs to \(foreground) instead of \(group)")
    }

    /// Waits until the terminal's side holds all that it can. Of a large frame the program then has a rest.
    public func waitForStall() throws {
        var count: Int32 = 0
        for _ in 0..<20_000 {
            if unsafe ioctl(pty.master, UInt(FIONREAD), &count) == 0, count >= 4_000 { return }
            poll(nil, 0, 1)
        }
        throw TestTerminalError(message: "only \(count) bytes wait to be read")
    }
}

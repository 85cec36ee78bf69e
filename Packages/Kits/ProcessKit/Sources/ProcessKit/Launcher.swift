import CProcessKit
import Capabilities
import Glibc
import LoopKit
import Synchronization

/// Starts child processes. One thread watches all of them; it starts with the first child and ends with the launcher.
///
///     let launcher = Launcher()
///     let result = try await launcher.run(
///         Command("uname", ["-r"], environment: ["PATH": "/usr/bin:/bin"]), timeout: .seconds(5))
public final class Launcher: Sendable {
    private let loop = EventLoop()
    private let isStandalone: Bool

    /// A launcher that starts a child only when a caller is bound.
    public convenience init() {
        self.init(isStandalone: false)
    }

    private init(isStandalone: Bool) {
        self.isStandalone = isStandalone
    }

    /// A launcher for programs that have no callers, such as tests and benchmarks.
    public static var standalone: Launcher { Launcher(isStandalone: true) }

    deinit {
        loop.stop()
    }

    /// Runs tasks on the thread that watches the children, so that a task which waits for one continues without a change
    /// of threads. Such tasks must neither block nor compute for long, because all children wait meanwhile.
    public var executor: any TaskExecutor { loop.executor }

    private func requireCaller(for command: Command) throws(AccessFailure) {
        if !isStandalone { try Caller.grantHere.check(.child(command.executable)) }
    }

    /// Starts a child and passes it to `body`. Before it returns or throws, it ends the child and its group.
    ///
    /// When `body` ends or the task is cancelled, a running child is asked to terminate, and killed after `grace`.
    /// Throws `ProcessError` when the child cannot be started, and the errors of `body`.
    public func withChild<Result>(
        _ command: Command, grace: Duration = .seconds(2), isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try requireCaller(for: command)
        try Task.checkCancellation()
        // Start the thread before the child, so that a failure leaves no child behind.
        do throws(LoopError) { try loop.start() } catch { throw ProcessError.watching(error) }
        // A write to a child that no longer reads must be an error and must not end this process. A child that ended
        // must stay a zombie until its exit status is read.
        processkit_settle_signals()
        let span = command.span ?? ProcessSpan(of: command.executable)
        let child: ChildProcess
        do throws(ProcessError) { child = try ChildProcess(try Spawn(command), command, loop: loop) } catch {
            span.fail(error)
            throw error
        }
        span.started(child.processID)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            if case .bytes(let bytes) = command.input { group.addTask { await child.feed(bytes) } }
            if let tail = child.tailPipe { group.addTask { await tail.drain() } }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(
                    try await withTaskCancellationHandler {
                        try await body(child)
                    } onCancel: {
                        child.send(.terminate)
                    })
            } catch {
                result = .failure(error)
            }
            let ended = await child.end(grace: grace)
            span.end(ended.status, wasStopped: ended.wasStopped, messages: child.errorTail)
            return try result.get()
        }
    }
}

extension Launcher {
    /// Runs an interactive program in the terminal, such as an editor, and waits for its end without a time limit.
    ///
    /// The program owns the terminal: Ctrl-C reaches only the program. When Ctrl-Z stops it, this process stops too,
    /// until the shell continues both. Without a terminal it just shares the standard streams. When the task is
    /// cancelled, the program is asked to terminate.
    public func runInForeground(_ command: Command) async throws -> ChildStatus {
        var command = command
        (command.input, command.output, command.errors) = (.inherit, .inherit, .inherit)
        // The program ends with its terminal.
        (command.endsWithParent, command.endsDescendants) = (false, false)
        try requireCaller(for: command)
        try Task.checkCancellation()
        processkit_settle_signals()
        let terminal = Terminal()
        let span = ProcessSpan(of: command.executable)
        let spawn: Spawn
        do throws(ProcessError) {
            spawn = try Spawn(command, terminal: terminal.descriptor)
        } catch {
            // The failed program may already own the terminal.
            terminal.takeBack()
            span.fail(error)
            throw error
        }
        span.started(spawn.process)
        let foreground = ForegroundChild(spawn, terminal)
        let status = try await withTaskCancellationHandler {
            do throws(LoopError) {
                return try await onOwnThread { foreground.wait() }
            } catch {
                // Without a thread that waits for it, the child must not continue. After the kill, this wait is short.
                foreground.send(.kill)
                _ = foreground.wait()
                throw ProcessError.watching(error)
            }
        } onCancel: {
            foreground.send(.terminate)
        }
        span.end(status, wasStopped: Task.isCancelled)
        return status
    }
}

extension Launcher {
    /// The result of a command.
    public struct Completion: Sendable {
        /// How it ended.
        public let status: ChildStatus
        /// All of its standard output.
        public let output: [UInt8]
        /// The end of its standard error.
        public let errors: [UInt8]
    }

    /// Runs a command to its end and collects its output.
    ///
    /// Returns when the command itself ends. Processes that it started in its group are then killed. Throws
    /// `.outputTooLarge`, or `.timedOut` after `timeout`. In both cases the group is ended within `grace`.
    public func run(
        _ command: Command, outputLimit: Int = 1 << 24, timeout: Duration, grace: Duration = .seconds(2)
    ) async throws -> Completion {
        var command = command
        command.output = .pipe
        if case .pipe = command.errors { command.errors = .tail() }
        let completion = try await withTimeLimit(timeout, on: ContinuousClock()) { [command] in
            try await self.withChild(command, grace: grace) { try await $0.completion(outputLimit: outputLimit) }
        }
        guard let completion else {
            throw ProcessError(.timedOut, "\(command.executable) took longer than \(timeout) and was stopped")
        }
        return completion
    }
}

/// A child that owns the terminal until it ends.
final class ForegroundChild: Sendable {
    private let process: Int32
    private let pidfd: Int32
    private let terminal: Terminal
    private let isReaped = Mutex(false)

    init(_ spawn: Spawn, _ terminal: Terminal) {
        process = spawn.process
        pidfd = spawn.pidfd
        self.terminal = terminal
    }

    deinit { close(pidfd) }

    /// Blocks until the child has ended. Handles a stopped child as a shell does.
    func wait() -> ChildStatus {
        var state = processkit_state()
        while true {
            let result = unsafe processkit_wait(pidfd, WEXITED | WSTOPPED | WNOWAIT, &state)
            if result == -EINTR { continue }
            guard result == 0, Int(state.code) == CLD_STOPPED else { break }
            // Consumes this event, so that the next call waits for a new one.
            _ = unsafe processkit_wait(pidfd, WSTOPPED | WNOHANG, &state)
            terminal.takeBack()
            if Self.hasShell { kill(0, SIGSTOP) }
            terminal.give(to: process)
            kill(-process, SIGCONT)
        }
        terminal.takeBack()
        isReaped.withLock { isReaped in
            _ = unsafe processkit_wait(pidfd, WEXITED, &state)
            isReaped = true
        }
        return Int(state.code) == CLD_EXITED ? .exited(state.status) : .signalled(state.status)
    }

    /// Sends a signal to the child's group and continues it if it is stopped.
    func send(_ signal: Signal) {
        isReaped.withLock { isReaped in
            guard !isReaped else { return }
            kill(-process, signal.rawValue)
            kill(-process, SIGCONT)
        }
    }

    // Without a parent shell with job control, nothing would continue a stopped process.
    private static var hasShell: Bool {
        getsid(getppid()) == getsid(0) && getpgid(getppid()) != getpgrp()
    }
}

/// The controlling terminal, while this process is in its foreground.
final class Terminal: Sendable {
    /// Nil if there is no terminal, or if another job is in the foreground.
    let descriptor: Int32?

    init() {
        let opened = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        if opened >= 0, tcgetpgrp(opened) == getpgrp() {
            descriptor = opened
        } else {
            if opened >= 0 { close(opened) }
            descriptor = nil
        }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// Makes this process's group the foreground group.
    func takeBack() {
        give(to: getpgrp())
    }

    /// Makes a group the foreground group.
    func give(to group: Int32) {
        guard let descriptor else { return }
        // "If tcsetpgrp() is called by a member of a background process group in its session, and the calling process
        // is not blocking or ignoring SIGTTOU, a SIGTTOU signal is sent to all members" (tcsetpgrp(3)).
        var (blocked, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTTOU)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
        tcsetpgrp(descriptor, group)
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    }
}

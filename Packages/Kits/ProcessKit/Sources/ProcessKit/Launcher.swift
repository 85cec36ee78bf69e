import CProcessKit
import Capabilities
import Glibc
import LoopKit
import Synchronization

/// Starts child processes and owns the one thread that watches them all, from the first child to its own end.
///
///     let launcher = Launcher()
///     let result = try await launcher.run(
///         Command("uname", ["-r"], environment: ["PATH": "/usr/bin:/bin"]), timeout: .seconds(5))
public final class Launcher: Sendable {
    private let loop = EventLoop()
    private let isStandalone: Bool

    /// A launcher without a thread; that starts with the first child. It starts nothing for nobody: a caller has to be bound.
    public convenience init() {
        self.init(isStandalone: false)
    }

    private init(isStandalone: Bool) {
        self.isStandalone = isStandalone
    }

    /// One for programs that have no callers, such as tests and benchmarks.
    public static var standalone: Launcher { Launcher(isStandalone: true) }

    deinit {
        loop.stop()
    }

    func requireCaller(for command: Command) throws(AccessFailure) {
        if !isStandalone { try Caller.grantHere.check(.child(command.executable)) }
    }

    /// Runs `body` with a running child, and ends the child and its group before it returns, however `body` ends.
    ///
    /// A child still running then is asked to terminate and killed after `grace`, and so it is as soon as the task is
    /// cancelled. Throws `ProcessError` when the child cannot be started, and what `body` throws.
    public func withChild<Result>(
        _ command: Command, grace: Duration = .seconds(2), isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try requireCaller(for: command)
        try Task.checkCancellation()
        // Before there is a child, so that a thread that cannot be had costs nothing.
        do throws(LoopError) { try loop.start() } catch { throw ProcessError.watching(error) }
        // A child that stops reading must be an error of the write, not the end of this process, and one that ends must
        // be there to be asked how.
        processkit_settle_signals()
        let child = try ChildProcess(try Spawn(command), command, loop: loop)
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
            await child.end(grace: grace)
            return try result.get()
        }
    }
}

extension Launcher {
    /// Runs a program for the person at the terminal, such as an editor, and waits for its end without a limit.
    ///
    /// The program has the terminal to itself: Ctrl-C reaches only it, and when it is stopped with Ctrl-Z this process
    /// stops too, until the shell continues both. Without a terminal it just shares the standard streams. When the task
    /// is cancelled the program is asked to terminate.
    public func runInForeground(_ command: Command) async throws -> ChildStatus {
        var command = command
        (command.input, command.output, command.errors) = (.inherit, .inherit, .inherit)
        // It ends with its terminal.
        (command.endsWithParent, command.endsDescendants) = (false, false)
        try requireCaller(for: command)
        try Task.checkCancellation()
        processkit_settle_signals()
        let terminal = Terminal()
        let spawn: Spawn
        do throws(ProcessError) {
            spawn = try Spawn(command, terminal: terminal.descriptor)
        } catch {
            // The program that could not start may have been given the terminal already.
            terminal.takeBack()
            throw error
        }
        let foreground = ForegroundChild(spawn, terminal)
        return try await withTaskCancellationHandler {
            do throws(LoopError) {
                return try await onOwnThread { foreground.wait() }
            } catch {
                // Without a thread to wait on, the child must not stay; a killed one is waited for in no time.
                foreground.send(.kill)
                _ = foreground.wait()
                throw ProcessError.watching(error)
            }
        } onCancel: {
            foreground.send(.terminate)
        }
    }
}

extension Launcher {
    /// What a command left behind.
    public struct Completion: Sendable {
        /// How it ended.
        public let status: ChildStatus
        /// All of its results.
        public let output: [UInt8]
        /// The last of its messages.
        public let errors: [UInt8]
    }

    /// Runs a command to its end and collects its results.
    ///
    /// It is over when the command itself ends, even if something that it started still holds the pipe; that is killed.
    /// Throws `.outputTooLarge`, or `.timedOut` after `timeout`; the group is ended in both cases, within `grace`.
    public func run(
        _ command: Command, outputLimit: Int = 1 << 24, timeout: Duration, grace: Duration = .seconds(2)
    ) async throws -> Completion {
        var command = command
        command.output = .pipe
        if case .pipe = command.errors { command.errors = .tail() }
        return try await withThrowingTaskGroup(of: Completion?.self) { [command] group in
            group.addTask {
                try await self.withChild(command, grace: grace) { try await $0.completion(outputLimit: outputLimit) }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let completion = try await group.next() ?? nil else {
                throw ProcessError(.timedOut, "\(command.executable) took longer than \(timeout) and was stopped")
            }
            return completion
        }
    }
}

extension ChildProcess {
    fileprivate func completion(outputLimit: Int) async throws -> Launcher.Completion {
        let output = try output
        let status = try await withThrowingTaskGroup(of: ChildStatus?.self) { group in
            group.addTask {
                try await output.collect(limit: outputLimit)
                return nil
            }
            group.addTask { try await self.exitStatus() }
            defer { group.cancelAll() }
            while let finished = try await group.next() {
                if let status = finished { return status }
            }
            throw CancellationError()
        }
        // Whoever else still holds the pipe must not add to the output after this.
        send(.kill)
        return Launcher.Completion(
            status: status, output: try output.takeRest(limit: outputLimit), errors: errorTail)
    }
}

/// A child that has the terminal to itself until it ends.
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

    /// Blocks until the child has ended, and does for a stopped one what a shell does.
    func wait() -> ChildStatus {
        var state = processkit_state()
        while true {
            let result = unsafe processkit_wait(pidfd, WEXITED | WSTOPPED | WNOWAIT, &state)
            if result == -EINTR { continue }
            guard result == 0, Int(state.code) == CLD_STOPPED else { break }
            // Takes the report of the stop, so that the next wait is for something new.
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

    /// Sends a signal to the child's group, also when it is stopped.
    func send(_ signal: Signal) {
        isReaped.withLock { isReaped in
            guard !isReaped else { return }
            kill(-process, signal.rawValue)
            kill(-process, SIGCONT)
        }
    }

    // Without a shell above that controls jobs, nobody would continue a stopped process.
    private static var hasShell: Bool {
        getsid(getppid()) == getsid(0) && getpgid(getppid()) != getpgrp()
    }
}

/// The controlling terminal, while this process is in its foreground.
final class Terminal: Sendable {
    /// Nil where there is no terminal, or where another job has it.
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

    /// Makes this process's group the one that the keyboard reaches.
    func takeBack() {
        give(to: getpgrp())
    }

    /// Makes a group the one that the keyboard reaches.
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

import CProcessKit
import Glibc
import Synchronization

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

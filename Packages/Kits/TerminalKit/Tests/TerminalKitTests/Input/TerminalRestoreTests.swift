import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

/// Each question is asked by a separate process that ends in the middle of it; serialized, because waiting for such a
/// process blocks a thread of the shared pool.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TerminalRestoreTests {
    /// Makes the terminal at `path` the controlling one of this process, so that `/dev/tty` opens it.
    static func adopt(_ path: String) throws {
        guard setsid() > 0, unsafe open(path, O_RDWR) >= 0 else {
            throw TestTerminalError(message: "no controlling terminal: \(errno)")
        }
    }

    static func ask() async throws -> [UInt8]? {
        try await TerminalInput().readSecret(prompt: StyledText("process \(getpid()) asks: "))
    }

    /// Waits for the signal that ends this process, whatever the body did: the body may learn that the terminal was
    /// restored before the signal has ended the process, and its error would end the process differently.
    static func untilKilled(_ body: () async throws -> Void) async {
        do { try await body() } catch {}
        while true { pause() }
    }

    /// The process in the prompt.
    static func asker(_ prompt: String) throws -> pid_t {
        guard let pid = prompt.split(separator: " ").compactMap({ pid_t($0) }).first else {
            throw TestTerminalError(message: "no process in \(prompt.debugDescription)")
        }
        return pid
    }

    @Test("A secret from the controlling terminal is not shown, and the terminal is restored")
    func normalEnd() async throws {
        let pty = try PseudoTerminal()
        let before = pty.flags
        let shown = try Companion {
            let prompt = try pty.blockingOutput(upTo: "asks: ")
            #expect(pty.flags != before)
            pty.type("hunter2\n")
            return prompt + (try pty.blockingOutput(upTo: "\n"))
        }
        await #expect(processExitsWith: .success) { [path = pty.path as String] in
            try Self.adopt(path)
            #expect(try await Self.ask() == Array("hunter2".utf8))
        }
        #expect(try !shown.value().contains("hunter2"))
        #expect(pty.flags == before)
    }

    @Test("A terminated process restores the terminal")
    func terminated() async throws { try await die(by: SIGTERM) }

    @Test("A hung-up process restores the terminal")
    func hungUp() async throws { try await die(by: SIGHUP) }

    @Test("A process interrupted from elsewhere restores the terminal")
    func interrupted() async throws { try await die(by: SIGINT) }

    @Test("A process told to quit restores the terminal")
    func quit() async throws { try await die(by: SIGQUIT) }

    private func die(by signal: Int32) async throws {
        let pty = try PseudoTerminal()
        let before = pty.flags
        let kill = try Companion {
            let prompt = try pty.blockingOutput(upTo: "asks: ")
            let pid = try Self.asker(prompt)
            #expect(pty.flags != before)
            guard Glibc.kill(pid, signal) == 0 else { throw TestTerminalError(message: "kill: \(errno)") }
            return prompt
        }
        await #expect(processExitsWith: .signal(signal)) { [path = pty.path as String] in
            try Self.adopt(path)
            await Self.untilKilled { _ = try await Self.ask() }
        }
        _ = try kill.value()
        #expect(pty.flags == before)
    }

    @Test("A process that traps in Swift restores the terminal")
    func trapped() async throws {
        #if arch(arm64)
            let signal = SIGTRAP
        #else
            let signal = SIGILL
        #endif
        let pty = try PseudoTerminal()
        let command = try PseudoTerminal()
        let before = pty.flags
        let go = try Companion {
            let prompt = try pty.blockingOutput(upTo: "asks: ")
            #expect(pty.flags != before)
            command.type("now\n")
            return prompt
        }
        await #expect(processExitsWith: .signal(signal)) {
            [path = pty.path as String, commands = command.path as String] in
            try Self.adopt(path)
            async let answer = Self.ask()
            let descriptor = unsafe open(commands, O_RDONLY | O_NOCTTY)
            var byte: UInt8 = 0
            let count = unsafe read(descriptor, &byte, 1)
            let numbers = [Int]()
            print(numbers[count])
            _ = try await answer
        }
        _ = try go.value()
        #expect(pty.flags == before)
    }

    /// Fills the stack of the calling thread, in a form that no optimiser turns into a loop.
    private static func overflow(_ depth: Int) -> [Int] { depth == .max ? [] : overflow(depth + 1) + [depth] }

    @Test("A process with a full stack restores the terminal")
    func stackOverflow() async throws {
        let pty = try PseudoTerminal()
        let before = pty.flags
        await #expect(processExitsWith: .signal(SIGSEGV)) { [path = pty.path as String] in
            try Self.adopt(path)
            let silence = TypingSilence()
            silence.begin()
            print(Self.overflow(getpid() > 0 ? 0 : 1))
            silence.end()
        }
        #expect(pty.flags == before)
    }

    @Test("A process in the background leaves the terminal to its job")
    func background() async throws {
        let pty = try PseudoTerminal()
        await #expect(processExitsWith: .success) { [path = pty.path as String] in
            try Self.adopt(path)
            // The tests' own runner must not be stopped by what a shell does.
            signal(SIGTTOU, SIG_IGN)
            let terminal = unsafe open(path, O_RDWR | O_NOCTTY)
            let silence = TypingSilence()
            silence.begin()
            var job = pid_t()
            var attributes = posix_spawnattr_t()
            unsafe posix_spawnattr_init(&attributes)
            unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
            let words = unsafe [strdup("sleep"), strdup("600"), nil]
            #expect(unsafe posix_spawnp(&job, "sleep", nil, &attributes, words, environ) == 0)
            defer { kill(job, SIGKILL) }
            #expect(tcsetpgrp(terminal, job) == 0)
            // The modes of a shell while it reads a line.
            var modes = termios()
            _ = unsafe tcgetattr(terminal, &modes)
            modes.c_lflag = tcflag_t(ISIG)
            _ = unsafe tcsetattr(terminal, TCSANOW, &modes)
            silence.end()
            TerminalInput.restore()
            var after = termios()
            _ = unsafe tcgetattr(terminal, &after)
            #expect(after.c_lflag == tcflag_t(ISIG))
            #expect(tcsetpgrp(terminal, getpgrp()) == 0)
        }
    }

    /// For a function that is called at the end of a process, and must not give the terminal back itself.
    private static let lateSilence = TypingSilence()

    @Test("A process that exits does not take the terminal again after it has given it back")
    func takenAtExit() async throws {
        let pty = try PseudoTerminal()
        let before = pty.flags
        await #expect(processExitsWith: .success) { [path = pty.path as String] in
            try Self.adopt(path)
            // Functions that were registered earlier are called later: this one after the terminal was given back.
            atexit { TerminalRestoreTests.lateSilence.begin() }
            let silence = TypingSilence()
            silence.begin()
            silence.end()
            exit(0)
        }
        #expect(pty.flags == before)
    }

    @Test("A process that exits in the middle restores the terminal")
    func exited() async throws {
        let pty = try PseudoTerminal()
        let command = try PseudoTerminal()
        let before = pty.flags
        let go = try Companion {
            let prompt = try pty.blockingOutput(upTo: "asks: ")
            #expect(pty.flags != before)
            command.type("now\n")
            return prompt
        }
        await #expect(processExitsWith: .exitCode(7)) {
            [path = pty.path as String, commands = command.path as String] in
            try Self.adopt(path)
            async let answer = Self.ask()
            let descriptor = unsafe open(commands, O_RDONLY | O_NOCTTY)
            var byte: UInt8 = 0
            if unsafe read(descriptor, &byte, 1) == 1 { exit(7) }
            _ = try await answer
        }
        _ = try go.value()
        #expect(pty.flags == before)
    }

    @Test("An earlier signal handler of the process still gets its signal")
    func chained() async throws {
        let pty = try PseudoTerminal()
        let before = pty.flags
        let kill = try Companion {
            let prompt = try pty.blockingOutput(upTo: "asks: ")
            let pid = try Self.asker(prompt)
            guard Glibc.kill(pid, SIGTERM) == 0 else { throw TestTerminalError(message: "kill: \(errno)") }
            return prompt
        }
        await #expect(processExitsWith: .exitCode(42)) { [path = pty.path as String] in
            try Self.adopt(path)
            signal(SIGTERM) { _ in _exit(42) }
            _ = try await Self.ask()
        }
        _ = try kill.value()
        #expect(pty.flags == before)
    }

    @Test("Questions leave no descriptor open and do not change the signal actions")
    func noTraces() async throws {
        await #expect(processExitsWith: .success) {
            let pty = try PseudoTerminal()
            var afterFirst: [Int32] = []
            for number in 1...4 {
                let prompt = "question \(number): "
                async let answer = TerminalInput(path: pty.path).readLine(prompt: "\(prompt)")
                _ = try await pty.output(upTo: prompt)
                #expect(Self.guardedSignals() == [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
                pty.type("x\n")
                #expect(try await answer == "x")
                #expect(Self.guardedSignals() == [])
                if number == 1 { afterFirst = Self.openDescriptors() }
            }
            // The thread of the last question releases its pipe a moment after the answer.
            var patience = 10_000
            while Self.openDescriptors().count > afterFirst.count && patience > 0 {
                await Task.yield()
                patience -= 1
            }
            #expect(patience > 0)
        }
    }

    static func openDescriptors() -> [Int32] {
        (0..<256).filter { fcntl($0, F_GETFD) >= 0 }
    }

    static func guardedSignals() -> [Int32] {
        [SIGTERM, SIGHUP, SIGINT, SIGQUIT].filter { signal in
            var action = sigaction()
            unsafe sigaction(signal, nil, &action)
            return unsafe action.__sigaction_handler.sa_handler != nil
        }
    }
}

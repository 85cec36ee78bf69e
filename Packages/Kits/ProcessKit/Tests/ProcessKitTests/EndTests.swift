import Glibc
import LoopKit
import Testing

@testable import ProcessKit

@Suite("The end of a child", .timeLimit(.minutes(5)))
struct EndTests {
    let launcher = Launcher.standalone

    /// A shell and its child, which both ignore SIGTERM; the shell prints both process ids.
    private let stubborn = script(
        "trap '' TERM; (trap '' TERM; while :; do sleep 1000; done) & echo $$; echo $!; while :; do sleep 1000; done")

    private func number(_ line: [UInt8]?) throws -> Int32 {
        try #require(Int32(text(line) ?? ""))
    }

    @Test("A child and a grandchild that ignore the request to terminate are killed after the grace period")
    func stubbornFamily() async throws {
        try await launcher.withChild(stubborn) { child async throws in
            let (parent, grandchild) = (
                try number(try await child.output.nextLine()), try number(try await child.output.nextLine())
            )
            #expect(parent == child.processID)
            #expect(!hasEnded(parent) && !hasEnded(grandchild))
            let clock = ContinuousClock()
            let duration = await clock.measure { await child.terminate(grace: .milliseconds(100)) }
            #expect(duration >= .milliseconds(100))
            #expect(try await child.exitStatus() == .signalled(SIGKILL))
            // The pipe ends with the last process that holds it.
            #expect(try await child.output.nextLine() == nil)
            #expect(hasEnded(parent) && ends(grandchild))
        }
    }

    @Test("A cooperative child ends long before the grace period is over")
    func willing() async throws {
        try await launcher.withChild(script("trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done")) {
            child async throws in
            #expect(text(try await child.output.nextLine()) == "ready")
            await child.terminate(grace: .seconds(50))
            #expect(try await child.exitStatus() == .exited(3))
        }
    }

    @Test("The end of the closure ends the child, even if the closure throws")
    func scope() async throws {
        struct Failure: Error {}
        var processes: [Int32] = []
        await #expect(throws: Failure.self) {
            try await launcher.withChild(stubborn, grace: .milliseconds(10)) { child async throws in
                processes.append(try number(try await child.output.nextLine()))
                throw Failure()
            }
        }
        try await launcher.withChild(stubborn, grace: .milliseconds(10)) { child async throws in
            processes.append(try number(try await child.output.nextLine()))
        }
        #expect(processes.count == 2 && processes.allSatisfy(hasEnded))
    }

    @Test("Descendants continue only if the command allows it and the child ended by itself")
    func left() async throws {
        for (mayLeave, rest) in [(false, ""), (true, ""), (true, "; while :; do sleep 1000; done")] {
            var command = script("while :; do sleep 1000; done & echo $!\(rest)")
            command.leavesOthers = mayLeave
            let grandchild = try await launcher.withChild(command, grace: .milliseconds(10)) { child async throws in
                let grandchild = try number(try await child.output.nextLine())
                if rest.isEmpty { #expect(try await child.exitStatus() == .exited(0)) }
                return grandchild
            }
            if mayLeave, rest.isEmpty {
                #expect(!hasEnded(grandchild))
                #expect(kill(grandchild, SIGKILL) == 0)
            }
            #expect(ends(grandchild))
        }
    }

    @Test("A child used after its closure does nothing and reports an error")
    func kept() async throws {
        let child = try await launcher.withChild(script("true")) { $0 }
        child.send(.kill)
        let error = await #expect(throws: ProcessError.self) { try await child.exitStatus() }
        #expect(error?.kind == .notConnected)
        #expect(try await child.output.read() == nil)
    }

    @Test("A cancelled task ends the child, whatever it was waiting for", arguments: ["read", "write", "status"])
    func cancelled(waitingFor: String) async throws {
        var command = stubborn
        command.input = .pipe
        let (started, start) = AsyncStream.makeStream(of: Int32.self)
        let task = Task { [command] in
            try await launcher.withChild(command, grace: .milliseconds(10)) { child async throws in
                _ = try await child.output.nextLine()
                _ = try await child.output.nextLine()
                start.yield(child.processID)
                switch waitingFor {
                case "read": _ = try await child.output.nextLine()
                case "write": try await child.input.write([UInt8](repeating: 0, count: 1_000_000))
                default: _ = try await child.exitStatus()
                }
                Issue.record("the wait ended before it was cancelled")
            }
        }
        var processes = started.makeAsyncIterator()
        let process = try #require(await processes.next())
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(hasEnded(process))
    }

    @Test("A parent process that ignored SIGCHLD does not affect exit statuses")
    func ignoredChildren() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            let completion = try await Launcher.standalone.run(script("exit 3"), timeout: .seconds(100))
            #expect(completion.status == .exited(3))
        }
    }

    @Test("A child that the system has reaped is an error without a status, and ends the wait")
    func reaped() async {
        await #expect(processExitsWith: .success) {
            var command = script("read -r line; exit 3")
            command.input = .pipe
            try await Launcher.standalone.withChild(command) { child async throws in
                signal(SIGCHLD, SIG_IGN)
                child.send(.kill)
                let error = await #expect(throws: ProcessError.self) { try await child.exitStatus() }
                #expect(error?.kind == .system && error?.errno == ECHILD)
            }
        }
    }

    @Test("A child may end by itself after its input has ended, before it is asked to terminate")
    func patience() async throws {
        var command = script("trap 'echo asked' TERM; echo ready; cat >/dev/null; sleep 0.1; exit 7")
        command.input = .pipe
        try await launcher.withChild(command) { child async throws in
            #expect(text(try await child.output.nextLine()) == "ready")
            await child.terminate(patience: .seconds(100))
            #expect(try await child.exitStatus() == .exited(7))
            #expect(try await child.output.nextLine() == nil)
        }
        command = script("trap 'exit 8' TERM; echo ready; while :; do sleep 0.01; done")
        command.input = .pipe
        try await launcher.withChild(command) { child async throws in
            #expect(text(try await child.output.nextLine()) == "ready")
            await child.terminate(patience: .milliseconds(20), grace: .seconds(100))
            #expect(try await child.exitStatus() == .exited(8))
        }
    }

    @Test("A wait for the end stops at its deadline and leaves the child running")
    func deadline() async throws {
        var command = script("read -r line; exit 4")
        command.input = .pipe
        try await launcher.withChild(command) { child async throws in
            let error = await #expect(throws: ProcessError.self) {
                try await child.exitStatus(until: .now + .milliseconds(5))
            }
            #expect(error?.kind == .timedOut)
            try await child.input.write([0x0A])
            #expect(try await child.exitStatus(until: .now + .seconds(100)) == .exited(4))
        }
    }

    @Test("A child that the loop refuses to watch leaves no descriptor and no zombie")
    func unwatched() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop()
            loop.stop()
            var command = script("cat")
            command.input = .pipe
            let spawn = try Spawn(command)
            // The runtime opens descriptors at any time, so these are checked and not counted.
            let opened = [spawn.pidfd] + spawn.ends.compactMap { $0 }
            #expect(opened.count == 4 && opened.allSatisfy { fcntl($0, F_GETFD) >= 0 })
            #expect(throws: ProcessError.self) { _ = try spawn.watch(loop: loop) }
            #expect(opened.allSatisfy { fcntl($0, F_GETFD) < 0 })
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("Ended children leave no descriptor, child or zombie")
    func nothingLeft() async {
        await #expect(processExitsWith: .exitCode(42)) {
            // At the first sleep the runtime opens descriptors for its timers.
            try await ContinuousClock().sleep(for: .milliseconds(1))
            let atStart = descriptorCount()
            var launcher: Launcher? = Launcher.standalone
            var inUse: [Int] = []
            for _ in 0..<20 {
                _ = try await launcher?.run(script("sleep 1000 & echo x"), timeout: .seconds(20))
                try await launcher?.withChild(script("sleep 1000")) { child in child.send(.kill) }
                for command in [script("sleep 1000"), Command("/no/tool", environment: [:])] {
                    await #expect(throws: ProcessError.self) {
                        try await launcher?.run(command, timeout: .milliseconds(1))
                    }
                }
                inUse.append(descriptorCount())
            }
            let hasNoChild = waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD
            launcher = nil
            // A finished task releases its resources a moment after its result is available.
            while descriptorCount() > atStart { await Task.yield() }
            exit(hasNoChild && inUse[19] <= inUse[0] ? 42 : 1)
        }
    }

    @Test("200 children run at once, each with its own output")
    func many() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    var command = Command("cat", environment: CommandEnvironment(path))
                    command.input = .pipe
                    return try await launcher.withChild(command) { child async throws in
                        try await child.input.write(Array("\(number)\n".utf8))
                        return try #require(Int(text(try await child.output.nextLine()) ?? ""))
                    }
                }
            }
            var numbers: Set<Int> = []
            for try await number in group { numbers.insert(number) }
            #expect(numbers == Set(0..<200))
        }
    }
}

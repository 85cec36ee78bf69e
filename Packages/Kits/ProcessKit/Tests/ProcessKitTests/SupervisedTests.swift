import CoreTesting
import Glibc
import ProcessKit
import Testing

@Suite("Supervised children", .timeLimit(.minutes(10)))
struct SupervisedTests {
    private let launcher = Launcher.standalone

    private func supervised(_ text: String) -> Command {
        var command = script(text)
        command.endsDescendants = true
        return command
    }

    /// Two processes that have left the group and ignore SIGTERM, the second without its parent; each prints its
    /// process id.
    private static let leaving = """
        trap '' TERM
        setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000' &
        setsid sh -c 'trap "" TERM; (sh -c "echo \\$\\$; exec sleep 1000" &)' &
        """

    @Test(
        "Processes that left the group end with the child, and the child ends as its program does", arguments: [0, 3])
    func ended(code: Int32) async throws {
        try await TemporaryDirectory.run { folder in
            let done = try await launcher.run(
                supervised(
                    """
                    { \(Self.leaving)
                    } > \(folder)/numbers
                    until [ $(wc -l < \(folder)/numbers) = 2 ]; do sleep 0.01; done
                    cat \(folder)/numbers; exit \(code)
                    """), timeout: .seconds(60))
            let numbers = (text(done.output) ?? "").split(separator: "\n").compactMap { Int32($0) }
            #expect(done.status == .exited(code) && numbers.count == 2)
            #expect(numbers.allSatisfy(hasEnded), "the supervisor ends after all the others")
        }
    }

    @Test("A signal that ends the program is the child's status, and a signal sent to the child reaches the program")
    func signals() async throws {
        let own = try await launcher.run(supervised("kill -USR1 $$"), timeout: .seconds(60))
        #expect(own.status == .signalled(SIGUSR1))
        try await launcher.withChild(
            supervised("trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done")
        ) {
            child async throws in
            #expect(text(try await child.output.nextLine()) == "ready")
            child.send(.terminate)
            #expect(text(try await child.output.nextLine()) == "asked")
            #expect(try await child.exitStatus() == .exited(5))
        }
    }

    @Test("Killing the child or this process also kills processes that left the group")
    func killed() async throws {
        let command = supervised("\(Self.leaving) sleep 1000")
        let numbers = try await launcher.withChild(command) { child async throws in
            var numbers: [Int32] = []
            for _ in 0..<2 { numbers.append(try #require(Int32(text(try await child.output.nextLine()) ?? ""))) }
            child.send(.kill)
            #expect(try await child.exitStatus() == .signalled(SIGKILL))
            return numbers
        }
        #expect(numbers.allSatisfy(hasEnded))
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
                var command = script("\(Self.leaving) sleep 1000")
                command.endsDescendants = true
                try await Launcher.standalone.withChild(command) { child async throws in
                    var numbers = ""
                    for _ in 0..<2 { numbers += "\(text(try await child.output.nextLine()) ?? "")\n" }
                    try makeFile("\(folder)/numbers", numbers, mode: 0o600)
                    kill(getpid(), SIGKILL)
                }
            }
            let left = try await launcher.run(script("cat \(folder)/numbers"), timeout: .seconds(60))
            let numbers = (text(left.output) ?? "").split(separator: "\n").compactMap { Int32($0) }
            #expect(numbers.count == 2 && numbers.allSatisfy(ends))
        }
    }

    @Test("A program that cannot be started gives the usual error, and the supervisor keeps no descriptor open")
    func unstarted() async throws {
        try await TemporaryDirectory.run { folder in
            // Only the kernel detects that the file is not a program.
            try makeFile("\(folder)/text", "no program", mode: 0o755)
            var command = Command("\(folder)/text", environment: CommandEnvironment(path))
            command.endsDescendants = true
            let error = await #expect(throws: ProcessError.self) {
                try await launcher.run(command, timeout: .seconds(60))
            }
            #expect(error?.kind == .notExecutable)
        }
        // If the supervisor kept the pipe open, the other child would not see its input end.
        var reader = script("cat; echo over")
        reader.input = .pipe
        try await launcher.withChild(reader) { [reader = supervised("echo ready; sleep 1000")] first async throws in
            try await launcher.withChild(reader) { second async throws in
                #expect(text(try await second.output.nextLine()) == "ready")
                try first.input.close()
                #expect(text(try await first.output.nextLine()) == "over")
            }
        }
    }
}

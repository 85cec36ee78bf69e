import Capabilities
import CoreTesting
import Glibc
import Testing

@testable import ProcessKit

@Suite("Starting a child", .timeLimit(.minutes(5)))
struct StartTests {
    let launcher = Launcher.standalone

    @Test(
        "The exit status is the child's code or signal",
        arguments: [
            ("exit 0", ChildStatus.exited(0), 0), ("exit 7", .exited(7), 7), ("kill -9 $$", .signalled(9), 137),
        ])
    func status(text: String, expected: ChildStatus, code: Int32) async throws {
        let completion = try await launcher.run(script(text), timeout: .seconds(20))
        #expect(completion.status == expected)
        #expect(completion.status.code == code)
        #expect(completion.status.isSuccess == (code == 0))
    }

    @Test("A task without a caller starts no child")
    func nobody() async throws {
        let launcher = Launcher()
        let command = script("exit 0")
        await #expect(throws: AccessFailure.self) { try await launcher.run(command, timeout: .seconds(20)) }
        await #expect(throws: AccessFailure.self) { try await launcher.runInForeground(command) }
        let done = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
            try await launcher.run(command, timeout: .seconds(20))
        }
        #expect(done.status.isSuccess)
    }

    @Test("The child gets exactly the given arguments, environment and directory")
    func exactly() async throws {
        var command = Command("env", environment: ["A": "1", "B": "x=y\nz", "ÄÖ": "", "PATH": "/usr/bin:/bin"])
        var result = try await launcher.run(command, timeout: .seconds(20))
        let lines = Set((text(result.output) ?? "").split(separator: "\n"))
        #expect(lines == ["A=1", "B=x=y", "z", "ÄÖ=", "PATH=/usr/bin:/bin"])

        command = Command("printf", ["[%s]", "a b", "", "$x", "ü"], environment: CommandEnvironment(path))
        result = try await launcher.run(command, timeout: .seconds(20))
        #expect(text(result.output) == "[a b][][$x][ü]")

        command = Command("pwd", environment: CommandEnvironment(path), workingDirectory: "/usr")
        #expect(text(try await launcher.run(command, timeout: .seconds(20)).output) == "/usr\n")
    }

    @Test("A child has no signal blocked or ignored and leads its own group")
    func cleanSignals() async throws {
        signal(SIGUSR1, SIG_IGN)
        defer { signal(SIGUSR1, SIG_DFL) }
        let result = try await launcher.run(script("grep -E 'Sig(Blk|Ign)' /proc/self/status"), timeout: .seconds(20))
        let masks = (text(result.output) ?? "").split(separator: "\n").map { UInt64($0.suffix(16), radix: 16) }
        // The mask leaves out the signals above 31, some of which glibc uses itself.
        #expect(masks.map { $0.map { $0 & 0x7FFF_FFFF } } == [0, 0])

        let group = script("read -r pid name state parent group rest </proc/self/stat; echo $(($$ - group))")
        #expect(text(try await launcher.run(group, timeout: .seconds(20)).output) == "0\n")
    }

    @Test("Children of a program started with nohup also ignore SIGHUP")
    func nohup() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_IGN)
            let result = try await Launcher.standalone.run(script("kill -HUP $$; echo alive"), timeout: .seconds(100))
            #expect(text(result.output) == "alive\n")
        }
    }

    @Test("A raised descriptor limit of this process is not inherited")
    func descriptorLimit() async {
        await #expect(processExitsWith: .success) {
            let number = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            try #require(unsafe getrlimit(number, &limit) == 0)
            let given = limit.rlim_cur
            // Raised if the hard limit allows it, otherwise lowered; a lowered limit is inherited.
            limit.rlim_cur = limit.rlim_max > given ? limit.rlim_max : given - 1
            try #require(unsafe setrlimit(number, &limit) == 0)
            var command = script("read -r line; ulimit -Sn")
            command.input = .pipe
            try await Launcher.standalone.withChild(command) { child async throws in
                try await child.input.write([0x0A])
                #expect(text(try await child.output.nextLine()) == "\(min(given, limit.rlim_cur))")
            }
        }
    }

    @Test("A program that cannot be watched is not reported as one that cannot be run")
    func unwatched() async {
        await #expect(processExitsWith: .success) {
            var command = script("true")
            (command.input, command.output, command.errors) = (.inherit, .inherit, .inherit)
            // Only these four descriptors are allowed. If the last is free, or another thread frees it, the first child
            // takes it and keeps it.
            var limit = rlimit(rlim_cur: 4, rlim_max: 4)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var refusal: ProcessError?
            for _ in 0..<2 where refusal == nil {
                do throws(ProcessError) { _ = try Spawn(command) } catch { refusal = error }
            }
            #expect(refusal?.errno == EMFILE && refusal?.message.contains("cannot watch sh") == true)
        }
    }

    @Test("A child with its own session leads the session and its group, and has no terminal")
    func session() async throws {
        var command = script(
            "read -r pid name state parent group session rest </proc/self/stat; echo $(($$ - group)) $(($$ - session))")
        command.hasOwnSession = true
        #expect(text(try await launcher.run(command, timeout: .seconds(20)).output) == "0 0\n")
        command = script("exec 2>&1; cat /dev/tty")
        command.hasOwnSession = true
        #expect(text(try await launcher.run(command, timeout: .seconds(20)).output)?.contains("No such device") == true)
        // A signal to the group still reaches all its processes.
        command = script("sleep 100 & echo $!; wait")
        command.hasOwnSession = true
        let number = try await launcher.withChild(command) { try await $0.output.nextLine() }
        let process = try #require(text(number ?? []).flatMap { Int32($0) })
        #expect(ends(process))
    }

    @Test("A child gets only the three standard descriptors, even if others are inheritable")
    func descriptors() async throws {
        let leaky = unsafe open("/dev/null", O_RDONLY)
        defer { close(leaky) }
        try #require(leaky > 2)
        var command = Command("ls", ["/proc/self/fd"], environment: CommandEnvironment(path))
        for input in [Command.Input.null, .pipe, .bytes([1])] {
            command.input = input
            let result = try await launcher.run(command, timeout: .seconds(20))
            // ls reads the directory through the fourth descriptor.
            #expect(text(result.output) == "0\n1\n2\n3\n")
        }
    }

    @Test(
        "A child gets the passed descriptors in order, whatever their numbers are",
        arguments: [false, true])
    func passed(isWatched: Bool) async throws {
        try await TemporaryDirectory.run { directory in
            var opened: [Int32] = []
            defer { for number in opened { close(number) } }
            for name in ["a", "b", "c"] {
                try makeFile("\(directory)/\(name)", name, mode: 0o600)
                opened.append(unsafe open("\(directory)/\(name)", O_RDONLY | O_CLOEXEC))
            }
            try #require(opened.allSatisfy { $0 >= 0 })
            for order in [[0, 1, 2], [2, 1, 0], [1, 1, 0]] {
                var command = script("ls /proc/self/fd | wc -l; for n in 4 5 6; do readlink /proc/self/fd/$n; done")
                command.endsWithParent = isWatched
                command.descriptors = order.map { opened[$0] }
                let printed = text(try await launcher.run(command, timeout: .seconds(20)).output)
                // The three standard descriptors and that of the listed folder come in addition.
                let names = order.map { "\(directory)/\(["a", "b", "c"][$0])\n" }.joined()
                #expect(printed == "7\n\(names)")
            }
        }
    }

    @Test("A program is searched in the child's PATH, in absolute directories only")
    func lookup() async throws {
        try await TemporaryDirectory.run { directory in
            try makeFile("\(directory)/tool", "#!/bin/sh\necho ours\n", mode: 0o755)
            var command = Command("tool", environment: ["PATH": "relative::\(directory)"])
            #expect(text(try await launcher.run(command, timeout: .seconds(20)).output) == "ours\n")
            command = Command("./tool", environment: [:], workingDirectory: directory)
            #expect(text(try await launcher.run(command, timeout: .seconds(20)).output) == "ours\n")
            command = Command("tool", environment: ["PATH": ":."], workingDirectory: directory)
            #expect(await failure(command)?.kind == .notFound)
        }
    }

    @Test("A program that cannot be started is refused with the reason")
    func refused() async throws {
        try await TemporaryDirectory.run { directory in
            try makeFile("\(directory)/plain", "text", mode: 0o644)
            try makeFile("\(directory)/bare", "no first line", mode: 0o755)
            try makeFile("\(directory)/orphan", "#!/no/such/interpreter\n", mode: 0o755)
            let cases: [(String, ProcessError.Kind, String)] = [
                ("no-such-tool", .notFound, "it is not in PATH"),
                ("\(directory)/missing", .notFound, "no such file"),
                ("\(directory)/orphan", .notFound, "the interpreter in its first line"),
                ("plain", .notExecutable, "plain is not executable"),
                ("\(directory)/plain", .notExecutable, "it is not an executable file"),
                ("\(directory)", .notExecutable, "it is not an executable file"),
                ("\(directory)/bare", .notExecutable, "names no interpreter"),
            ]
            for (executable, code, reason) in cases {
                let error = await failure(Command(executable, environment: ["PATH": directory]))
                #expect(error?.kind == code)
                #expect(error?.message.contains(reason) == true, "\(error?.message ?? "no error")")
            }
            var command = script("true")
            command.workingDirectory = "\(directory)/nowhere"
            #expect(await failure(command)?.kind == .workingDirectory)
            command.workingDirectory = "\(directory)/plain"
            #expect(await failure(command)?.kind == .workingDirectory)
        }
    }

    @Test("Values that C strings cannot contain are refused")
    func zeroBytes() async {
        #expect(await failure(script("true", ["a\0b"]))?.kind == .invalid)
        #expect(await failure(Command("true", environment: ["PATH": "/bin", "A": "\0"]))?.kind == .invalid)
        #expect(await failure(Command("true", environment: ["PATH": "/bin", "A=B": "x"]))?.kind == .invalid)
    }

    @Test("A child starts even if this process has no standard descriptors")
    func withoutStandardDescriptors() async {
        await #expect(processExitsWith: .exitCode(42)) {
            for descriptor: Int32 in 0...2 { close(descriptor) }
            var command = script("cat; echo messages >&2")
            command.input = .bytes(Array("input".utf8))
            let result = try await Launcher.standalone.run(command, timeout: .seconds(20))
            exit(text(result.output) == "input" && text(result.errors) == "messages\n" ? 42 : 1)
        }
    }

    private func failure(_ command: Command) async -> ProcessError? {
        do {
            _ = try await launcher.run(command, timeout: .seconds(20))
            return nil
        } catch {
            return error as? ProcessError
        }
    }
}

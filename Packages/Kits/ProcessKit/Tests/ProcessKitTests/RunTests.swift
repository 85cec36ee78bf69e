import Glibc
import ProcessKit
import Testing

@Suite("Running a command", .timeLimit(.minutes(5)))
struct RunTests {
    let launcher = Launcher.standalone

    @Test("A command gets its input and returns output and messages")
    func everything() async throws {
        var command = script("tr a-z A-Z; echo message >&2; exit 3")
        command.input = .bytes(Array("shout".utf8))
        let result = try await launcher.run(command, timeout: .seconds(20))
        #expect(text(result.output) == "SHOUT")
        #expect(text(result.errors) == "message\n")
        #expect(result.status == .exited(3))
    }

    @Test("Messages are merged with the output in order if the command requests it", arguments: [false, true])
    func joined(endsWithParent: Bool) async throws {
        var command = script("echo first; echo second >&2; echo third")
        command.errors = .output
        command.endsWithParent = endsWithParent
        let result = try await launcher.run(command, timeout: .seconds(20))
        #expect(text(result.output) == "first\nsecond\nthird\n")
        #expect(result.errors.isEmpty)
    }

    @Test("A command without core dumps cannot enable them again, and others have the limits of this process")
    func noCore() async throws {
        let limits = "ulimit -S -c; ulimit -H -c"
        var command = script("\(limits); ulimit -c unlimited 2>/dev/null; sh -c '\(limits)'")
        command.hasNoCore = true
        // An administrator can raise any limit.
        let isAdministrator = geteuid() == 0
        let lines = text(try await launcher.run(command, timeout: .seconds(20)).output)?.split(separator: "\n") ?? []
        #expect(lines.prefix(2) == ["0", "0"] && lines.count == 4)
        if !isAdministrator { #expect(lines.dropFirst(2) == ["0", "0"]) }
        var own = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &own) == 0)
        let other = text(try await launcher.run(script("ulimit -H -c"), timeout: .seconds(20)).output)
        #expect((other == "0\n") == (own.rlim_max == 0))
    }

    @Test("A command that never ends is stopped at the timeout")
    func timeout() async throws {
        let started = ContinuousClock.now
        let error = await #expect(throws: ProcessError.self) {
            try await launcher.run(
                script("trap '' TERM; sleep 1000"), timeout: .milliseconds(50), grace: .milliseconds(50))
        }
        #expect(error?.kind == .timedOut)
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test("More output than allowed is an error, even from an endless command", arguments: ["yes", "echo 123456"])
    func outputLimit(text: String) async throws {
        let error = await #expect(throws: ProcessError.self) {
            try await launcher.run(script(text), outputLimit: 6, timeout: .seconds(20))
        }
        #expect(error?.kind == .outputTooLarge)
        #expect(error?.message.contains("limit of 6 bytes") == true)
    }

    @Test("Output of exactly the limit is accepted")
    func exactLimit() async throws {
        let result = try await launcher.run(script("printf 123456"), outputLimit: 6, timeout: .seconds(20))
        #expect(text(result.output) == "123456")
    }

    @Test("A background process that holds the pipe does not delay the result", arguments: ["", "setsid"])
    func leftBehind(wrapper: String) async throws {
        let result = try await launcher.run(script("\(wrapper) sleep 1000 & echo $!"), timeout: .seconds(20))
        let process = try #require(Int32((text(result.output) ?? "").dropLast()))
        #expect(result.status == .exited(0))
        // A process that left the group is out of reach by design, so this test ends it.
        if wrapper == "setsid" { kill(process, SIGKILL) }
    }

    @Test("A command that ignores its input succeeds")
    func ignoredInput() async throws {
        var command = script("exit 0")
        command.input = .bytes([UInt8](repeating: 1, count: 1_000_000))
        #expect(try await launcher.run(command, timeout: .seconds(20)).status.isSuccess)
    }

    @Test("A cancelled run ends its command")
    func cancelled() async throws {
        let task = Task { try await launcher.run(script("sleep 1000"), timeout: .seconds(3600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

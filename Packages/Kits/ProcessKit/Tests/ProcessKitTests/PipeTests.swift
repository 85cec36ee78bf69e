import CoreTesting
import Glibc
import ProcessKit
import Testing

@Suite("Pipes of a child", .timeLimit(.minutes(5)))
struct PipeTests {
    let launcher = Launcher.standalone

    private func catCommand() -> Command {
        var command = Command("cat", environment: CommandEnvironment(path))
        command.input = .pipe
        return command
    }

    @Test("Lines are written and read one by one, until the input ends")
    func pingPong() async throws {
        try await launcher.withChild(catCommand()) { child async throws in
            for round in 0..<100 {
                try await child.input.write(Array("round \(round)\n".utf8))
                #expect(text(try await child.output.nextLine()) == "round \(round)")
            }
            try await child.input.write(Array("\nlast".utf8))
            try child.input.close()
            #expect(text(try await child.output.nextLine()) == "")
            #expect(text(try await child.output.nextLine()) == "last")
            #expect(try await child.output.nextLine() == nil)
            #expect(try await child.exitStatus() == .exited(0))
        }
    }

    @Test("A line of exactly the limit is accepted, and a longer one is an error that names the limit")
    func lineLimit() async throws {
        let command = script("head -c 1000 /dev/zero; echo; head -c 1001 /dev/zero; echo")
        try await launcher.withChild(command) { child async throws in
            let lines = try child.output.lines(limit: 1000)
            #expect(try await lines.next()?.count == 1000)
            let error = await #expect(throws: ProcessError.self) { try await child.output.nextLine(limit: 1000) }
            #expect(error?.kind == .lineTooLong)
            #expect(error?.message.contains("1000 bytes") == true)
            #expect(try await child.output.nextLine(limit: 1001)?.count == 1001)
        }
    }

    @Test("A line that is too long can be skipped, and the next one is complete")
    func skippedLine() async throws {
        let command = script("head -c 300000 /dev/zero; echo; echo next; echo last; head -c 5000 /dev/zero")
        try await launcher.withChild(command) { child async throws in
            let error = await #expect(throws: ProcessError.self) { try await child.output.nextLine(limit: 1000) }
            #expect(error?.kind == .lineTooLong)
            #expect(try await child.output.skipLine())
            #expect(text(try await child.output.nextLine(limit: 1000)) == "next")
            #expect(try await child.output.skipLine())
            #expect(try await child.output.skipLine() == false)
            #expect(try await child.output.nextLine() == nil)
        }
    }

    @Test("Reads and writes end at their deadlines, and a partial line is not lost")
    func deadlines() async throws {
        var command = script("printf part; read -r line; echo \" and $line\"; exec sleep 1000")
        command.input = .pipe
        try await launcher.withChild(command, grace: .milliseconds(10)) { child async throws in
            func isLate(_ body: () async throws -> Void) async -> Bool {
                let error = await #expect(throws: ProcessError.self) { try await body() }
                return error?.kind == .timedOut
            }
            #expect(await isLate { _ = try await child.output.nextLine(until: .now + .milliseconds(50)) })
            try await child.input.write(Array("rest\n".utf8), until: .now + .seconds(100))
            #expect(text(try await child.output.nextLine(until: .now + .seconds(100))) == "part and rest")
            #expect(await isLate { _ = try await child.output.read(until: .now + .milliseconds(5)) })
            #expect(await isLate { _ = try await child.output.skipLine(until: .now + .milliseconds(5)) })
            let big = [UInt8](repeating: 7, count: 1_000_000)
            #expect(await isLate { try await child.input.write(big, until: .now + .milliseconds(5)) })
            let error = await #expect(throws: ProcessError.self) { try await child.input.write([1]) }
            #expect(error?.kind == .inputClosed, "what follows would be read as the rest")
        }
    }

    @Test("Lines longer than one read arrive complete and in order")
    func longLines() async throws {
        let command = script("for n in 1 200000 3 400000 0; do head -c $n /dev/zero; echo; done")
        try await launcher.withChild(command) { child async throws in
            var lengths: [Int] = []
            for try await line in try child.output.lines() { lengths.append(line.count) }
            #expect(lengths == [1, 200_000, 3, 400_000, 0])
        }
    }

    @Test("A child killed in the middle of a line leaves the partial line and its signal")
    func midLine() async throws {
        try await launcher.withChild(script("echo whole; printf part; kill -9 $$")) { child async throws in
            #expect(text(try await child.output.nextLine()) == "whole")
            #expect(text(try await child.output.nextLine()) == "part")
            #expect(try await child.output.nextLine() == nil)
            #expect(try await child.exitStatus() == .signalled(9))
        }
    }

    @Test("10 MB of messages delay neither the child nor its output, and their tail is kept")
    func manyMessages() async throws {
        let command = script("head -c 10000000 /dev/zero | tr '\\0' e >&2; echo results; printf end >&2")
        try await launcher.withChild(command) { child async throws in
            #expect(text(try await child.output.nextLine()) == "results")
            #expect(try await child.exitStatus() == .exited(0))
            let tail = child.errorTail
            #expect(tail.count == 1 << 16)
            #expect(text(tail)?.hasSuffix("eeeend") == true)
        }
    }

    @Test("Messages can be read as a stream")
    func errors() async throws {
        var command = script("echo one >&2; echo two >&2")
        command.errors = .pipe
        try await launcher.withChild(command) { child async throws in
            #expect(text(try await child.errors.nextLine()) == "one")
            #expect(text(try await child.errors.nextLine()) == "two")
            #expect(try await child.errors.nextLine() == nil)
            #expect(child.errorTail.isEmpty)
        }
    }

    @Test("8 MB through a child that reads in small steps come back unchanged")
    func slowReader() async throws {
        var command = Command("dd", ["bs=1000", "status=none"], environment: CommandEnvironment(path))
        let bytes = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        command.input = .bytes(bytes)
        let result = try await launcher.run(command, timeout: .seconds(50))
        #expect(result.output == bytes)
    }

    @Test("A write to a child that does not read waits until it is cancelled")
    func backPressure() async throws {
        var command = script("head -c 1 >/dev/null; echo started; read -r line <\"$1\"; wc -c")
        command.input = .pipe
        try await TemporaryDirectory.run { directory in
            try #require(unsafe mkfifo("\(directory)/gate", 0o600) == 0)
            command.arguments.append("\(directory)/gate")
            try await launcher.withChild(command) { child async throws in
                let input = try child.input
                let writing = Task { try await input.write([UInt8](repeating: 7, count: 1_000_000)) }
                #expect(text(try await child.output.nextLine()) == "started")
                writing.cancel()
                await #expect(throws: CancellationError.self) { try await writing.value }
                // After a partial write, another write is refused.
                let error = await #expect(throws: ProcessError.self) { try await input.write([1]) }
                #expect(error?.kind == .inputClosed)
                let gate = unsafe open("\(directory)/gate", O_WRONLY | O_CLOEXEC)
                #expect(unsafe write(gate, "\n", 1) == 1)
                close(gate)
                let count = try #require(Int(text(try await child.output.nextLine()) ?? ""))
                #expect(count < 1_000_000, "only the pipe's own room was filled")
            }
        }
    }

    @Test("Writes of many tasks are not interleaved")
    func wholeWrites() async throws {
        try await launcher.withChild(catCommand()) { child async throws in
            let input = try child.input
            try await withThrowingTaskGroup(of: Void.self) { group in
                for letter in UInt8(ascii: "a")...UInt8(ascii: "t") {
                    group.addTask { try await input.write([UInt8](repeating: letter, count: 100_000) + [0x0A]) }
                }
                var letters: Set<UInt8> = []
                for _ in 0..<20 {
                    let line = try #require(try await child.output.nextLine())
                    let first = try #require(line.first)
                    #expect(line == [UInt8](repeating: first, count: 100_000))
                    letters.insert(first)
                }
                #expect(letters.count == 20)
                try await group.waitForAll()
            }
        }
    }

    @Test("A write to a child that has closed its input is an error")
    func closedInput() async throws {
        var command = script("exec <&-; echo closed; sleep 1000")
        command.input = .pipe
        try await launcher.withChild(command) { child async throws in
            #expect(text(try await child.output.nextLine()) == "closed")
            let error = await #expect(throws: ProcessError.self) {
                // A child that is just starting may hold a copy of the other end for a moment.
                while true { try await child.input.write([1]) }
            }
            #expect(error?.kind == .inputClosed)
        }
    }

    @Test("Using a pipe that was not requested is an error that says so")
    func notConnected() async throws {
        var command = script("true")
        command.output = .null
        try await launcher.withChild(command) { child async throws in
            for pipe in ["input", "output", "errors"] {
                let error = #expect(throws: ProcessError.self) {
                    switch pipe {
                    case "input": _ = try child.input
                    case "output": _ = try child.output
                    default: _ = try child.errors
                    }
                }
                #expect(error?.kind == .notConnected)
                #expect(error?.message.contains("the \(pipe) of process") == true)
            }
        }
    }
}

import CoreTesting
import Glibc
import ProcessKit
import Testing

@Suite("Children that end with this process", .timeLimit(.minutes(10)))
struct WatchTests {
    let launcher = Launcher.standalone

    private func watched(_ command: Command) -> Command {
        var command = command
        command.endsWithParent = true
        return command
    }

    @Test(
        "The child and its group end when this process is killed, whatever signals they ignore",
        arguments: [false, true])
    func killed(hasOwnSession: Bool) async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) { [hasOwnSession] in
            var command = script(
                "trap '' TERM HUP INT; (while :; do sleep 1000; done) & echo $$ $!; while :; do sleep 1000; done")
            command.endsWithParent = true
            command.hasOwnSession = hasOwnSession
            // The input does not matter.
            command.input = hasOwnSession ? .null : .pipe
            try await Launcher.standalone.withChild(command) { child async throws in
                let line = try #require(try await child.output.nextLine())
                #expect(unsafe write(1, line, line.count) == line.count)
                kill(getpid(), SIGKILL)
            }
        }
        let words = text(try #require(result?.standardOutputContent))?.split(whereSeparator: \.isWhitespace) ?? []
        let processes = words.compactMap { Int32($0) }
        try #require(processes.count == 2)
        let deadline = ContinuousClock.now + .seconds(20)
        while !processes.allSatisfy(hasEnded), ContinuousClock.now < deadline { await Task.yield() }
        #expect(processes.allSatisfy(hasEnded))
    }

    @Test("The child gets its arguments, its input and no other descriptor, and returns its own exit code")
    func same() async throws {
        let words = ["a b", "", "$x", "-n", "ü\n"]
        var look = script("cat; ls /proc/self/fd | wc -l; printf '[%s]' \"$@\"; exit 7", words)
        look.input = .bytes(Array("input\n".utf8))
        let result = try await launcher.run(watched(look), timeout: .seconds(20))
        #expect(text(result.output) == "input\n4\n[a b][][$x][-n][ü\n]")
        #expect(result.status == .exited(7))
        #expect(result.errors.isEmpty)
        #expect(
            try await launcher.run(watched(script("kill -9 $$")), timeout: .seconds(20)).status == .signalled(9))
        // The watching shell must not hide that the program is missing.
        let error = await #expect(throws: ProcessError.self) {
            try await launcher.run(
                watched(Command("no-such-tool", environment: CommandEnvironment(path))), timeout: .seconds(20))
        }
        #expect(error?.kind == .notFound)
        try await TemporaryDirectory.run { directory in
            try makeFile("\(directory)/text", "no program", mode: 0o700)
            let refused = await #expect(throws: ProcessError.self) {
                try await launcher.run(
                    watched(Command("\(directory)/text", environment: CommandEnvironment(path))), timeout: .seconds(20))
            }
            #expect(refused?.kind == .notExecutable)
        }
    }

    @Test("A child that is asked to end has time to clean up, and the watcher ends with it")
    func asked() async throws {
        let polite = watched(
            script("trap 'echo bye; exit 3' TERM; echo $(cat /proc/$$/task/$$/children); while :; do sleep 0.01; done"))
        let watcher = try await launcher.withChild(polite) { child async throws in
            let watcher = try #require(Int32(text(try await child.output.nextLine())?.prefix { $0 != " " } ?? ""))
            #expect(!hasEnded(watcher))
            await child.terminate(grace: .seconds(50))
            #expect(try await child.exitStatus() == .exited(3))
            #expect(text(try await child.output.nextLine()) == "bye")
            return watcher
        }
        #expect(ends(watcher))
    }
}

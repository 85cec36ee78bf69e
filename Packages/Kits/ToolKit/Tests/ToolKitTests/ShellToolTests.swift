import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import LoopKit
import Synchronization
import Testing

@testable import ToolKit

@Suite("bash.run", .timeLimit(.minutes(10)))
struct ShellToolTests {
    @Test("A result has the output in order, the exit code and how the command ended")
    func runs() async throws {
        try await withPlayground { place in
            try place.write("sub/x", "")
            for (command, text, code, isError) in [
                ("echo one; echo two >&2; echo three", "one\ntwo\nthree\n", 0, false),
                ("exit 7", "[no output]\n[exit code 7]", 7, true),
                ("printf x; false", "x\n[exit code 1]", 1, true),
                ("kill -9 $$", "[no output]\n[killed by signal 9]", 137, true),
                ("true", "[no output]", 0, false), ("cat", "[no output]", 0, false),
                ("exec >&- 2>&-; sleep 0.1; exit 3", "[no output]\n[exit code 3]", 3, true),
                ("a=(1 2); echo ${#a[@]}", "2\n", 0, false), ("ls", "sub\n", 0, false),
            ] {
                let result = try await place.run("bash.run", ["command": .string(command)])
                #expect(
                    result.content == text && result.exitCode == code && result.isError == isError,
                    "\(command): \(result)")
            }
            #expect(try await place.text("bash.run", ["command": "ls", "folder": "sub"]) == "x\n")
            #expect(
                try await place.run("bash.run", ["command": "nonsense-of-mine"]).content.contains("command not found"))
            #expect(try await place.run("bash.run", ["command": "if then"]).content.contains("syntax error"))
        }
    }

    @Test("A command of the person runs without an approval, and tells what it prints")
    func ofPerson() async throws {
        try await withPlayground { place in
            let tools = WorkspaceTools(
                place.workspace, offering: .all, shell: ShellOptions(environment: [:], sandbox: nil))
            let told = Mutex("")
            let call = ToolCall(id: "1", name: WorkspaceTools.command, input: ["command": "echo one; exit 2"])
            let result = try await tools.runForPerson(call) { text in told.withLock { $0 += text } }
            #expect(result.exitCode == 2 && result.isError && told.withLock { $0 } == "one\n")
        }
    }

    @Test("Invalid input is rejected before anything runs")
    func refusals() async throws {
        try await withPlayground { place in
            try place.write("f", "")
            for (input, words) in [
                (["command": ""], "empty"), (["command": "touch x\u{0}"], "NUL"), ([:], "missing"),
                (["command": .string(String(repeating: "x", count: 200_000))], "exceeds"),
                (["command": "touch x", "timeout_ms": 0], "from 1"),
                (["command": "touch x", "timeout_ms": 600_001], "600000"),
                (["command": "touch x", "folder": "f"], "not a folder"),
                (["command": "touch x", "folder": "g"], "g does not exist"),
            ] as [(JSONObject, String)] {
                #expect(try await place.failure("bash.run", input).contains(words), "\(words)")
            }
            #expect(try place.names() == ["f"])
        }
    }

    @Test("A command sees only the variables PATH, HOME and LANG, and no terminal")
    func environment() async throws {
        try await withPlayground { place in
            let variables = [
                "PATH": "/usr/bin:/bin", "HOME": "/nowhere", "LANG": "C.UTF-8", "MARTLET_KEY": "sk-secret",
                "LD_PRELOAD": "/x",
            ]
            let tools = WorkspaceTools(
                place.workspace, offering: .all, shell: ShellOptions(environment: variables, sandbox: nil))
            unsafe setenv("MARTLET_TEST_TOKEN", "sk-secret", 1)
            defer { unsafe unsetenv("MARTLET_TEST_TOKEN") }
            let seen = try await tools.run(
                ToolCall(id: "1", name: "bash.run", input: ["command": "env; cat /proc/self/environ"]))
            #expect(!seen.content.contains("sk-secret"))
            let names = Set(
                seen.content.split(whereSeparator: { $0 == "\n" || $0 == "\0" }).compactMap {
                    $0.split(separator: "=").first
                })
            #expect(names == ["PATH", "HOME", "LANG", "TERM", "PWD", "SHLVL", "_"])
            #expect(seen.content.contains("HOME=/nowhere\n") && seen.content.contains("TERM=dumb\n"))
            let terminal = try await place.run("bash.run", ["command": "cat /dev/tty; ls /proc/self/fd | wc -l"])
            #expect(terminal.content.contains("No such device") && terminal.content.hasSuffix("4\n"))
        }
    }

    // sandbox case 72
    @Test("Folder names that look like options or commands are only names")
    func names() async throws {
        try await withPlayground { place in
            for name in [
                "-rf", "; touch pwned", "$(touch pwned)", "`touch pwned`", "a\nb", "'; touch pwned; '", "--help", " ",
            ] {
                try place.write("\(name)/file", "x")
                let input: JSONObject = ["command": "pwd && cat ./*", "folder": .string(name)]
                #expect(try await place.text("bash.run", input) == "\(place.folder)/\(name)\nx\n")
                _ = try await place.text("fs.write", ["path": .string("\(name)/file"), "content": "y\n"])
                #expect(try await place.text("grep.search", ["pattern": "y", "path": .string(name)]).contains(":1:y"))
            }
            #expect(try !place.names().contains("pwned"))
        }
    }

    @Test("Output is streamed, and characters in two pieces are joined")
    func live() async throws {
        try await withPlayground { place in
            let (folder, heard) = (place.folder, Heard())
            let command = """
                echo ready; until [ -e go ]; do sleep 0.01; done; printf '\\xe2\\x82'; until [ -e on ]; do sleep 0.01; done
                printf '\\xac!'; printf '\\xff'; exit 4
                """
            let result = try await place.tools.run(
                ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)])
            ) { text in
                heard.add(text)
                // The command continues only because this output was received.
                _ = unsafe creat("\(folder)/\(text.hasPrefix("ready") ? "go" : "other")", 0o600)
                _ = unsafe creat("\(folder)/on", 0o600)
            }
            #expect(result.content == "ready\n€!\u{FFFD}\n[exit code 4]" && result.exitCode == 4)
            #expect(heard.text == "ready\n€!\u{FFFD}")
        }
    }

    @Test("A hundred megabytes of output are streamed in little memory, and the result has both ends")
    func large() async {
        await #expect(processExitsWith: .success) {
            try await withPlayground { place in
                _ = try await place.text("bash.run", ["command": "echo"])
                let before = try TestProcess.residentBytes()
                let heard = Counter()
                let command: JSON = "echo first; yes 0123456789abcde | head -c 100000000; echo last"
                let result = try await place.tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": command]))
                {
                    heard.add($0.utf8.count)
                }
                #expect(heard.value == 100_000_000 + 11)
                #expect(result.content.hasPrefix("first\n0123") && result.content.hasSuffix("abcde\nlast\n"))
                #expect(
                    result.content.utf8.count < 70_000 && result.content.contains(" bytes omitted …]\n0123"))
                let grown = try TestProcess.residentBytes() - before
                #expect(grown < 24 << 20, "\(grown) bytes more")
            }
        }
    }

    @Test("A timeout ends a command and all its processes, even those that ignore the signal")
    func limit() async throws {
        try await withPlayground { place in
            let start = ContinuousClock.now
            let command =
                "bash -c 'trap \"\" TERM; echo $BASHPID; while :; do sleep 1; done' & trap '' TERM; echo $$; wait; sleep 60"
            let result = try await place.run("bash.run", ["command": .string(command), "timeout_ms": 500])
            #expect(result.isError && result.exitCode == nil && result.content.contains("stopped after 500ms"))
            // The command would have slept for a minute.
            #expect(ContinuousClock.now - start < .seconds(55))
            let numbers = result.content.split(separator: "\n").compactMap { Int32($0) }
            #expect(numbers.count == 2)
            for number in numbers { #expect(await hasEnded(number)) }
            // A command that ends on the signal may still print.
            let polite = "trap 'echo bye; exit 5' TERM; sleep 60 & wait"
            let asked = try await place.run("bash.run", ["command": .string(polite), "timeout_ms": 300])
            #expect(asked.content.hasPrefix("bye\n") && asked.isError && asked.exitCode == 5)
        }
    }

    @Test("Processes left behind are killed, and those out of reach do not delay the result")
    func leftovers() async throws {
        try await withPlayground { place in
            let start = ContinuousClock.now
            let left = try await place.text("bash.run", ["command": "sleep 500 & echo $!"])
            let process = try #require(Int32(left.dropLast()))
            #expect(await hasEnded(process))
            let away = try await place.text("bash.run", ["command": "setsid sleep 500 & echo $!; sleep 0.05"])
            let number = try #require(Int32(away.dropLast()))
            #expect(isRunning(number))
            kill(number, SIGKILL)
            #expect(ContinuousClock.now - start < .seconds(100))
        }
    }

    @Test("A stop reaches the whole group at once, with a short grace period")
    func stop() async throws {
        try await withPlayground { place in
            // The first shell ends at once; the second one cleans up for a moment.
            let command = """
                bash -c 'trap "sleep 0.05; echo done > tidy; exit" TERM; echo > ready1; while :; do sleep 0.01; done' &
                bash -c 'trap "" TERM; echo $BASHPID > stubborn; while :; do sleep 0.01; done' &
                until [ -s stubborn -a -e ready1 ]; do sleep 0.01; done; echo ready; wait
                """
            let tools = place.tools
            var best = Duration.seconds(60)
            var tidied = 0
            for _ in 0..<3 {
                let ready = AsyncStream<Void>.makeStream()
                let call = ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)])
                let task = Task { try await tools.run(call) { _ in ready.continuation.yield() } }
                for await _ in ready.stream { break }
                let start = ContinuousClock.now
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                best = min(best, ContinuousClock.now - start)
                if try place.names().contains("tidy") { tidied += 1 }
                let written = try place.content("stubborn")
                let number = try #require(Int32(written.dropLast()))
                #expect(await hasEnded(number))
                for name in ["tidy", "stubborn", "ready1"] { unsafe unlink("\(place.folder)/\(name)") }
            }
            // The grace is 200 ms, plus some for a busy machine; one success is enough.
            #expect(tidied > 0)
            #expect(best >= .milliseconds(195) && best < .seconds(2), "\(best)")
        }
    }

    @Test("A command does not outlive this process, even if it is killed")
    func killed() async throws {
        try await withPlayground { place in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = place.folder as String] in
                let shell = ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: nil)
                let tools = WorkspaceTools(try Workspace(folder), offering: .all, shell: shell)
                let command: JSON = """
                    trap '' TERM; (while :; do sleep 1000; done) & echo $$ $! > numbers
                    echo ready; while :; do sleep 1000; done
                    """
                let call = ToolCall(id: "1", name: "bash.run", input: ["command": command])
                _ = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
                    try await tools.run(call) { _ in kill(getpid(), SIGKILL) }
                }
            }
            let processes = try place.content("numbers").split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
            try #require(processes.count == 2)
            for process in processes { #expect(await hasEnded(process)) }
        }
    }

    @Test("A task that is cancelled before the start runs nothing")
    func cancelled() async throws {
        try await withPlayground { place in
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await place.run("bash.run", ["command": "touch x"])
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let names = try place.names()
            #expect(names.isEmpty)
        }
    }

    /// A killed process takes a moment to end, and this process cannot wait for it.
    private func hasEnded(_ process: Int32) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(10)
        while isRunning(process), ContinuousClock.now < deadline { await Task.yield() }
        return !isRunning(process)
    }

    /// A zombie is no longer running.
    private func isRunning(_ process: Int32) -> Bool {
        guard let status = try? Files.read("/proc/\(process)/stat", limit: 4096) else { return false }
        let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
        return fields?.first != "Z"
    }
}

/// A counter.
final class Counter: Sendable {
    private let sum = Mutex(0)
    var value: Int { sum.withLock { $0 } }
    func add(_ number: Int) { sum.withLock { $0 += number } }
}

/// Collects output.
final class Heard: Sendable {
    private let told = Mutex("")
    var text: String { told.withLock { $0 } }
    func add(_ text: String) { told.withLock { $0 += text } }
}

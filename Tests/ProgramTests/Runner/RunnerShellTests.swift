import FileKit
import JSON
import ProcessKit
import Testing

/// Tests the installed `martlet shell run`.
@Suite("shell run", .timeLimit(.minutes(5)))
struct RunnerShellTests {
    @Test("A program works in the folder, cannot see the home, and its exit code is reported")
    func person() async throws {
        try await RunnerHome.with { home in
            let refused = try await home.martlet("shell", "run", "true")
            #expect(refused.code == 5 && refused.errors.contains("it is or contains your home"), "\(refused.errors)")
            var home = home
            home.variables["HOME"] = home.top
            try home.write("own", "f.txt")
            let done = try await home.martlet(
                "shell", "run", "sh", "--", "-c", "cat f.txt; ls -A ~ /run 2>&1; echo x > made")
            #expect(done.code == 0 && done.output.hasPrefix("own"), "\(done.output) \(done.errors)")
            #expect(!done.output.contains(".config") && done.output.contains("/run"), "\(done.output)")
            #expect(try home.read("made") == "x\n")
            let failed = try await home.martlet("shell", "run", "sh", "--json", "--", "-c", "echo why; exit 3")
            let result = try failed.output.json()
            #expect(failed.code == 5 && result["exit_code"] == 3 && result["output"] == "why\n", "\(failed.output)")
            let absent = try await home.martlet("shell", "run", "no-such-program")
            #expect(
                absent.code == 5 && absent.errors.contains("no-such-program, or a program"), "\(absent.errors)")
            let hook = try await home.martlet("shell", "run", "mkdir", ".claude")
            #expect(hook.code == 5 && hook.output.contains("File exists"), "\(hook.output)")
        }
    }

    @Test("A program's output is streamed, and an interrupt ends it with its child processes")
    func interrupted() async throws {
        try await RunnerHome.with { home in
            var home = home
            home.variables["HOME"] = home.top
            let status = try await home.running(
                "shell", "run", "sh", "--format", "ndjson", "--", "-c", "setsid sleep 765432 & echo ready; wait"
            ) { child in
                while let event = try await child.nextEvent(), event["text"] != "ready\n" {}
                child.send(.interrupt)
                return try await child.exitStatus()
            }
            #expect(status == .exited(130))
            // Its namespace ends with its creator, a moment after the end is reported.
            let deadline = ContinuousClock.now + .seconds(20)
            while try Self.runs("sleep\u{0}765432\u{0}"), ContinuousClock.now < deadline { await Task.yield() }
            #expect(try !Self.runs("sleep\u{0}765432\u{0}"))
        }
    }

    private static func runs(_ words: String) throws -> Bool {
        try Files.list("/proc").contains { entry in
            // A process that has ended is not running.
            guard Int(entry.name) != nil, let line = try? Files.read("/proc/\(entry.name)/cmdline", limit: 1 << 20)
            else { return false }
            return line == Array(words.utf8)
        }
    }
}

import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import JSON
import ProcessKit
import Testing

@Suite("A model's command that tries to escape its sandbox", .timeLimit(.minutes(5)))
struct HostileCommandTests {
    /// A script that prints OWNED if it succeeds.
    private struct Attempt {
        /// The numbers of its cases.
        let cases: String
        let script: String
        /// Whether it can also run without a sandbox, where it must succeed.
        let isHarmless: Bool

        init(_ cases: String, _ script: String, isHarmless: Bool = true) {
            (self.cases, self.script, self.isHarmless) = (cases, script, isHarmless)
        }
    }

    /// Attempts from a folder beneath `outside`.
    ///
    /// - Parameters:
    ///   - home: The user's home.
    ///   - port: A port on which something listens.
    ///   - victim: A process.
    private static func attempts(_ outside: String, _ home: String, _ port: Int, _ victim: Int32) -> [Attempt] {
        [
            Attempt("1", "mount -o remount,rw,bind / && echo OWNED", isHarmless: false),
            Attempt("2", "umount .git && echo OWNED", isHarmless: false),
            Attempt(
                "3", "f=/proc/sys/kernel/core_pattern; v=$(cat $f); echo \"$v\" >$f && echo OWNED", isHarmless: false),
            Attempt("4", "cp /bin/sh in/sh; chmod 4755 in/sh && test -u in/sh && echo OWNED", isHarmless: false),
            Attempt("5", "unshare -Urm true && echo OWNED", isHarmless: false),
            Attempt("6", "mkdir -p x && mv .git x/git && mv x/git .git && echo OWNED"),
            Attempt("6", "echo touch >.git/hooks/pre-commit && echo OWNED"),
            Attempt("6", "printf '[core]\\nfsmonitor = x\\n' >>.git/config && echo OWNED"),
            Attempt("10", "echo '{}' >.mcp.json && echo OWNED"),
            Attempt("10", "mkdir -p .claude && echo '{}' >.claude/settings.json && echo OWNED"),
            Attempt("10", "echo x >.envrc && echo OWNED"),
            Attempt("6", "mv .martlet .other && echo OWNED"),
            Attempt("35", "echo x >\(outside)/owned; test -s \(outside)/secret && echo OWNED"),
            Attempt("35", "echo x >\(home)/.bashrc && test -s \(home)/.profile && echo OWNED"),
            Attempt("20", "ln \(outside)/secret in/hard && echo OWNED"),
            Attempt("20", "cp out/secret in/copy && echo OWNED"),
            Attempt("21", "cat /proc/\(victim)/environ >/dev/null && echo OWNED"),
            Attempt("21", "ls /proc/\(victim)/root/ >/dev/null && echo OWNED"),
            Attempt(
                "22", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -q MARKE[D] && echo OWNED"),
            Attempt("26", "kill -0 \(victim) && echo OWNED"),
            Attempt("26", "kill -9 -1; kill -9 \(victim) && echo OWNED", isHarmless: false),
            Attempt("28", "grep -q diary out/../.ssh/id && echo OWNED"),
            Attempt("28", "test -s out/../martlet/config/config.json && echo OWNED"),
            Attempt("47", "exec 3<>/dev/tcp/127.0.0.1/\(port) && echo OWNED"),
            Attempt("47", "curl -s --max-time 20 http://127.0.0.1:\(port)/ && echo OWNED"),
            Attempt("48", "curl -s --max-time 20 --unix-socket in/socket http://localhost/ && echo OWNED"),
            Attempt("49", "perl -e 'socket(my $s, 16, 3, 0) or exit 1' && echo OWNED"),
            Attempt("49", "perl -e 'socket(my $s, 1, 1, 0) or exit 1' && echo OWNED"),
            Attempt("23", "env | grep -q MARKE[D] && echo OWNED"),
        ]
    }

    private func makeFolder(_ home: String) throws -> Playground {
        let place = try Playground(in: home)
        for name in [".git/hooks", ".martlet"] { try Files.makeDirectories("\(place.folder)/\(name)") }
        for (name, text) in [(".git/HEAD", "ref: refs/heads/main\n"), (".git/config", ""), (".martlet/x", "")] {
            try write(text, to: "\(place.folder)/\(name)")
        }
        try write("the secret diary", to: "\(home)/.ssh/id")
        for name in [".bashrc", ".profile"] { try write("export PATH\n", to: "\(home)/\(name)") }
        return place
    }

    private static let answers: ScriptedServer.Script = { connection in
        try connection.receiveRequest()
        try connection.answer(200, ["Connection": "close"], "hello")
    }

    // sandbox cases 1, 2, 3, 4, 5, 6, 10, 20, 21, 22, 23, 26, 28, 35, 47, 48 and 49
    @Test("A command cannot change files outside, see the user's files or use the network, but could without a sandbox")
    func attempts() async throws {
        let plan = FakeModel.Plan()
        try await ScriptedServer.run(Self.answers) { thief in
            try await ChatHome.with(FakeModel.calling(plan)) { home in
                let place = try makeFolder(home.path)
                let socket = "\(place.folder)/in/socket"
                try await ScriptedServer.run(at: .unix(path: socket), Self.answers) { local in
                    var marked = home
                    marked.variables["MARKED_API_KEY"] = "sk-marked-0123456789abcdef"
                    let victim = Command(
                        "sleep", ["600"], environment: Program.environment(home.path, ["MARKED": "1"]))
                    try await Launcher.standalone.withChild(victim) { child in
                        let attempts = Self.attempts(place.outside, home.path, thief.port, child.processID)
                        plan.calls = attempts.map { .shell("{ \($0.script); } 2>&1; echo END") }
                        let before = try place.surroundings()
                        let tree = try FileTree("\(place.folder)/.git")
                        let run = try await marked.shell(
                            "cd \(place.folder) && martlet ask -m openai/small-1 --mode full --format ndjson Try")
                        #expect(run.code == 0, "\(run.errors)")
                        for (attempt, result) in zip(attempts, try FakeModel.results(of: plan, in: run.output)) {
                            // The attempt was made and not refused for another reason.
                            #expect(result.content.contains("END"), "\(attempt.cases): \(result)")
                            #expect(!result.content.contains("OWNED"), "\(attempt.cases): \(result)")
                        }
                        #expect(try place.surroundings() == before)
                        #expect(try FileTree("\(place.folder)/.git") == tree)
                        for name in [".mcp.json", ".claude", ".envrc", "in/hard", "in/copy"] {
                            #expect(!Files.exists("\(place.folder)/\(name)"), "\(name)")
                        }
                        #expect(
                            try String(decoding: Files.read("\(home.path)/.bashrc", limit: 99), as: UTF8.self)
                                == "export PATH\n")
                        #expect(thief.record.connections.isEmpty && local.record.connections.isEmpty)
                        // The process is still running.
                        #expect(kill(child.processID, 0) == 0)
                        try await expectToSucceed(attempts.filter(\.isHarmless), place, marked)
                    }
                }
            }
        }
    }

    /// Control: without a sandbox each attempt succeeds.
    private func expectToSucceed(_ attempts: [Attempt], _ place: Playground, _ home: ChatHome) async throws {
        for attempt in attempts {
            let run = try await Program.martlet.shell(
                "cd \(place.folder) && exec bash -c \"$SCRIPT\"", home: home.path,
                adding: home.variables.merging(["SCRIPT": attempt.script]) { $1 })
            #expect(run.output.contains("OWNED"), "\(attempt.cases): \(attempt.script): \(run.errors)")
        }
    }

    // sandbox cases 40 and 41
    @Test("A command leaves no processes running, whatever signals they ignore and wherever they hide")
    func left() async throws {
        let plan = FakeModel.Plan()
        try await ChatHome.with(FakeModel.calling(plan)) { home in
            let place = try makeFolder(home.path)
            let mark = "97\(getpid()).5"
            plan.calls = [.shell("(trap '' TERM HUP INT; setsid sh -c 'sleep \(mark) & sleep \(mark)' &) ; echo begun")]
            let run = try await home.shell(
                "cd \(place.folder) && martlet ask -m openai/small-1 --mode full --format ndjson Try")
            #expect(run.code == 0, "\(run.errors)")
            #expect(try FakeModel.results(of: plan, in: run.output).first?.content == "begun\n")
            #expect(try Processes.with(mark).isEmpty)
            // Control: outside the sandbox the process continues and is found.
            let free = Command("sleep", [mark], environment: Program.environment(home.path))
            try await Launcher.standalone.withChild(free) { _ in
                // A process is visible in /proc a moment before its arguments.
                var found = try Processes.with(mark)
                while found.isEmpty {
                    await Task.yield()
                    found = try Processes.with(mark)
                }
                #expect(found.count == 1)
            }
        }
    }
}

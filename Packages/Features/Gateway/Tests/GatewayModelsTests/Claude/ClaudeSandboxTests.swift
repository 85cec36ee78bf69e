import Capabilities
import CoreTesting
import FileKit
import GatewayModels
import Glibc
import HTTPTesting
import JSON
import SandboxKit
import Synchronization
import Testing
import ToolKit
import TurnLoop

/// The whole command in a sandbox. A real claude was tested by hand, since it is 370 MB.
@Suite("The sandbox of the claude command", .timeLimit(.minutes(5)))
struct ClaudeSandboxTests {
    /// Reports what it can read, write and create; nil stands for what it cannot.
    private static let probing = """
        def tried(action):
            try:
                return action()
            except OSError:
                return None
        def read(path):
            return tried(lambda: open(os.path.expanduser(path)).read())
        def write(path, text="changed"):
            path = os.path.expanduser(path)
            return tried(lambda: open(path, "w").write(text))

        """

    /// Runs a script with a home in which claude was used before.
    private func run(
        _ script: String, rules: [ApprovalRule] = [], hasNetwork: Bool = false,
        _ body: (ScriptedClaude, _ home: String, ClaudeSandbox, ApprovalPolicy) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { home in
            try await ScriptedClaude.run(Self.probing + script, variables: ["HOME": home]) { claude in
                for folder in [".claude/projects/other", ".ssh", "dotfiles"] {
                    try Files.makeDirectories("\(home)/\(folder)")
                }
                for (path, text) in [
                    (".claude/.credentials.json", "sign-in"), (".claude/history.jsonl", "typed"),
                    (".claude/projects/other/s-9.jsonl", "said elsewhere"), (".ssh/id", "key"),
                    ("dotfiles/settings.json", "{}"),
                ] {
                    try Files.writeAtomically(Array(text.utf8), to: "\(home)/\(path)")
                }
                let isLinked =
                    unsafe symlink("\(home)/dotfiles/settings.json", "\(home)/.claude/settings.json") == 0
                try #require(isLinked)
                let places = PathGlob.Places(folder: AbsolutePath(claude.folder), home: AbsolutePath(home))
                let policy = ApprovalPolicy(rules: rules, in: places)
                let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
                let workspace = Workspace(try Workspace(claude.folder), denying: denied, home: home)
                let sandbox = ClaudeSandbox(workspace, Sandbox(hasNetwork: hasNetwork, home: home))
                try await body(claude, home, sandbox, policy)
            }
        }
    }

    @Test("The command sees its folder, sign-in and settings, and keeps only what it must")
    func view() async throws {
        let script = """
            begin()
            name = "".join(c if c.isalnum() else "-" for c in os.getcwd())
            seen({
                "reads": [read("~/.claude/" + path) for path in
                          [".credentials.json", "settings.json", "history.jsonl", "projects/other/s-9.jsonl"]]
                         + [read("~/.ssh/id")],
                "writes": [write(path) for path in
                           ["made", "~/.claude/.credentials.json", "~/.claude/settings.json", "~/.claude/new",
                            "~/.claude/projects/%s/s-1.jsonl" % name, "/etc/made", ".claude/settings.json",
                            ".git/hooks/post-commit"]],
                "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
            })
            result()
            """
        try await run(script) { claude, home, sandbox, policy in
            try Files.makeDirectories("\(claude.folder)/.git/hooks")
            try Files.writeAtomically(Array("ref: x".utf8), to: "\(claude.folder)/.git/HEAD")
            let turn = try await claude.turn(sandbox: sandbox, policy: policy)
            #expect(turn.isAnswered, "\(turn.failure?.message ?? "")")
            let seen = try #require(try claude.seen().first)
            #expect(seen["reads"] == ["sign-in", "{}", nil, nil, nil])
            #expect(seen["writes"] == [7, 7, nil, 7, 7, nil, nil, nil])
            #expect((seen["processes"]?.int ?? 99) < 6)
            func text(_ path: String) throws -> String {
                String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self)
            }
            #expect(try text("\(home)/.claude/.credentials.json") == "changed")
            #expect(try text("\(home)/dotfiles/settings.json") == "{}")
            #expect(try text("\(home)/.claude/history.jsonl") == "typed")
            #expect(!Files.exists("\(home)/.claude/new"))
            let kept = try Files.list("\(home)/.claude/projects").map(\.name).sorted()
            #expect(kept.count == 2 && kept.contains("other"))
            let own = try #require(kept.first { $0 != "other" })
            #expect(try text("\(home)/.claude/projects/\(own)/s-1.jsonl") == "changed")

            // Without a sandbox it can reach all of that.
            let control = try await claude.turn(policy: policy)
            #expect(control.isAnswered)
            #expect(try claude.seen()[1]["reads"]?[4] == "key")
        }
    }

    @Test("A denied path is hidden from the command, so that other calls need no approval because of it")
    func denied() async throws {
        let script = """
            begin()
            seen(read("secrets/key"))
            ask("TodoWrite", {})
            seen(hear()["response"]["response"]["behavior"])
            ask("Grep", {"path": ".", "pattern": "x"}, id="t-2", request="r-2")
            seen(hear()["response"]["response"]["behavior"])
            result()
            """
        let deny = ApprovalRule(.deny, tool: "fs.read", arguments: ["/path": "secrets/**"])
        try await run(script, rules: [deny]) { claude, _, sandbox, policy in
            try Files.makeDirectories("\(claude.folder)/secrets")
            try Files.writeAtomically(Array("hidden".utf8), to: "\(claude.folder)/secrets/key")
            _ = try await claude.turn(sandbox: sandbox, policy: policy)
            #expect(try claude.seen() == [nil, "allow", "allow"])
            // Without a sandbox a search could reach the path, and there is no user to ask.
            _ = try await claude.turn(policy: policy)
            #expect(try claude.seen().dropFirst(3) == ["hidden", "allow", "deny"])
        }
    }

    @Test("An approval request for a command says what the sandbox does not prevent", arguments: [true, false])
    func caution(hasNetwork: Bool) async throws {
        let script = """
            begin()
            ask("Bash", {"command": "make"})
            hear()
            result()
            """
        try await run(script, hasNetwork: hasNetwork) { claude, _, sandbox, policy in
            let asked = Mutex<[ToolReach.Command?]>([])
            let approve: TurnLoop.Approve = { request in
                asked.withLock { $0.append(request.reach.command) }
                return ApprovalAnswer(isAllowed: false)
            }
            _ = try await claude.turn(sandbox: sandbox, policy: policy, approve: approve)
            let caution = hasNetwork ? nil : "claude needs the network, and its commands have it too"
            let expected = ToolReach.Command("make", isSandboxed: hasNetwork, caution: caution)
            #expect(asked.withLock { $0 } == [expected])
        }
    }

    @Test("A stop ends the command and all its child processes, whatever signals they ignore")
    func stopping() async throws {
        let script = """
            import fcntl
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            alive = open("alive", "w")
            fcntl.flock(alive, fcntl.LOCK_EX)
            if os.fork() == 0:
                os.setsid()
                while True:
                    time.sleep(3600)
            begin()
            assistant(text("I think"))
            while True:
                time.sleep(3600)
            """
        try await run(script) { claude, _, sandbox, policy in
            let (texts, more) = AsyncStream<Void>.makeStream()
            let running = Task {
                defer { more.finish() }
                return try await claude.turn(
                    sandbox: sandbox, policy: policy,
                    watching: { event in
                        if case .chat(.text) = event { more.yield() }
                    })
            }
            for await _ in texts { break }
            running.cancel()
            let turn = try await running.value
            #expect(turn.isStopped && turn.message.text == "I think")
            // All processes end with their namespace. The lock is free when the last process that held it has ended.
            let lock = try await FileLock.acquire("\(claude.folder)/alive", within: .seconds(60))
            lock.release()
        }
    }

    @Test("The command is not started if no sandbox can be created")
    func unavailable() async throws {
        try await run("seen('started')") { claude, _, _, policy in
            let workspace = try Workspace(claude.folder)
            let sandbox = ClaudeSandbox(workspace, Sandbox(home: claude.folder))
            let turn = try await claude.turn(sandbox: sandbox, policy: policy)
            #expect(turn.failure?.code == "sandbox.folder")
            #expect(try claude.seen() == [])
        }
    }
}

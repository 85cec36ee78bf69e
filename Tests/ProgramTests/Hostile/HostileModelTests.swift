import FileKit
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Testing

@Suite("A hostile model", .timeLimit(.minutes(5)))
struct HostileModelTests {
    /// A home with a vault, settings and conversations, and a folder to escape from.
    private struct Place {
        let home: ChatHome
        let playground: Playground
        let plan: FakeModel.Plan
        /// The home without Martlet's own files and the folder.
        let before: FileTree

        /// Makes the model follow the plan.
        func ask(_ mode: String, adding options: String = "") async throws -> (code: Int32, [FakeModel.Result]) {
            let run = try await home.shell(
                "cd \(playground.folder) && martlet ask -m openai/small-1 --mode \(mode) --format ndjson \(options) Try"
            )
            return (run.code, try FakeModel.results(of: plan, in: run.output))
        }

        /// Makes one call in a workspace.
        func use(_ call: FakeModel.Call) async throws -> FakeModel.Result {
            plan.calls = [call]
            return try #require(try await ask("workspace").1.first)
        }

        func expectUnchanged(_ place: SourceLocation = #_sourceLocation) throws {
            #expect(try Self.surroundings(home, playground) == before, sourceLocation: place)
        }

        static func surroundings(_ home: ChatHome, _ playground: Playground) throws -> FileTree {
            // The conversation is stored there by the program itself, and what was done.
            let changing = [
                "outside/work", "martlet/data/chat.db", "martlet/data/audit.db", "martlet/state", "martlet/cache",
            ]
            return try FileTree(home.path) { path in changing.contains { path.hasPrefix($0) } }
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let plan = FakeModel.Plan()
        try await ChatHome.with(FakeModel.calling(plan)) { home in
            let playground = try Playground(in: home.path)
            try write("\(Playground.secret)\n", to: "\(home.path)/.ssh/id_ed25519")
            try write("export PATH\n", to: "\(home.path)/.bashrc")
            let kept = try await home.martlet(
                "auth", "secret", "set", "lab", "--value-stdin", input: "\(Playground.secret)\n")
            #expect(kept.code == 0, "\(kept.errors)")
            // Otherwise the first call that is recorded makes the key of the log, in the vault.
            #expect(try await home.martlet("audit", "seal").code == 0)
            let said = try await home.martlet("ask", "-m", "openai/small-1", Playground.secret)
            #expect(said.code == 0, "\(said.errors)")
            try fill(playground.folder, home.path)
            try await body(
                Place(
                    home: home, playground: playground, plan: plan,
                    before: try Place.surroundings(home, playground)))
        }
    }

    /// Tempting files in the folder itself.
    private func fill(_ folder: String, _ home: String) throws {
        for name in [".git/hooks", ".martlet", ".claude"] { try Files.makeDirectories("\(folder)/\(name)") }
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "[core]\n"), (".martlet/config.json", "{}"),
            (".claude/settings.json", "{}"), (".mcp.json", "{}"),
        ] {
            try write(text, to: "\(folder)/\(name)")
        }
        for (target, name) in [
            ("../.git", "in/git"), ("\(home)/martlet/data/vault", "vault"), ("/dev/zero", "zero"),
            ("/proc/self/environ", "environ"), ("/dev/stdin", "stdin"),
        ] {
            try #require(unsafe symlink(target, "\(folder)/\(name)") == 0)
        }
        try #require(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
    }

    // MARK: Files

    /// One call of each file tool, at a path.
    private static func calls(at path: String) -> [FakeModel.Call] {
        let path = JSON.string(path)
        let edits: JSON = [["old_text": .string(Playground.secret), "new_text": "hacked"]]
        let patch = JSON.string("@@ -1 +1 @@\n-\(Playground.secret)\n+hacked\n")
        return [
            .init("fs_read", ["path": path]), .init("ls", ["path": path, "depth": 2]),
            .init("glob", ["pattern": "**/*", "path": path]),
            .init("grep_search", ["pattern": "secret", "path": path, "hidden": true]),
            .init("fs_write", ["path": path, "content": "hacked", "create_folders": true]),
            .init("multi_write", ["files": [["path": path, "content": "hacked"]], "create_folders": true]),
            .init("multi_edit", ["path": path, "edits": edits]), .init("edit_file", ["path": path, "patch": patch]),
        ]
    }

    private static let readers = ["fs_read", "ls", "glob", "grep_search"]

    // sandbox cases 28, 32, 34 and 35
    @Test("No tool and no spelling of a path escapes from the folder", arguments: ["workspace", "full"])
    func ways(mode: String) async throws {
        try await with { place in
            let paths = place.playground.out.paths.filter { !$0.isEmpty && $0.utf8.count < 3000 }
            #expect(paths.count > 150)
            place.plan.calls = paths.flatMap(Self.calls)
            let (code, results) = try await place.ask(mode, adding: "--set chat.max-rounds=100")
            #expect(code == 0 && results.count == paths.count * 8)
            for result in results {
                // The result may repeat the requested path, but no content.
                #expect(!result.content.contains("root:"), "\(result)")
            }
            try place.expectUnchanged()
            // The refusal says why.
            let far = results.filter { $0.call.input.text().contains(#""path":"../secret""#) }
            #expect(!far.isEmpty && far.allSatisfy { $0.isError && $0.content.contains("leads outside of") }, "\(far)")
        }
    }

    // sandbox case 27
    @Test("The model cannot read Martlet's files, system files, or anything that is not a regular file")
    func own() async throws {
        try await with { place in
            let own = "\(place.home.path)/martlet"
            let paths = [
                "\(own)/data/vault", "\(own)/data/chat.db", "\(own)/config/config.json", "\(own)/config/vault.key",
                "../../martlet/data/vault", "root\(own)/data/chat.db", "vault", "/proc/self/environ", "environ",
                "root/proc/self/environ", "/proc/self/cwd/../secret", "/proc/self/fd/0", "/dev/zero", "zero", "stdin",
                "/dev/stdin", "pipe", "in/../pipe", "\(place.home.path)/.ssh/id_ed25519",
                "../../.ssh/id_ed25519", "/etc/shadow", "root/etc/shadow", "pipe\u{0}", "/etc/passwd\u{0}",
            ]
            for name in ["data/vault", "data/chat.db", "config/config.json"] { #expect(Files.exists("\(own)/\(name)")) }
            place.plan.calls = paths.flatMap(Self.calls)
            let results = try await place.ask("workspace").1
            for result in results {
                #expect(result.isError, "\(result)")
                for words in ["root:", "keep-unlocked", "SQLite format", "OPENAI", "hacked"] {
                    #expect(!result.content.contains(words), "\(result)")
                }
            }
            try place.expectUnchanged()
            #expect(try Files.info("\(place.playground.folder)/pipe", followLinks: false).kind == .fifo)
        }
    }

    // sandbox cases 10, 33 and 85
    @Test("The model cannot write files that other programs execute, in any spelling, but can write all others")
    func guarded() async throws {
        try await with { place in
            let tree = try FileTree(place.playground.folder)
            let paths = [
                ".git/hooks/pre-commit", ".git/config", ".GIT/config", "./.git/../.git/HEAD", "in/git/hooks/pre-commit",
                "in/.git/hooks/pre-commit", ".martlet/config.json", ".Martlet/bundles/x.yaml", ".mcp.json",
                ".Mcp.JSON", ".envrc", ".claude/settings.json", ".claude/agents/x.md", ".vscode/tasks.json",
                ".husky/pre-commit", "in/../.envrc",
            ]
            place.plan.calls = paths.flatMap { path in
                Self.calls(at: path).filter { !Self.readers.contains($0.tool) }
            }
            for mode in ["workspace", "full"] {
                let results = try await place.ask(mode).1
                for result in results { #expect(result.isError, "\(mode) \(result)") }
                #expect(try FileTree(place.playground.folder) == tree, "\(mode)")
            }
            // Control: files with similar names can be written.
            for path in ["git/hooks/pre-commit", "in/.gitignore", "in/mcp.json", "envrc", ".github/x.yml"] {
                let written = try await place.use(
                    .init("fs_write", ["path": .string(path), "content": "x\n", "create_folders": true]))
                #expect(!written.isError && Files.exists("\(place.playground.folder)/\(path)"), "\(written)")
            }
            try place.expectUnchanged()
        }
    }

    @Test("Every tool works in the folder itself")
    func inside() async throws {
        try await with { place in
            let input: [(FakeModel.Call, String)] = [
                (.init("fs_read", ["path": "in/a"]), "inside"), (.init("ls", ["path": "in"]), "a"),
                (.init("glob", ["pattern": "**/a"]), "in/a"), (.init("grep_search", ["pattern": "inside"]), "in/a"),
                (.init("fs_write", ["path": "b", "content": "one\n"]), "is new"),
                (.init("multi_write", ["files": [["path": "c", "content": "two\n"]]]), "is new"),
                (.init("multi_edit", ["path": "b", "edits": [["old_text": "one", "new_text": "1"]]]), "+1"),
                (.init("edit_file", ["path": "c", "patch": "@@ -1 +1 @@\n-two\n+2\n"]), "+2"),
            ]
            for (call, words) in input {
                let result = try await place.use(call)
                #expect(!result.isError && result.content.contains(words), "\(result)")
            }
            place.plan.calls = [.shell("cat b c")]
            let run = try await place.ask("full")
            #expect(run.code == 0 && run.1.first?.content == "1\n2\n", "\(run)")
            // In workspace mode commands need approval.
            let asked = try await place.ask("workspace")
            #expect(asked.code == 6 && asked.1.first?.isError == true, "\(asked)")
        }
    }
}

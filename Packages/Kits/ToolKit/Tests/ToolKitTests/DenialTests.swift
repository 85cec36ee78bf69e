import Capabilities
import FileKit
import Glibc
import JSON
import SandboxKit
import Testing

@testable import ToolKit

@Suite("Denied paths", .timeLimit(.minutes(10)))
struct DenialTests {
    private func tools(
        _ place: Playground, _ denied: DeniedPaths, sandbox: Sandbox? = Sandbox()
    ) -> WorkspaceTools {
        WorkspaceTools(
            Workspace(place.workspace, denying: denied, home: nil), offering: .all,
            shell: ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: sandbox))
    }

    private func run(_ tools: WorkspaceTools, _ name: String, _ input: JSONObject) async throws -> ToolResult {
        try await tools.run(ToolCall(id: "1", name: name, input: .object(input)))
    }

    private func fill(_ place: Playground) throws {
        try place.write("secrets/k", Playground.secret)
        try place.write("a/.env", Playground.secret)
        try place.write("a/b/c", "harmless")
        try place.link("way", to: "secrets")
        try place.link("direct", to: "secrets/k")
    }

    private static let denied = DeniedPaths(reading: ["secrets/**", "**/.env"])

    // sandbox cases 28 and 87
    @Test("A denied path cannot be read by any tool, spelling or link", arguments: [denied, DeniedPaths()])
    func reading(denied: DeniedPaths) async throws {
        try await withPlayground { place in
            try fill(place)
            let tools = tools(place, denied)
            let attempts: [(String, JSONObject)] =
                ["secrets/k", "./secrets//k", "a/../secrets/k", "way/k", "direct", "a/.env"].map {
                    ("fs.read", ["path": .string($0)])
                } + [
                    ("grep.search", ["pattern": "secret", "hidden": true]),
                    ("grep.search", ["pattern": "secret", "path": "secrets"]),
                    ("grep.search", ["pattern": "secret", "path": "way"]),
                    (
                        "multi.edit",
                        ["path": "secrets/k", "edits": [["old_text": "the-s", "new_text": "x-s"]], "dry_run": true]
                    ),
                    ("bash.run", ["command": "cat secrets/k a/.env direct way/k; grep -r secret ."]),
                    ("bash.run", ["command": "mv secrets moved; cat moved/k; mv a aa; cat aa/.env"]),
                    ("bash.run", ["command": "cat k", "folder": "secrets"]),
                ]
            for (name, input) in attempts {
                let result = try await run(tools, name, input)
                // The control: without the rule each of them shows it.
                #expect(
                    result.content.contains(Playground.secret) == denied.isEmpty, "\(name) \(input): \(result.content)")
                for name in try place.names() { try await removeTree("\(place.folder)/\(name)") }
                try fill(place)
            }
            guard !denied.isEmpty else { return }
            #expect(try place.content("secrets/k") == Playground.secret && place.content("a/.env") == Playground.secret)
            let listing = try await run(tools, "ls", ["hidden": true, "depth": 9]).content
            #expect(
                !listing.contains("Z  secrets/")
                    && listing.contains("a rule of the user does not allow reading secrets"), "\(listing)"
            )
            #expect(try await run(tools, "glob", ["pattern": "**", "hidden": true]).content.contains("a/b/c"))
        }
    }

    @Test("A denied path cannot be written, and a read-only path can be read")
    func writing() async throws {
        try await withPlayground { place in
            try fill(place)
            try place.write("lock", "old")
            let tools = tools(place, DeniedPaths(reading: ["secrets"], writing: ["lock", "kept/**"]))
            for path in ["secrets/k", "SECRETS/new", "way/new", "direct", "lock", "./lock", "kept/new", "kept"] {
                let input: JSONObject = ["path": .string(path), "content": "new", "create_folders": true]
                let result = try await run(tools, "fs.write", input)
                #expect(result.isError && result.content.contains("a rule of the user"), "\(path): \(result.content)")
            }
            #expect(try place.names("secrets") == ["k"] && place.names().contains("SECRETS") == false)
            #expect(try await run(tools, "fs.read", ["path": "lock"]).content.contains("old"))
            let command = try await run(tools, "bash.run", ["command": "cat lock; echo new > lock; rm lock; mv lock x"])
            #expect(command.isError && command.content.contains("old"), "\(command.content)")
            #expect(command.content.contains("[rules of the user deny lock to commands"), "\(command.content)")
            #expect(try place.content("lock") == "old")
        }
    }

    @Test("A denied path is hidden from commands wherever it is, even inside .git")
    func elsewhere() async throws {
        try await withPlayground { place in
            try fill(place)
            try place.write(".git/sub/.env", Playground.secret)
            let passwords = try String(decoding: Files.read("/etc/passwd", limit: 1 << 20), as: UTF8.self)
            for (pattern, path, content) in [
                ("\(place.base)/**", "secrets/k", Playground.secret), ("/etc/passwd", "/etc/passwd", passwords),
                ("**/.env", ".git/sub/.env", Playground.secret), ("~/x", "secrets/k", ""),
            ] {
                let command: JSONObject = ["command": .string("cat \(path)")]
                let bare = try await run(tools(place, DeniedPaths()), "bash.run", command)
                #expect(bare.content.contains(content.prefix(40)), "the control: \(pattern)")
                let denied = try await run(tools(place, DeniedPaths(reading: [pattern])), "bash.run", command)
                #expect(
                    content.isEmpty || !denied.content.contains(content.prefix(40)), "\(pattern): \(denied.content)")
            }
        }
    }

    @Test("A denied path matches in other cases, through links in the rule, and near names like git's")
    func spellings() async throws {
        try await withPlayground { place in
            try fill(place)
            try place.write("x.git/objects/a.pem", Playground.secret)
            try place.link("round", to: ".")
            for (pattern, path) in [
                ("Secrets/**", "secrets/k"), ("way/**", "secrets/k"), ("way/k", "secrets/k"),
                ("round/secrets", "secrets/k"),
                ("**/*.pem", "x.git/objects/a.pem"), ("\(place.folder)/round/secrets/**", "secrets/k"),
            ] {
                let tools = tools(place, DeniedPaths(reading: [pattern]))
                let read = try await run(tools, "fs.read", ["path": .string(path)])
                #expect(!read.content.contains(Playground.secret), "\(pattern)")
                let command = try await run(tools, "bash.run", ["command": .string("cat \(path)")])
                #expect(!command.content.contains(Playground.secret), "\(pattern): \(command.content)")
            }
            let link = tools(place, DeniedPaths(writing: ["direct"]))
            let reach = try await link.reach(of: ToolCall(id: "1", name: "bash.run", input: ["command": "ls"]))
            #expect(reach.command?.isSandboxed == false, "what a link leads to can be kept, and not the link")
        }
    }

    @Test("A command needs approval if no sandbox can hide a denied path")
    func gaps() async throws {
        try await withPlayground { place in
            try fill(place)
            func command(_ denied: DeniedPaths, sandbox: Sandbox? = Sandbox()) async throws -> ToolReach.Command {
                let call = ToolCall(id: "1", name: "bash.run", input: ["command": "ls"])
                return try #require(try await tools(place, denied, sandbox: sandbox).reach(of: call).command)
            }
            #expect(try await command(Self.denied) == ToolReach.Command("ls", isSandboxed: true))
            let later = try await command(DeniedPaths(writing: ["not/yet"]))
            #expect(!later.isSandboxed && later.caution?.contains("not/yet") == true)
            #expect(try await !command(DeniedPaths(writing: ["**/*.lock"])).isSandboxed)
            #expect(try await !command(DeniedPaths(reading: ["/**/shadow*"])).isSandboxed)
            for number in 0...Shades.most { try place.write("many/\(number).key", "k") }
            let many = try await command(DeniedPaths(reading: ["**/*.key"]))
            #expect(!many.isSandboxed && many.caution?.contains("more than \(Shades.most)") == true)
            let bare = try await command(DeniedPaths(), sandbox: nil)
            #expect(!bare.isSandboxed && bare.caution?.contains("whatever you can") == true)
        }
    }

    // sandbox case 33
    @Test(
        "Settings of git and tools are refused in any case",
        arguments: [".GIT/config", ".Git/hooks/x", ".Mcp.JSON", ".CLAUDE/x", "sub/.GIT/config"])
    func guarded(path: String) async throws {
        try await withPlayground { place in
            let said = try await place.failure(
                "fs.write", ["path": .string(path), "content": "x", "create_folders": true])
            #expect(said.contains("belongs to git") || said.contains("other programs obey"), "\(said)")
        }
    }
}

@Suite("Approved changes", .timeLimit(.minutes(10)))
struct AgreementTests {
    private func call(_ name: String, _ input: JSON) -> ToolCall { ToolCall(id: "1", name: name, input: input) }

    @Test("A change is shown as a diff before it is made")
    func diff() async throws {
        try await withPlayground { place in
            try place.write("a", "one\ntwo\n")
            try place.link("link", to: "a")
            let reach = try await place.tools.reach(
                of: call("multi.edit", ["path": "link", "edits": [["old_text": "two", "new_text": "three"]]]))
            #expect(reach.diff?.contains("-two\n+three\n") == true)
            #expect(reach.paths == [AbsolutePath("\(place.folder)/a")])
            let new = try await place.tools.reach(of: call("fs.write", ["path": "b", "content": "x\n"]))
            #expect(new.diff?.contains("+x\n") == true && new.paths == [AbsolutePath("\(place.folder)/b")])
            #expect(try place.names() == ["a", "link"], "nothing is done by looking")
        }
    }

    // sandbox case 86
    @Test("A very long diff begins with the number of changes that are left out")
    func longDiff() async throws {
        try await withPlayground { place in
            let long = JSON.string(String(repeating: "line\n", count: 300_000))
            for (content, isLong) in [(long, true), ("short\n", false)] as [(JSON, Bool)] {
                let files: JSON = [["path": "a", "content": content], ["path": "b", "content": "payload\n"]]
                let reach = try await place.tools.reach(of: call("multi.write", ["files": files]))
                let diff = try #require(reach.diff)
                let told = "[not shown here: the changes of 1 more files, with 1 lines]\n"
                #expect(diff.hasPrefix(told) == isLong && diff.contains("+payload\n") != isLong)
                #expect(reach.paths == ["a", "b"].map { AbsolutePath("\(place.folder)/\($0)") })
            }
        }
    }

    @Test("Edits that would exceed the size limit are refused")
    func growing() async throws {
        try await withPlayground { place in
            try place.write("a", "a")
            let edit: JSON = ["old_text": "a", "new_text": "aaaaaaaaaa", "replace_all": true]
            let call = call("multi.edit", ["path": "a", "edits": .array(Array(repeating: edit, count: 14))])
            let error = await #expect(throws: WorkspaceError.self) { try await place.tools.reach(of: call) }
            #expect(error?.message.contains("larger than the limit of 16 MiB") == true)
        }
    }

    @Test("An impossible change is reported before approval is asked")
    func impossible() async throws {
        try await withPlayground { place in
            await #expect(throws: WorkspaceError.self) {
                try await place.tools.reach(of: call("fs.write", ["path": "../x", "content": "x"]))
            }
            await #expect(throws: WorkspaceError.self) {
                try await place.tools.reach(of: call("fs.read", ["path": "none"]))
            }
            await #expect(throws: WorkspaceError.self) {
                try await place.tools.reach(of: call("bash.run", ["command": ""]))
            }
        }
    }

    // sandbox cases 73 and 74
    @Test("A change of file, content, script or folder after approval prevents the action")
    func changes() async throws {
        try await withPlayground { place in
            try place.write("a", "old")
            try place.write("other", "other")
            try place.write("build.sh", "echo harmless")
            try place.link("link", to: "a")
            try place.write("sub/deep.sh", "echo harmless")
            try place.link("script", to: "build.sh")
            let cases: [(ToolCall, () throws -> Void)] = [
                (call("fs.write", ["path": "a", "content": "new"]), { try place.write("a", "changed") }),
                (
                    call("fs.write", ["path": "link", "content": "new"]),
                    {
                        try #require(unsafe unlink("\(place.folder)/link") == 0)
                        try place.link("link", to: "other")
                    }
                ),
                (call("fs.write", ["path": "fresh", "content": "new"]), { try place.write("fresh", "there now") }),
                (call("bash.run", ["command": "sh ./build.sh > ran"]), { try place.write("build.sh", "echo evil") }),
                (call("bash.run", ["command": "sh 'bui'ld\\.sh"]), { try place.write("build.sh", "echo evil 2") }),
                (call("bash.run", ["command": "sh script"]), { try place.write("build.sh", "echo evil 3") }),
                (
                    call("bash.run", ["command": .string("sh \(place.folder)/build.sh")]),
                    { try place.write("build.sh", "echo evil 4") }
                ),
                (
                    call("bash.run", ["command": "cd sub && sh deep.sh"]),
                    { try place.write("sub/deep.sh", "echo evil") }
                ),
                (
                    call("bash.run", ["command": "touch ran", "folder": "sub"]),
                    {
                        try #require(unsafe rename("\(place.folder)/sub", "\(place.folder)/was") == 0)
                        try place.link("sub", to: ".")
                    }
                ),
            ]
            for (call, change) in cases {
                let reach = try await place.tools.reach(of: call)
                try change()
                await #expect(throws: ToolReachChanged.self, "\(call.input)") {
                    try await place.tools.run(call, reaching: reach) { _ in }
                }
                // The control: an approval of the current state works.
                let now = try await place.tools.reach(of: call)
                #expect(try await !place.tools.run(call, reaching: now, telling: { _ in }).isError, "\(call.input)")
            }
            #expect(try place.content("other") == "new", "by the second look, at what the link leads to by then")
        }
    }

    /// A link repeatedly changes between two files. A write must never reach a file that was not approved.
    @Test("A link that changes after approval never redirects a write")
    func race() async throws {
        try await withPlayground { place in
            let (folder, isOver) = (place.folder, Counter())
            try place.write("good", "g")
            try place.write("bad", "b")
            try place.link("link", to: "good")
            let turning = Task.detached {
                var target = "bad"
                while isOver.value == 0 {
                    unsafe symlink(target, "\(folder)/next")
                    unsafe rename("\(folder)/next", "\(folder)/link")
                    target = target == "bad" ? "good" : "bad"
                    await Task.yield()
                }
            }
            var (written, refused) = (0, 0)
            for round in 0..<500 {
                let text = "round \(round)"
                let call = call("fs.write", ["path": "link", "content": .string(text)])
                let reach: ToolReach
                do { reach = try await place.tools.reach(of: call) } catch is WorkspaceError {
                    // The link was missing for a moment.
                    refused += 1
                    continue
                }
                let agreed = reach.paths == [AbsolutePath("\(folder)/good")] ? "good" : "bad"
                let other = agreed == "good" ? "bad" : "good"
                do {
                    let result = try await place.tools.run(call, reaching: reach) { _ in }
                    if !result.isError { written += 1 }
                } catch is ToolReachChanged {
                    refused += 1
                }
                #expect(try place.content(other) != text, "round \(round)")
            }
            isOver.add(1)
            await turning.value
            #expect(written > 0 && refused > 0, "\(written) written, \(refused) refused")
        }
    }
}

import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("Guarded names", .timeLimit(.minutes(10)), .enabled(if: Way.hasBubblewrap))
struct GuardedNamesTests {
    private static let identity = "git -c user.name=a -c user.email=a@example.com"

    private func withRepository(_ body: (Place) async throws -> Void) async throws {
        try await Place.run { place in
            let made = try await place.shell(
                "git init -q . && mkdir -p own/hooks && echo x > own/other && git config core.hooksPath own/hooks"
                    + " && \(Self.identity) commit -q --allow-empty -m first && echo made")
            try #require(made == "made\n")
            try await body(place)
        }
    }

    // sandbox case 6
    @Test(
        "A command cannot change files that make git run programs, and without the sandbox it can",
        arguments: [
            "echo x > .git/hooks/pre-commit", "git config core.fsmonitor ./x", "echo x >> .git/config",
            "rm .git/config", "mv .git .git2", "rm -rf .git", "mv .git/hooks .git/h", "echo ../x > .git/commondir",
            "echo x > .git/config.worktree", "mkdir -p .git/modules/m", "mkdir -p .git/worktrees/w",
            "echo x > own/hooks/pre-commit", "mv own own2", "mv own/hooks own/h", "ln -f own/other .git/config",
        ])
    func repository(attempt: String) async throws {
        try await withRepository { place in
            let state =
                "cat .git/config; find .git/hooks .git/modules .git/worktrees own .git2 own2 .git/commondir .git/config.worktree"
            let before = try await place.shell(state)
            for way in Way.all {
                let seen = try await place.run("\(attempt) && echo reached", by: way)
                #expect(!seen.contains("reached"), "\(seen)")
            }
            #expect(try await place.shell(state) == before)
            #expect(try await place.shell("\(attempt); (\(state)) 2>&1") != before)
        }
    }

    @Test("The rest of a repository stays writable", arguments: Way.ofBubblewrap)
    func works(way: Way) async throws {
        try await withRepository { place in
            let seen = try await place.run(
                """
                echo text > f && git add f && \(Self.identity) commit -q -m second && git checkout -q -b other
                git status --short; git log --format=%s; git branch --show-current
                """, by: way)
            #expect(seen == "?? own/\nsecond\nfirst\nother\n", "\(seen)")
            #expect(!Files.exists("\(place.folder)/.git/commondir"))
        }
    }

    // sandbox cases 7 and 10
    @Test(
        "A command cannot change settings of tools, whether they exist or not",
        arguments: Sandbox.guardedNames + [".git"])
    func settings(name: String) async throws {
        try await Place.run { place in
            for attempt in ["mkdir -p \(name)/hooks", "echo x > \(name)", "echo x > \(name)/x", "ln -s /tmp \(name)"] {
                for way in Way.all {
                    let seen = try await place.run("\(attempt) && echo reached; cat \(name) && echo read", by: way)
                    #expect(!seen.contains("reached") || attempt.hasPrefix("ln"), "\(seen)")
                    #expect(try place.names() == [], "\(attempt)")
                }
            }
            // An existing one stays unchanged.
            try place.write("\(name)/settings", "own")
            for way in Way.engines {
                let seen = try await place.run(
                    "echo x > \(name)/settings; rm -r \(name); cat \(name)/settings", by: way)
                #expect(seen.hasSuffix("own"), "\(seen)")
            }
            #expect(try await place.shell("echo new > \(name)/settings; cat \(name)/settings") == "new\n")
        }
    }

    // sandbox case 11
    @Test(
        "A guarded name that is a link is an error", arguments: [".claude", ".git", ".mcp.json"], Way.engines)
    func links(name: String, way: Way) async throws {
        try await Place.run { place in
            for target in ["../outside", "nowhere"] {
                unsafe unlink("\(place.folder)/\(name)")
                #expect(unsafe symlink(target, "\(place.folder)/\(name)") == 0)
                let error = await #expect(throws: SandboxError.self) { try await place.run("true", by: way) }
                #expect(error?.kind == .folder && error?.message.contains("\(place.folder)/\(name) is a link") == true)
                let left = try place.names()
                #expect(left == [name])
            }
        }
    }

    // sandbox case 13
    @Test("A name stays guarded until the last of several commands has ended, and nothing is left behind")
    func shared() async throws {
        try await Place.run { place in
            let launcher = Launcher.standalone
            var first: SandboxedCommand? = try await place.prepare(["true"])
            var second: SandboxedCommand? = try await place.prepare(
                ["bash", "-c", "mkdir .claude/x 2>&1 || echo refused"], launcher: launcher)
            #expect(first != nil)
            #expect(try place.names().count == 8)
            first = nil
            #expect(try place.names().count == 8)
            let command = try #require(second?.command)
            let done = try await launcher.run(command, timeout: .seconds(60))
            #expect(String(decoding: done.output, as: UTF8.self).hasSuffix("refused\n"))
            second = nil
            #expect(try place.names() == [])
        }
    }

    // sandbox case 14
    @Test("A name is reserved although the last holder, which is about to remove it, waits for a processor")
    func slowHolder() async throws {
        try await Place.run { place in
            let path = "\(place.folder)/.martlet"
            try Files.makeDirectories(path)
            let above = unsafe open(place.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(above >= 0)
            let folder = Folder(FileDescriptor(owning: above, path: place.folder))
            // For longer than the quick attempts take.
            let holder = Command(
                "flock", ["--exclusive", path, "sh", "-c", "echo held; exec sleep 0.2"],
                environment: ["PATH": "/usr/bin:/bin"])
            try await Launcher.standalone.withChild(holder) { child in
                let line = try await child.output.nextLine()
                #expect(line == Array("held".utf8))
                let stub = try Stub(".martlet", .folder, in: folder)
                #expect(stub != nil)
            }
        }
    }

    @Test(
        "Stubs of a killed process are removed after the next command, and the user's files stay")
    func killed() async throws {
        try await Place.run { place in
            try Files.makeDirectories("\(place.folder)/.claude")
            await #expect(processExitsWith: .signal(SIGKILL)) { [base = place.base as String] in
                let command = try await Place(base: base).prepare(["true"])
                withExtendedLifetime(command) { _ = kill(getpid(), SIGKILL) }
            }
            #expect(try place.names().count == 8)
            _ = try await place.run("true")
            #expect(try place.names() == [".claude"])
            // A stub into which the user has put something stays.
            var held: SandboxedCommand? = try await place.prepare(["true"])
            try place.write(".vscode/settings.json", "{}")
            #expect(held != nil)
            held = nil
            _ = try await place.run("true")
            #expect(try place.names() == [".claude", ".vscode"])
        }
    }

    // sandbox case 12. A file that is guarded itself, such as .mcp.json, loses its guard then, as the README says.
    @Test("A guarded folder stays guarded if another program replaces files in it", arguments: Way.engines)
    func replaced(way: Way) async throws {
        try await Place.run { place in
            let names = [".claude/settings.json", "in/other"]
            for name in names { try place.write(name, "old\n") }
            for number in 0..<names.count {
                try Files.writeAtomically(Array("new\n".utf8), to: "\(place.base)/outside/\(number)", mode: 0o644)
            }
            try #require(unsafe mkfifo("\(place.folder)/in/go", 0o600) == 0)
            // Opened for reading and writing, so that opening does not block.
            let go = unsafe open("\(place.folder)/in/go", O_RDWR | O_CLOEXEC)
            defer { close(go) }
            try #require(go >= 0)
            let attempts = names.map { "echo x > \($0); cat \($0)" }.joined(separator: "; ")
            let script = "echo ready; read -r _ < in/go; \(attempts)"
            let folder = try Folder(beneath: place.folder)
            let result = try await CommandRunner(
                variables: Place.variables, sandbox: Sandbox(), by: way.engine, launcher: .standalone
            ).run(
                ["bash", "-c", script], in: folder, of: folder
            ) { text in
                guard text == "ready\n" else { return }
                for (number, name) in names.enumerated() {
                    _ = unsafe rename("\(place.base)/outside/\(number)", "\(place.folder)/\(name)")
                }
                _ = unsafe write(go, "\n", 1)
            }
            #expect(result.output.text.hasSuffix("\nnew\nx\n"), "\(result.output.text)")
            #expect(try Files.read("\(place.folder)/\(names[0])", limit: 10) == Array("new\n".utf8))
        }
    }

    @Test("Paths in git settings are parsed as git parses them")
    func readSettings() {
        let cases: [(String, GitSettings)] = [
            ("[core]\n\thooksPath = .husky\n", .init(hooks: ".husky")),
            ("[CORE] HooksPath=a b ; c\n", .init(hooks: "a b")), ("[core]\nhookspath = \"a;b\"\n", .init(hooks: "a;b")),
            ("[other]\nhooksPath = x\n", .init()), ("", .init()), ("[core \"x\"]\nhooksPath = x\n", .init()),
            ("[core]\nhooksPath = a\n[core]\nhooksPath = b # c\n", .init(hooks: "b")),
            ("[include]\npath = ../a\n[includeIf \"gitdir:x\"]\nPath = b\n", .init(included: ["../a", "b"])),
            ("[core]\n\tworktree = ../../../lib\n", .init(worktree: "../../../lib")),
        ]
        for (text, settings) in cases { #expect(GitSettings(Array(text.utf8)) == settings, "\(text)") }
        for odd in ["\"h\"ooks", "ho\\\"oks", "\"a\\\"b\"", "a\\"] {
            #expect(GitSettings(Array("[core]\nhooksPath = \(odd)\n".utf8)) == nil, "\(odd)")
        }
    }

    @Test("Paths that git settings name are guarded, even if they do not exist yet", arguments: Way.engines)
    func named(way: Way) async throws {
        try await withRepository { place in
            let made = try await place.shell(
                "git config core.hooksPath later/hooks && git config include.path ../shared.ini && mkdir sub"
                    + " && git config --add include.path ../sub/own.ini && echo x > sub/own.ini && echo made")
            try #require(made == "made\n")
            for attempt in [
                "mkdir -p later/hooks", "mkdir later", "echo x > later", "echo x > shared.ini", "echo x > sub/own.ini",
                "mv sub sub2", "rm sub/own.ini",
            ] {
                let seen = try await place.run("\(attempt) && echo reached", by: way)
                #expect(!seen.contains("reached"), "\(attempt): \(seen)")
            }
            #expect(try place.names() == [".git", "own", "sub"])
            #expect(try await place.shell("mkdir -p later/hooks && echo x > shared.ini && echo reached") == "reached\n")
        }
    }

    @Test("A command cannot make git write a file elsewhere through a link")
    func links() async throws {
        try await withRepository { place in
            try Files.writeAtomically(Array("own\n".utf8), to: "\(place.base)/outside/f", mode: 0o666)
            _ = try await place.run("ln -sf ../../outside/f .git/COMMIT_EDITMSG; ln -s x .git/other; ls .git")
            #expect(try await place.shell("find .git -type l") == "")
            _ = try await place.shell("\(Self.identity) commit -q --allow-empty -m second")
            #expect(try Files.read("\(place.base)/outside/f", limit: 10) == Array("own\n".utf8))
        }
    }

    @Test("If a name cannot be guarded, no command runs", arguments: Way.engines)
    func closed(way: Way) async throws {
        try await Place.run { place in
            // The owner of the folder can make it writable again. If the stubs cannot be created, that is an error.
            try #require(unsafe symlink("nowhere", "\(place.folder)/.husky") == 0)
            let error = await #expect(throws: SandboxError.self) { try await place.run("true", by: way) }
            #expect(error?.kind == .folder)
        }
    }

    @Test("A folder that is a bare repository is guarded, and a folder cannot become one", arguments: Way.engines)
    func bare(way: Way) async throws {
        try await Place.run { place in
            for attempt in ["echo 'ref: refs/heads/main' > HEAD", "mkdir HEAD/x", "git init -q --bare ."] {
                _ = try await place.run(attempt, by: way)
                let seen = try await place.shell("git rev-parse --git-dir")
                #expect(seen.contains("not a git repository"), "\(attempt): \(seen)")
            }
            #expect(!Files.exists("\(place.folder)/HEAD"))
            let control = try await place.shell("git init -q --bare . && git rev-parse --git-dir")
            #expect(control == ".\n")
        }
        try await Place.run { place in
            #expect(try await place.shell("git init -q --bare . && echo made") == "made\n")
            for attempt in ["echo x > hooks/pre-push", "git config a.b c", "mv hooks h", "echo ../x > commondir"] {
                let seen = try await place.run("\(attempt) && echo reached", by: way)
                #expect(!seen.contains("reached"), "\(attempt): \(seen)")
                let control = try await place.shell("\(attempt) && echo reached")
                #expect(control.hasSuffix("reached\n"), "\(control)")
                _ = try await place.shell("rm -rf commondir; mv h hooks")
            }
        }
    }
}

import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("What a command does not change in its folder", .timeLimit(.minutes(10)), .enabled(if: Place.isThere))
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

    @Test(
        "is what has git run other programs; that it could be changed shows without the sandbox",
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
            for user in Place.users {
                let seen = try await place.run("\(attempt) && echo reached", as: user)
                #expect(!seen.contains("reached"), "\(seen)")
            }
            #expect(try await place.shell(state) == before)
            #expect(try await place.shell("\(attempt); (\(state)) 2>&1") != before)
        }
    }

    @Test("leaves the rest of a repository to be worked in", arguments: Place.users)
    func works(user: Place.User) async throws {
        try await withRepository { place in
            let seen = try await place.run(
                """
                echo text > f && git add f && \(Self.identity) commit -q -m second && git checkout -q -b other
                git status --short; git log --format=%s; git branch --show-current
                """, as: user)
            #expect(seen == "?? own/\nsecond\nfirst\nother\n", "\(seen)")
            #expect(!Files.exists("\(place.folder)/.git/commondir"))
        }
    }

    @Test("is what tools take settings from, whether it is there or not", arguments: Sandbox.guardedNames + [".git"])
    func settings(name: String) async throws {
        try await Place.run { place in
            for attempt in ["mkdir -p \(name)/hooks", "echo x > \(name)", "echo x > \(name)/x", "ln -s /tmp \(name)"] {
                for user in Place.users {
                    let seen = try await place.run("\(attempt) && echo reached; cat \(name) && echo read", as: user)
                    #expect(!seen.contains("reached") || attempt.hasPrefix("ln"), "\(seen)")
                    #expect(try place.names() == [], "\(attempt)")
                }
            }
            // One that is there stays as it is.
            try place.write("\(name)/settings", "own")
            let seen = try await place.run("echo x > \(name)/settings; rm -r \(name); cat \(name)/settings")
            #expect(seen.hasSuffix("own"), "\(seen)")
            #expect(try await place.shell("echo new > \(name)/settings; cat \(name)/settings") == "new\n")
        }
    }

    @Test("is told where it is a link, which could be replaced", arguments: [".claude", ".git", ".mcp.json"])
    func links(name: String) async throws {
        try await Place.run { place in
            for target in ["../outside", "nowhere"] {
                unsafe unlink("\(place.folder)/\(name)")
                #expect(unsafe symlink(target, "\(place.folder)/\(name)") == 0)
                let error = await #expect(throws: SandboxError.self) { try await place.run("true") }
                #expect(error?.kind == .folder && error?.message.contains("\(place.folder)/\(name) is a link") == true)
                let left = try place.names()
                #expect(left == [name])
            }
        }
    }

    @Test("stays guarded until the last of several commands has ended, and nothing is left then")
    func shared() async throws {
        try await Place.run { place in
            let launcher = Launcher()
            var first: SandboxedCommand? = try await place.prepare(["true"])
            var second: SandboxedCommand? = try await place.prepare(
                ["bash", "-c", "mkdir .claude/x 2>&1 || echo refused"], launcher: launcher)
            #expect(first != nil)
            #expect(try place.names().count == 6)
            first = nil
            #expect(try place.names().count == 6)
            let command = try #require(second?.command)
            let done = try await launcher.run(command, timeout: .seconds(60))
            #expect(String(decoding: done.output, as: UTF8.self).hasSuffix("refused\n"))
            second = nil
            #expect(try place.names() == [])
        }
    }

    @Test(
        "leaves nothing of a process that was killed once the next command has ended, and what is a person's own stays")
    func killed() async throws {
        try await Place.run { place in
            try Files.makeDirectories("\(place.folder)/.claude")
            await #expect(processExitsWith: .signal(SIGKILL)) { [base = place.base as String] in
                let command = try await Place(base: base).prepare(["true"])
                withExtendedLifetime(command) { _ = kill(getpid(), SIGKILL) }
            }
            #expect(try place.names().count == 6)
            _ = try await place.run("true")
            #expect(try place.names() == [".claude"])
            // What somebody has put into one of them meanwhile is theirs.
            var held: SandboxedCommand? = try await place.prepare(["true"])
            try place.write(".vscode/settings.json", "{}")
            #expect(held != nil)
            held = nil
            _ = try await place.run("true")
            #expect(try place.names() == [".claude", ".vscode"])
        }
    }

    @Test("the folder of hooks is read as git reads it")
    func hooksPath() {
        let cases: [(String, String?)] = [
            ("[core]\n\thooksPath = .husky\n", ".husky"), ("[CORE] HooksPath=a b ; c\n", "a b"),
            ("[core]\nhookspath = \"a;b\"\n", "a;b"), ("[other]\nhooksPath = x\n", nil), ("", nil),
            ("[core]\nhooksPath = a\n[core]\nhooksPath = b # c\n", "b"), ("[core \"x\"]\nhooksPath = x\n", nil),
        ]
        for (text, path) in cases { #expect(GuardedNames.hooksPath(inSettings: text) == path, "\(text)") }
    }
}

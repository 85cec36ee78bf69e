import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// Files that git obeys in other checkouts, in the repository of a linked worktree and in the user's settings.
@Suite("Guarded git files", .timeLimit(.minutes(10)), .enabled(if: Way.hasBubblewrap))
struct GuardedGitTests {
    private static let git = "git -c user.name=a -c user.email=a@example.com -c protocol.file.allow=always"

    /// Provides a folder that a script has filled.
    private func with(_ script: String, _ body: (Place) async throws -> Void) async throws {
        try await Place.run { place in
            let made = try await place.shell("set -e; \(script); echo made")
            try #require(made.hasSuffix("made\n"), "\(made)")
            try await body(place)
        }
    }

    /// Tries a change under each engine, and then without a sandbox, where it must succeed.
    private func expectRefused(
        _ attempt: String, _ state: String, in sandbox: Sandbox = Sandbox(), _ place: Place
    ) async throws {
        let before = try await place.shell("(\(state)) 2>&1")
        for way in Way.engines {
            let seen = try await place.run("{ \(attempt); } && echo reached", in: sandbox, by: way)
            #expect(!seen.contains("reached"), "\(way.testDescription): \(attempt): \(seen)")
        }
        #expect(try await place.shell("(\(state)) 2>&1") == before, "\(attempt)")
        let control = try await place.shell("{ \(attempt); } && echo reached")
        #expect(control.hasSuffix("reached\n"), "\(attempt): \(control)")
        #expect(try await place.shell("(\(state)) 2>&1") != before, "\(attempt)")
    }

    // MARK: A linked worktree

    private static let worktree = """
        git init -q -b main ../main; \(git) -C ../main commit -q --allow-empty -m first; mkdir -p ../main/.git/hooks
        git -C ../main worktree add -q ../work
        """

    // sandbox case 16
    @Test("git works in a linked worktree of a repository elsewhere", arguments: Way.ofBubblewrap)
    func worktree(way: Way) async throws {
        try await with(Self.worktree) { place in
            let seen = try await place.run(
                """
                git status --short && echo text > f && git add f && \(Self.git) commit -q -m second
                git checkout -q -b other; git log --format=%s; git branch --show-current; git status --short
                """, by: way)
            #expect(seen == "second\nfirst\nother\n", "\(seen)")
            #expect(try place.names() == [".git", "f"])
            let left = try Files.list("\(place.base)/main/.git/worktrees/work").map(\.name)
            #expect(!left.contains("config.worktree") && !left.contains("modules"), "\(left)")
        }
    }

    // sandbox case 16
    @Test(
        "The repository of a linked worktree is guarded",
        arguments: [
            "echo x > ../main/.git/hooks/pre-commit", "mv ../main/.git/hooks ../main/.git/h",
            "git config core.fsmonitor ./x", "echo x >> ../main/.git/config", "echo x > ../main/.git/config.worktree",
            "echo x > ../main/.git/worktrees/work/config.worktree", "echo x > ../main/.git/worktrees/work/gitdir",
            "rm ../main/.git/worktrees/work/commondir", "mkdir -p ../main/.git/worktrees/work/modules/m",
            "mkdir -p ../main/.git/worktrees/other", "mkdir -p ../main/.git/modules/m", "echo x > ../main/.git/HEAD",
            "echo 'gitdir: x' > .git", "mv .git other", "rm .git",
        ])
    func guarded(attempt: String) async throws {
        try await with(Self.worktree) { place in
            let files = "HEAD config* worktrees/work/*dir worktrees/work/config*"
            let state = "cat .git; ls -A; cd ../main/.git; ls -A . hooks; ls -AR worktrees modules; tail -n 9 \(files)"
            try await expectRefused(attempt, state, place)
        }
    }

    @Test("A repository that a .git file names without belonging to the folder is not shown")
    func pretended() async throws {
        let other = "git init -q -b main ../main; \(Self.git) -C ../main commit -q --allow-empty -m secret"
        let forged = """
            mkdir -p evil/worktrees/w; cp ../main/.git/HEAD evil/worktrees/w; echo ../../../../main/.git >evil/worktrees/w/commondir
            echo "$PWD/.git" >evil/worktrees/w/gitdir; echo 'gitdir: evil/worktrees/w' >.git
            """
        for script in ["echo 'gitdir: ../main/.git' >.git", forged] {
            try await with("\(other); \(script)") { place in
                let attempt = "git log --all --format=%s; cat ../main/.git/config && echo reached"
                for way in Way.engines {
                    let seen = try await place.run(attempt, by: way)
                    #expect(!seen.contains("secret") && !seen.contains("reached"), "\(seen)")
                }
                let control = try await place.shell(attempt)
                #expect(control.hasPrefix("secret\n") && control.hasSuffix("reached\n"), "\(control)")
            }
        }
    }

    @Test("git works in a submodule whose repository is elsewhere, and that repository is guarded")
    func submoduleFolder() async throws {
        let script = """
            git init -q -b main ../lib; \(Self.git) -C ../lib commit -q --allow-empty -m first; git init -q -b main ../super
            \(Self.git) -C ../super submodule --quiet add ../lib work; mkdir -p ../super/.git/modules/work/hooks
            """
        try await with(script) { outer in
            let place = Place(base: "\(outer.base)/super")
            let seen = try await place.run(
                "echo text > f && git add f && \(Self.git) commit -q -m second; git log --format=%s; git status --short"
            )
            #expect(seen == "second\nfirst\n", "\(seen)")
            for attempt in [
                "echo x >> ../.git/modules/work/config", "mkdir -p ../.git/modules/work/modules/m",
                "mv ../.git/modules/work/hooks ../.git/modules/work/h",
            ] {
                try await expectRefused(
                    attempt, "cd ../.git/modules/work; cat config; ls -A . modules", place)
            }
        }
    }

    // MARK: Repositories in the folder

    @Test(
        "A repository in the folder that a .git file names is guarded",
        arguments: ["echo x > .own/hooks/pre-commit", "echo x >> .own/config", "mv .own o", "echo 'gitdir: x' > .git"])
    func separate(attempt: String) async throws {
        try await with("git init -q -b main --separate-git-dir=.own .; mkdir -p .own/hooks") { place in
            let seen = try await place.run("\(Self.git) commit -q --allow-empty -m first; git log --format=%s")
            #expect(seen == "first\n", "\(seen)")
            try await expectRefused(attempt, "cat .git .own/config; ls -A . .own/hooks", place)
        }
    }

    private static let checkouts = """
        git init -q -b main ../lib; \(git) -C ../lib commit -q --allow-empty -m first
        git init -q -b main .; \(git) submodule --quiet add ../lib libs/one; \(git) commit -q -m first
        git worktree add -q tree; mkdir -p .git/modules/libs/one/hooks
        """

    @Test(
        "The repositories of submodules and linked worktrees in the folder are guarded, and so are the links to them",
        arguments: [
            "rm libs/one/.git", "echo 'gitdir: x' > libs/one/.git", "mv libs/one libs/two", "mv libs l", "rm tree/.git",
            "mv tree t", "rm tree/.git && mkdir -p tree/.git/hooks", "echo x >> .git/modules/libs/one/config",
            "echo x > .git/modules/libs/one/config.worktree", "echo x > .git/modules/libs/one/hooks/pre-commit",
            "mv .git/modules/libs .git/modules/l", "echo x > .git/worktrees/tree/config.worktree",
            "echo x > .git/worktrees/tree/gitdir", "mv .git/worktrees/tree .git/worktrees/t",
        ])
    func checkouts(attempt: String) async throws {
        try await with(Self.checkouts) { place in
            let files = "libs/one/.git tree/.git .git/modules/libs/one/config* .git/worktrees/tree/*dir"
            try await expectRefused(
                attempt, "ls -A . libs libs/one tree; ls -AR .git/modules .git/worktrees; tail -n 9 \(files)", place)
        }
    }

    @Test("The rest of a submodule or linked worktree stays writable", arguments: Way.ofBubblewrap)
    func checkoutsWork(way: Way) async throws {
        try await with(Self.checkouts) { place in
            let seen = try await place.run(
                "echo x > libs/one/f && mkdir tree/d && echo x > tree/f && git status --short && git -C tree status --short",
                by: way)
            #expect(seen == " ? libs/one\n?? tree/\n?? f\n" || seen == " m libs/one\n?? tree/\n?? f\n", "\(seen)")
        }
    }

    // MARK: Settings

    /// A settings file next to the folder, the files that it includes, and a hook folder in the folder.
    private static let named: [(path: String, text: String)] = [
        ("home/.gitconfig", "[core]\\nhooksPath = tools/hooks"),
        ("home/.gitconfig", "[core]\\nhooksPath = ~/../work/tools/hooks"),
        ("home/.config/git/config", "[include]\\npath = more"),
        ("variable/git/config", "[includeIf \"gitdir:/x/\"]\\npath = more"),
        ("work/.git/config.worktree", "[core]\\nhooksPath = tools/hooks"),
        ("work/.git/config", "[include]\\npath = more"),
        ("work/.git/modules/lib/config", "[core]\\nworktree = ../../../lib\\nhooksPath = ../tools/hooks"),
    ]

    @Test("The hook folder that any settings file names is guarded", arguments: named.indices)
    func hooks(index: Int) async throws {
        let (path, text) = Self.named[index]
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        let script = """
            git init -q .; mkdir -p lib .git/modules/lib '../\(folder)'; cp .git/HEAD .git/modules/lib
            printf '\(text)\\n' >>'../\(path)'; printf '[core]\\nhooksPath = tools/hooks\\n' >'../\(folder)/more'
            """
        try await with(script) { place in
            var sandbox = Sandbox(home: "\(place.base)/home")
            sandbox.gitFiles = Sandbox.gitFiles(in: ["XDG_CONFIG_HOME": "\(place.base)/variable"])
            for attempt in ["mkdir -p tools/hooks", "echo x > tools"] {
                for way in Way.engines {
                    let seen = try await place.run("\(attempt) && echo reached", in: sandbox, by: way)
                    #expect(!seen.contains("reached"), "\(way.testDescription): \(seen)")
                }
                #expect(try place.names() == [".git", "lib"])
            }
            #expect(try await place.shell("mkdir -p tools/hooks && echo reached") == "reached\n")
        }
    }

    @Test("The user's own settings in the folder are guarded, and unsupported ones are reported")
    func own() async throws {
        try await with("mkdir ../home; touch settings; ln -s ../work/settings ../home/.gitconfig") { place in
            let sandbox = Sandbox(home: "\(place.base)/home")
            try await expectRefused("echo x >> settings", "cat settings", in: sandbox, place)
            try Files.writeAtomically(Array("[core]\nhooksPath = ~other/x\n".utf8), to: "\(place.folder)/settings")
            let error = await #expect(throws: SandboxError.self) { try await place.run("true", in: sandbox) }
            #expect(error?.kind == .folder && error?.message.contains("/home/.gitconfig names") == true)
        }
    }

    @Test("A git file that is too long to read is an error", arguments: [".git/config", ".git"])
    func tooLong(name: String) async throws {
        try await Place.run { place in
            let filling = String(repeating: "# a comment\n", count: 100_000)
            if name == ".git/config" { try place.write(".git/HEAD", "ref: refs/heads/main\n") }
            try place.write(name, filling + "[core]\n\thooksPath = tools\n")
            let error = await #expect(throws: SandboxError.self) { try await place.run("true") }
            #expect(error?.message.contains("larger than the limit") == true, "\(String(describing: error))")
        }
    }

    @Test("Settings files from variables are guarded in addition to the usual ones")
    func files() {
        let named = Sandbox.gitFiles(in: [
            "XDG_CONFIG_HOME": "/x", "GIT_CONFIG_GLOBAL": "/g", "GIT_CONFIG_SYSTEM": "s", "HOME": "/h",
        ])
        #expect(named == ["/g", "/x/git/config"] && Sandbox.gitFiles(in: [:]).isEmpty)
        var sandbox = Sandbox(home: "/h")
        sandbox.gitFiles = named
        #expect(
            sandbox.settingsOfGit == [
                "/etc/gitconfig", "/h/.gitconfig", "/h/.config/git/config", "/g", "/x/git/config",
            ])
    }

    @Test("Guarding a missing hook folder leaves nothing behind")
    func nothingLeft() async throws {
        try await with("git init -q .; git config core.hooksPath .husky/_") { place in
            let seen = try await place.run("mkdir -p .husky/_ && echo reached")
            #expect(!seen.contains("reached"), "\(seen)")
            #expect(try place.names() == [".git"])
        }
    }

    // MARK: Links

    @Test(
        "A command cannot make git append to a file elsewhere through a link in place of a log",
        arguments: [true, false])
    func logs(isWorktree: Bool) async throws {
        let script =
            isWorktree
            ? Self.worktree : "git init -q -b main .; \(Self.git) commit -q --allow-empty -m first"
        try await with(script) { place in
            let file = "\(place.base)/outside/f"
            try Files.writeAtomically(Array("own\n".utf8), to: file, mode: 0o666)
            let link = "log=$(git rev-parse --git-path logs/HEAD); rm $log && ln -s \(file) $log && echo linked"
            #expect(try await place.run("cd .; \(link)") == "linked\n")
            _ = try await place.shell("\(Self.git) checkout -q -b other")
            #expect(try Files.read(file, limit: 1000) == Array("own\n".utf8))
            // The control: git writes through the link.
            _ = try await place.shell("\(link); \(Self.git) checkout -q -b another")
            #expect(try Files.read(file, limit: 1000).count > 4)
        }
    }
}

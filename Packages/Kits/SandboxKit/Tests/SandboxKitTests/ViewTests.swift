import Capabilities
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("The view of a sandboxed command", .timeLimit(.minutes(10)), .enabled(if: Way.hasBubblewrap))
struct ViewTests {
    @Test(
        "A command can write its folder, and an empty home and /tmp that are discarded afterwards",
        arguments: Way.ofBubblewrap)
    func writes(way: Way) async throws {
        try await Place.run { place in
            try Files.makeDirectories("\(place.base)/home", mode: 0o755)
            try Files.writeAtomically([1], to: "\(place.base)/home/f")
            let seen = try await place.run(
                """
                pwd; echo new > made; ls -A \(place.base)/home /tmp /var/tmp
                echo x > \(place.base)/home/x && echo x > /tmp/x && echo x > /var/tmp/x && echo scratch
                """, in: Sandbox(home: "\(place.base)/home"), by: way)
            let above =
                !way.isOrdinary || geteuid() == 0 ? place.base.split(separator: "/").last.map(String.init) ?? "" : ""
            #expect(
                seen
                    == "\(place.folder)\n/tmp:\n\n/var/tmp:\n\(above)\n\n\(place.base)/home:\nscratch\n"
                    || seen.hasSuffix("scratch\n") && seen.hasPrefix("\(place.folder)\n"), "\(seen)")
            #expect(try Files.read("\(place.folder)/made", limit: 10) == Array("new\n".utf8))
            #expect(try Files.list("\(place.base)/home").map(\.name) == ["f"])
            #expect(!Files.exists("/var/tmp/x"))
        }
    }

    // sandbox case 15
    @Test(
        "A command sees shown paths of the home, but no hidden paths and no secrets",
        arguments: Way.engines)
    func hidden(way: Way) async throws {
        try await Place.run { place in
            for name in [".ssh/key", ".config/gh/hosts", "tools/tool", "tools/vault/key", "own/f"] {
                try place.write(name, "content of \(name)\n")
            }
            #expect(unsafe symlink("tools/vault", "\(place.folder)/link") == 0)
            let home = place.folder
            let all = "cd \(home); cat .ssh/key .config/gh/hosts tools/tool tools/vault/key own/f"
            // The folder is in the home. The tools are shown through a link, except for their vault.
            let inner = Place(base: "\(home)/own")
            try Files.makeDirectories(inner.folder)
            let sandbox = Sandbox(home: home, showing: ["\(home)/tools"], hiding: ["\(home)/link", "\(home)/nowhere"])
            let seen = try await inner.run(all, in: sandbox, by: way)
            #expect(seen.contains("content of tools/tool\n"), "\(seen)")
            for name in [".ssh/key", ".config/gh/hosts", "tools/vault/key", "own/f"] {
                #expect(!seen.contains("content of \(name)"), "\(name): \(seen)")
            }
            // The same if the whole home is shown.
            let wide = Sandbox(home: home, showing: [home], hiding: ["\(home)/link"])
            let seenWide = try await inner.run(
                "\(all); echo x > \(home)/tools/vault/x; echo x > \(home)/.ssh/x", in: wide, by: way)
            for name in ["tools/tool", "own/f"] { #expect(seenWide.contains("content of \(name)\n"), "\(seenWide)") }
            for name in [".ssh/key", ".config/gh/hosts", "tools/vault/key"] {
                #expect(!seenWide.contains("content of \(name)"), "\(name): \(seenWide)")
            }
            // Writing there fails instead of being lost.
            let signs = ["/x: Read-only file system", "/x: Permission denied"]
            let refusals = seenWide.split(separator: "\n").count { line in signs.contains(where: line.hasSuffix) }
            #expect(refusals == 2, "\(seenWide)")
            // The folder is the home, whose files other programs run.
            let refused = await #expect(throws: SandboxError.self) { try await place.run(all, in: sandbox, by: way) }
            #expect(refused?.kind == .folder && refused?.message.contains("it is or contains your home") == true)
            // Without a sandbox everything is visible.
            let open = try await place.run(all, by: way)
            for name in [".ssh/key", "tools/vault/key"] { #expect(open.contains("content of \(name)\n"), "\(open)") }
        }
    }

    @Test("A sandbox around system folders is refused")
    func refused() async throws {
        for path in ["/", "/proc", "/proc/self", "/dev", "/etc/ssl"] {
            let folder = try Folder(beneath: path)
            let error = await #expect(throws: SandboxError.self) {
                try await SandboxEngine(launcher: Launcher.standalone, variables: Place.variables)
                    .command(["true"], in: Sandbox(), around: folder, from: folder)
            }
            #expect(error?.kind == .folder, "\(path)")
        }
        #expect(
            try await SandboxEngine(launcher: Launcher.standalone, variables: Place.variables).support().kind
                == .bubblewrap)
    }

    @Test(
        "Variables of the command do not affect bubblewrap",
        arguments: Way.engines)
    func variables(way: Way) async throws {
        try await Place.run { place in
            try place.write("bwrap", "#!/bin/sh\ntouch '\(place.base)/outside/ran'\n")
            #expect(unsafe chmod("\(place.folder)/bwrap", 0o700) == 0)
            try place.write(
                "evil.c",
                "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) { creat(\"\(place.base)/outside/ran\", 0600); }"
            )
            let built = try await place.shell("gcc -shared -fPIC -o evil.so evil.c && ls evil.so")
            try #require(built == "evil.so\n")
            let folder = try Folder(beneath: place.folder)
            for variables in [
                ["PATH": "\(place.folder):/usr/bin:/bin"],
                ["PATH": "/usr/bin:/bin", "LD_PRELOAD": "\(place.folder)/evil.so"],
            ] {
                let runner = CommandRunner(
                    variables: variables, sandbox: Sandbox(), by: way.engine, launcher: .standalone)
                let result = try await runner.run(["env"], in: folder, of: folder) { _ in }
                #expect(!Files.exists("\(place.base)/outside/ran"), "\(variables)")
                for (name, value) in variables { #expect(result.output.text.contains("\(name)=\(value)\n")) }
            }
            // Without a sandbox the library is loaded.
            _ = try await place.shell("LD_PRELOAD=$PWD/evil.so /bin/true")
            #expect(Files.exists("\(place.base)/outside/ran"))
        }
    }

    // sandbox cases 38 and 39
    @Test("A sandbox that cannot be created is a sandbox error, and a program name is not taken for an option")
    func failed() async throws {
        try await Place.run { place in
            let launcher = Launcher.standalone
            let command = try await place.prepare(["true"], launcher: launcher)
            #expect(unsafe rename(place.folder, "\(place.base)/elsewhere") == 0)
            let done = try await launcher.run(command.command, timeout: .seconds(60))
            #expect(command.failure(done.status, errors: done.errors)?.kind == .unavailable)
            #expect(unsafe rename("\(place.base)/elsewhere", place.folder) == 0)
            let odd = try await place.prepare(["--bind", "/", "/"], launcher: launcher)
            let ended = try await launcher.run(odd.command, timeout: .seconds(60))
            #expect(odd.failure(ended.status, errors: ended.errors)?.message.contains("execvp --bind") == true)
            let one = try await place.prepare(["bash", "-c", "exit 1"], launcher: launcher)
            let own = try await launcher.run(one.command, timeout: .seconds(60))
            #expect(own.status == .exited(1) && one.failure(own.status, errors: own.errors) == nil)
        }
    }

    @Test("Outer mounts come first, hidden ones after shown ones, and sealing comes last")
    func order() {
        let mounts = [
            Mount(.guarded, AbsolutePath("/w/.git/hooks")), Mount(.hiddenFolder, AbsolutePath("/w/a")),
            Mount(.writable, AbsolutePath("/w")), Mount(.readable, AbsolutePath("/w/a")),
            Mount(.fixed, AbsolutePath("/w/.git")),
        ]
        let options = Mount.options(mounts).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            options == [
                "--bind", "/w", "/w", "--ro-bind", "/w/a", "/w/a", "--bind", "/w/.git", "/w/.git", "--tmpfs", "/w/a",
                "--ro-bind", "/w/.git/hooks", "/w/.git/hooks", "--remount-ro", "/w/a",
            ])
    }
}

import Capabilities
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("What a command in a sandbox sees", .timeLimit(.minutes(10)), .enabled(if: Place.isThere))
struct ViewTests {
    @Test("is its folder to write in, and an empty home and /tmp that are gone afterwards", arguments: Place.users)
    func writes(user: Place.User) async throws {
        try await Place.run { place in
            try Files.makeDirectories("\(place.base)/home", mode: 0o755)
            try Files.writeAtomically([1], to: "\(place.base)/home/f")
            let seen = try await place.run(
                """
                pwd; echo new > made; ls -A \(place.base)/home /tmp /var/tmp
                echo x > \(place.base)/home/x && echo x > /tmp/x && echo x > /var/tmp/x && echo scratch
                """, in: Sandbox(home: "\(place.base)/home"), as: user)
            let above =
                user == .own || geteuid() == 0 ? place.base.split(separator: "/").last.map(String.init) ?? "" : ""
            #expect(
                seen
                    == "\(place.folder)\n/tmp:\n\n/var/tmp:\n\(above)\n\n\(place.base)/home:\nscratch\n"
                    || seen.hasSuffix("scratch\n") && seen.hasPrefix("\(place.folder)\n"), "\(seen)")
            #expect(try Files.read("\(place.folder)/made", limit: 10) == Array("new\n".utf8))
            #expect(try Files.list("\(place.base)/home").map(\.name) == ["f"])
            #expect(!Files.exists("/var/tmp/x"))
        }
    }

    @Test(
        "is what is shown of the home, and not what is hidden in either, nor the secrets of a home that is the folder")
    func hidden() async throws {
        try await Place.run { place in
            for name in [".ssh/key", ".config/gh/hosts", "tools/tool", "tools/vault/key", "own/f"] {
                try place.write(name, "content of \(name)\n")
            }
            #expect(unsafe symlink("tools/vault", "\(place.folder)/link") == 0)
            let home = place.folder
            let all = "cd \(home); cat .ssh/key .config/gh/hosts tools/tool tools/vault/key own/f"
            // The folder lies in the home, of which the tools are shown but for their vault, by a link to it.
            let inner = Place(base: "\(home)/own")
            try Files.makeDirectories(inner.folder)
            let sandbox = Sandbox(home: home, showing: ["\(home)/tools"], hiding: ["\(home)/link", "\(home)/nowhere"])
            let seen = try await inner.run(all, in: sandbox)
            #expect(seen.contains("content of tools/tool\n"), "\(seen)")
            for name in [".ssh/key", ".config/gh/hosts", "tools/vault/key", "own/f"] {
                #expect(!seen.contains("content of \(name)"), "\(name): \(seen)")
            }
            // The folder is the home.
            let wide = try await place.run("\(all); echo x > tools/vault/x; echo x > .ssh/x", in: sandbox)
            for name in ["tools/tool", "own/f"] { #expect(wide.contains("content of \(name)\n"), "\(wide)") }
            for name in [".ssh/key", ".config/gh/hosts", "tools/vault/key"] {
                #expect(!wide.contains("content of \(name)"), "\(name): \(wide)")
            }
            // What is written there is not lost without a word.
            #expect(wide.split(separator: "\n").count { $0.hasSuffix("Read-only file system") } == 2, "\(wide)")
            // Without them it is all there.
            let open = try await place.run(all)
            for name in [".ssh/key", "tools/vault/key"] { #expect(open.contains("content of \(name)\n"), "\(open)") }
        }
    }

    @Test("cannot be made around all of the machine, nor where there is no bubblewrap")
    func refused() async throws {
        let root = try Folder(beneath: "/")
        let whole = await #expect(throws: SandboxError.self) {
            try await SandboxEngine(launcher: Launcher(), variables: Place.variables)
                .command(["true"], in: Sandbox(), around: root, from: root)
        }
        #expect(whole?.kind == .folder)
        let absent = SandboxEngine(launcher: Launcher(), variables: ["PATH": "/nowhere"])
        let problem = try await absent.problem()
        #expect(problem?.kind == .unavailable && problem?.message.contains("install the package bubblewrap") == true)
        #expect(try await SandboxEngine(launcher: Launcher(), variables: Place.variables).problem() == nil)
    }

    @Test("fails as a sandbox, not as the command, where it cannot be made; a program's name is no option")
    func failed() async throws {
        try await Place.run { place in
            let launcher = Launcher()
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

    @Test("has the outer places first, what is hidden after what is shown, and is sealed when all is there")
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

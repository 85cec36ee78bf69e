import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// Tests that only this engine needs, because its commands have no separate namespaces.
@Suite("Commands under Landlock", .timeLimit(.minutes(10)), .enabled(if: Way.hasLandlock))
struct LandlockTests {
    @Test(
        "A command can write in its folder, except for creating entries next to guarded names",
        arguments: Way.ofLandlock)
    func writes(way: Way) async throws {
        try await Place.run { place in
            for name in ["f", "in/f", "kept/.mcp.json", "a/b/f", "a/kept"] { try place.write(name, "old\n") }
            let seen = try await place.run(
                """
                echo new > f; cat f; echo new > in/made; mv in/made in/moved; mkdir -p in/deep/er; mv in/moved in/deep/er/m
                mv in/f a/b/g; cat a/b/g in/deep/er/m; rm -r in/deep; ls; ln a/b/g in/g && echo linked
                touch made && echo reached; mv f f2 && echo reached; rm f && echo reached; mv in out && echo reached
                ln -s in s && echo reached; mkdir .claude && echo reached; mkdir .GIT && echo reached
                """, by: way)
            #expect(seen.hasPrefix("new\nold\nnew\na\nf\nin\nkept\nlinked\n") && !seen.contains("reached"), "\(seen)")
            #expect(try place.names() == ["a", "f", "in", "kept"])
            // A kept or hidden path does not affect the folders next to it.
            let sandbox = Sandbox(hiding: ["\(place.folder)/a/b"])
            var keeping = sandbox
            keeping.kept = ["\(place.folder)/a/kept"]
            guard !way.isOrdinary else { return }
            let kept = try await place.run(
                """
                cat a/kept; echo x > a/kept && echo reached; cat a/b/g && echo reached; ls a/b && echo reached
                ls . && echo reached; echo x > in/x && echo made
                """, in: keeping, by: way)
            #expect(kept.hasPrefix("old\n") && kept.hasSuffix("made\n") && !kept.contains("reached"), "\(kept)")
        }
    }

    @Test("A command can work in a repository, except for what git creates in it", arguments: Way.ofLandlock)
    func repository(way: Way) async throws {
        try await Place.run { place in
            let identity = "git -c user.name=a -c user.email=a@example.com"
            _ = try await place.shell(
                "git init -q -b main . && mkdir src && echo a > src/f && git add . && \(identity) commit -q -m first"
                    + " && chmod 644 .git/config")
            let seen = try await place.run(
                """
                export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
                echo b >> src/f; git status --short; git log --format=%s; git diff --stat | tail -1
                git commit -qam second && echo reached; git config a.b c && echo reached
                """, by: way)
            #expect(
                seen.hasPrefix(" M src/f\nfirst\n 1 file changed, 1 insertion(+)\n") && !seen.contains("reached"),
                "\(seen)")
        }
    }

    @Test(
        "A command has a private folder as home and for temporary files, which is removed afterwards",
        arguments: Way.ofLandlock)
    func scratch(way: Way) async throws {
        try await Place.run { place in
            let seen = try await place.run(
                """
                echo $HOME; test "$HOME" = "$TMPDIR" && stat -c %a $HOME; mktemp > /dev/null && echo temporary
                mkdir -p ~/a/b; touch ~/a/b/c; ln -s / ~/a/root; chmod -R a-w ~/a; chmod 0 ~/a
                echo x > /tmp/sandboxkit-made && echo reached; ls /tmp && echo reached
                """, by: way)
            let lines = seen.split(separator: "\n")
            #expect(lines.dropFirst().starts(with: ["700", "temporary"]) && !seen.contains("reached"), "\(seen)")
            #expect(lines.first?.hasPrefix("/tmp/martlet-command-") == true)
            #expect(lines.first.map { Files.exists(String($0)) } == false)
        }
    }

    @Test("Folders of killed processes are removed, and folders in use are not")
    func leftovers() async throws {
        let used = try ScratchFolder()
        try await Place.run { place in
            let left = "\(place.base)/path"
            await #expect(processExitsWith: .signal(SIGKILL)) { [left = left as String] in
                let folder = try ScratchFolder()
                try Files.writeAtomically(Array(folder.path.utf8), to: left)
                withExtendedLifetime(folder) { _ = kill(getpid(), SIGKILL) }
            }
            let path = String(decoding: try Files.read(left, limit: 1000), as: UTF8.self)
            #expect(Files.exists(path))
            ScratchFolder.removeLeftovers()
            #expect(!Files.exists(path) && Files.exists(used.path))
        }
    }

    // sandbox cases 20, 25, 28, 34 and 35
    @Test("A command can neither read nor change anything outside", arguments: Way.ofLandlock)
    func outside(way: Way) async throws {
        try await Place.run { place in
            let outside = "\(place.base)/outside/f"
            try Files.writeAtomically(Array("secret\n".utf8), to: outside, mode: 0o666)
            try Files.makeDirectories("\(place.base)/work-evil", mode: 0o777)
            #expect(unsafe symlink("../../outside/f", "\(place.folder)/link") == 0)
            try place.write("in/f", "own")
            try place.write(
                "in/calls.py",
                """
                import ctypes, os
                path = '\(outside)'
                libc = ctypes.CDLL(None, use_errno=True)
                def attempt(name, call):
                    try: call(); print(name, 'reached')
                    except OSError as e: print(name, 'refused')
                def truncate():
                    if libc.truncate(path.encode(), 0): raise OSError()
                attempt('truncate', truncate)
                attempt('read-truncate', lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
                attempt('neither-truncate', lambda: os.open(path, 3 | os.O_TRUNC))
                attempt('append', lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
                attempt('read', lambda: os.open(path, os.O_RDONLY))
                attempt('by descriptor', lambda: os.open('/proc/self/fd/%d' % os.open(path, os.O_PATH), os.O_RDWR))
                attempt('mode', lambda: os.chmod(path, 0o777))
                attempt('label', lambda: os.setxattr(path, 'user.x', b'x'))
                attempt('unlink', lambda: os.unlink(path))
                attempt('rename in', lambda: os.rename(path, '\(place.folder)/in/stolen'))
                attempt('rename out', lambda: os.rename('\(place.folder)/in/f', '\(place.base)/outside/g'))
                """)
            let seen = try await place.run(
                """
                /usr/bin/python3 in/calls.py; cat link ../outside/f /root/.bashrc /etc/shadow && echo reached
                ls / /root /home /tmp /run .. && echo reached
                for d in / ~/.. .. ../outside ../work-evil /tmp /var/tmp /dev/shm /run; do
                  (cd $d && echo x > sandboxkit-x && echo reached; mkdir sandboxkit-y && echo reached)
                done
                ln /usr/bin/true in/true && echo reached; ln ../outside/f in/hard && echo reached
                /usr/bin/python3 -c 'import os
                d = os.open("/usr/bin/true", os.O_RDONLY)
                os.link("/proc/self/fd/%d" % d, "in/again", follow_symlinks=True); print("reached")'
                echo done
                """, by: way)
            #expect(!seen.contains("reached") && !seen.contains("secret") && seen.hasSuffix("done\n"), "\(seen)")
            #expect(seen.split(separator: "\n").count { $0.hasSuffix(" refused") } == 11, "\(seen)")
            #expect(try Files.read(outside, limit: 100) == Array("secret\n".utf8))
            #expect(try Files.list("\(place.base)/outside").map(\.name) == ["f"])
            #expect(try Files.list("\(place.folder)/in").map(\.name) == ["calls.py", "f"])
            #expect(try Files.list("\(place.base)/work-evil").isEmpty)
        }
    }

    // sandbox cases 21, 22 and 26
    @Test(
        "A command cannot reach other processes or their memory, variables and files",
        arguments: Way.ofLandlock)
    func processes(way: Way) async throws {
        try await Place.run { place in
            let launcher = Launcher.standalone
            var command = Command("sleep", ["1000"], environment: ["PATH": "/usr/bin:/bin", "SECRET": "canary"])
            if way.isOrdinary {
                command.executable = "setpriv"
                command.arguments = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep", "1000"]
            }
            try await launcher.withChild(command) { peer async throws in
                // Waits until it runs its program as the right user.
                let comm = "/proc/\(peer.processID)/comm"
                while try Files.read(comm, limit: 100) != Array("sleep\n".utf8) { await Task.yield() }
                let seen = try await place.run(
                    """
                    for p in \(peer.processID) \(getpid()); do
                      tr '\\0' '\\n' < /proc/$p/environ && echo reached; head -c 1 /proc/$p/mem && echo reached
                      cat /proc/$p/maps && echo reached; ls /proc/$p/root/ && echo reached; ls /proc/$p/cwd/ && echo reached
                      readlink /proc/$p/fd/0 && echo reached; cat /proc/$p/fdinfo/0 && echo reached; readlink /proc/$p/exe && echo reached
                      /usr/bin/python3 -c "import ctypes; l = ctypes.CDLL(None)
                    print(['refused', 'reached'][l.ptrace(16, $p, 0, 0) == 0])
                    print(['refused', 'reached'][l.prlimit($p, 7, b'\\\\1' * 16, 0) == 0])"
                      \(way.reachesSignals ? ":" : "kill -0 $p && echo reached")
                    done
                    /usr/bin/python3 -c "import ctypes; l = ctypes.CDLL(None)
                    print(['refused', 'reached'][l.shmget(0, 4096, 0o1600) >= 0], ['refused', 'reached'][l.msgget(0, 0o1600) >= 0])"
                    echo x > /proc/self/uid_map && echo reached; echo x > /proc/sys/kernel/hostname && echo reached
                    cat /dev/tty && echo reached
                    cat /proc/self/comm
                    """, by: way)
                #expect(!seen.contains("reached") && !seen.contains("canary") && seen.hasSuffix("cat\n"), "\(seen)")
            }
        }
    }

    // sandbox case 36
    @Test(
        "A command of an administrator has no additional groups, as under bubblewrap",
        .enabled(if: geteuid() == 0), arguments: Way.hasBubblewrap ? [true, false] : [false])
    func groups(isBubblewrap: Bool) async throws {
        try await Place.run { place in
            try place.write("f", "secret")
            #expect(unsafe chown("\(place.folder)/f", 65534, 4242) == 0 && chmod("\(place.folder)/f", 0o040) == 0)
            await #expect(processExitsWith: .success) { [base = place.base as String, isBubblewrap] in
                var groups: [gid_t] = [4242]
                try #require(unsafe setgroups(1, &groups) == 0)
                let way = isBubblewrap ? Way.bubblewrap : try #require(Way.landlock)
                let seen = try await Place(base: base).run(
                    "cat f; id -G; grep -E 'Cap|NoNew|Seccomp:' /proc/self/status", by: way)
                try #require(!seen.contains("secret") && seen.contains("\n0\n"))
                // The five capability sets.
                try #require(seen.split(separator: "\n").count { $0.hasSuffix("0000000000000000") } == 5)
                try #require(seen.contains("NoNewPrivs:\t1\nSeccomp:\t2\n"))
            }
        }
    }

    // sandbox case 48
    @Test("A command cannot connect to a Unix socket by any path", arguments: Way.ofLandlock + Way.ofBubblewrap)
    func sockets(way: Way) async throws {
        try await Place.run { place in
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(server) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = Array("\(place.folder)/socket".utf8)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
            let bound = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(server, 4) == 0
                }
            }
            try #require(bound)
            try #require(unsafe chmod("\(place.folder)/socket", 0o777) == 0)
            let attempt =
                "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"socket\"); print(\"reached\")'"
            let seen = try await place.run(attempt, in: Sandbox(hasNetwork: true), by: way)
            #expect(!seen.contains("reached") && seen.contains("Operation not permitted"), "\(seen)")
            #expect(try await place.shell(attempt) == "reached\n")
        }
    }

    @Test("A working folder outside of the sandbox is a sandbox error")
    func elsewhere() async throws {
        let way = try #require(Way.landlock)
        try await Place.run { place in
            let (folder, outside) = (try Folder(beneath: place.folder), try Folder(beneath: "\(place.base)/outside"))
            let engine = SandboxEngine(launcher: Launcher.standalone, variables: Place.variables, by: way.engine)
            let error = await #expect(throws: SandboxError.self) {
                try await engine.command(["true"], in: Sandbox(), around: folder, from: outside)
            }
            #expect(error?.kind == .unavailable && error?.message.contains("/outside is outside of it") == true)
        }
    }
}

extension Way {
    /// Before version 6 Landlock does not restrict signals.
    fileprivate var reachesSignals: Bool {
        if case .landlock(let version) = engine { version.number < 6 } else { false }
    }
}

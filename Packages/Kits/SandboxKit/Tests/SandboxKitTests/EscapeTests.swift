import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

/// Attempts to escape from a sandbox. Each prints something only if it succeeds. Most are tried by an administrator and
/// by an ordinary user.
@Suite("Escapes from a sandbox", .timeLimit(.minutes(10)), .enabled(if: Way.hasBubblewrap))
struct EscapeTests {
    // sandbox cases 1, 2, 3 and 5
    @Test("A command cannot create another view of the machine, and has no capability for it", arguments: Way.all)
    func mounts(way: Way) async throws {
        try await Place.run { place in
            let seen = try await place.run(
                """
                mount -o remount,rw,bind /usr && echo reached
                umount /usr && echo reached
                mount -t tmpfs none /mnt && echo reached
                unshare -Ur true && echo reached
                unshare -n true && echo reached
                cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo reached
                touch /usr/x /etc/x /x /opt/x && echo reached
                grep CapEff /proc/self/status
                """, by: way)
            #expect(!seen.contains("reached") && seen.hasSuffix("CapEff:\t0000000000000000\n"), "\(seen)")
        }
    }

    @Test("A command cannot see the rest of the file system", arguments: Way.ofBubblewrap)
    func view(way: Way) async throws {
        try await Place.run { place in
            let seen = try await place.run(
                """
                ls / | tr '\\n' ' '; echo
                cat /etc/shadow | head -c 5
                ls /etc/ssl/private /root /run /home
                cat ../outside/secret; echo x > ../outside/made; echo x > ../made
                find / -xdev -type s
                ls /proc | grep -c '^[0-9]'
                """, by: way)
            let lines = seen.split(separator: "\n", omittingEmptySubsequences: false)
            let top = Set(try #require(lines.first).split(separator: " "))
            #expect(top.isDisjoint(with: ["root", "home", "run", "srv", "boot", "mnt", "sys"]), "\(seen)")
            #expect(!seen.contains("root:"), "\(seen)")
            #expect(try Files.list("\(place.base)/outside").isEmpty)
            #expect(!Files.exists("\(place.base)/made"))
            // Only its own processes, including bubblewrap.
            #expect(lines.dropLast().last.flatMap { Int($0) }.map { $0 < 8 } == true, "\(seen)")
        }
    }

    #if arch(x86_64)
        // sandbox cases 45 and 49
        @Test(
            "A command cannot use other sockets, kernel keys or system calls that bypass the filter", arguments: Way.all
        )
        func calls(way: Way) async throws {
            try await Place.run { place in
                try place.write(
                    "calls.py",
                    """
                    import ctypes, errno, fcntl, os, socket
                    libc = ctypes.CDLL(None, use_errno=True)
                    def call(name, *arguments):
                        ctypes.set_errno(0)
                        result = libc.syscall(*[ctypes.c_long(a) for a in arguments])
                        print(name, errno.errorcode.get(ctypes.get_errno()) if result < 0 else 'reached')
                    for name, family in dict(unix=1, netlink=16, packet=17, alg=38, vsock=40, odd=5).items():
                        try: socket.socket(family, socket.SOCK_DGRAM); print(name, 'reached')
                        except OSError as e: print(name, errno.errorcode[e.errno])
                    call('wide', 41, 0x100000001, 1, 0)
                    call('io_uring', 425, 1, 0)
                    call('clone3', 435, 0, 0)
                    call('openat2', 437, -100, 0, 0, 0)
                    call('keyctl', 250, 0, -3, 1)
                    call('add_key', 248, 0, 0, 0, 0, 0)
                    call('clone', 56, 0x10000000 | 17, 0, 0, 0, 0)
                    for name, request in dict(typing=0x5412, console=0x541C).items():
                        try: fcntl.ioctl(0, request, b'x'); print(name, 'reached')
                        except OSError as e: print(name, errno.errorcode[e.errno])
                    for name, kind in dict(datagrams=2, raw=3, datagrams2=2 | 0o2000000).items():
                        try: socket.socketpair(socket.AF_UNIX, kind); print(name, 'reached')
                        except OSError as e: print(name, errno.errorcode[e.errno])
                    socket.socketpair(); socket.socket(socket.AF_INET); socket.socket(socket.AF_INET6)
                    print('done')
                    """)
                let seen = try await place.run(
                    "/usr/bin/python3 calls.py", in: Sandbox(hasNetwork: true), by: way)
                let refused = [
                    "unix", "netlink", "packet", "alg", "vsock", "odd", "wide", "io_uring", "keyctl", "add_key",
                    "clone",
                    "typing", "console", "datagrams", "raw",
                ]
                for name in refused { #expect(seen.contains("\(name) EPERM\n"), "\(name): \(seen)") }
                for name in ["clone3", "openat2"] { #expect(seen.contains("\(name) ENOSYS\n"), "\(name): \(seen)") }
                #expect(seen.hasSuffix("done\n"), "\(seen)")
                // Without a sandbox they work, so it is the sandbox that refuses them.
                let control = try await place.shell("/usr/bin/python3 calls.py")
                for name in ["unix", "netlink"] { #expect(control.contains("\(name) reached\n"), "\(control)") }
            }
        }

        // sandbox case 49
        @Test("A command cannot make system calls of another architecture", arguments: Way.engines)
        func otherNumbers(way: Way) async throws {
            try await Place.run { place in
                try place.write(
                    "old.c",
                    """
                    #include <stdio.h>
                    int main(void) {
                        long number = 20;
                        __asm__ volatile("int $0x80" : "+a"(number));
                        puts("reached");
                    }
                    """)
                // A kernel without them refuses them itself.
                guard try await place.shell("gcc -o old old.c && ./old") == "reached\n" else { return }
                let seen = try await place.run("./old; echo $?", by: way)
                // 128 plus SIGSYS.
                #expect(seen.hasSuffix("159\n") && !seen.contains("reached"), "\(seen)")
            }
        }
    #endif

    // sandbox case 4
    @Test("A command cannot create a setuid program", arguments: Way.all)
    func modes(way: Way) async throws {
        try await Place.run { place in
            try place.write("in/f")
            let attempts = """
                cd in; cp /bin/true a; chmod 4755 a; chmod g+s a; install -m 4755 /bin/true b; mkdir -m 2755 c
                /usr/bin/python3 -c 'import os; os.open("d", os.O_CREAT | os.O_WRONLY, 0o4755)'
                /usr/bin/python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755); print("reached")'
                find . -perm /6000
                """
            let seen = try await place.run(attempts, by: way)
            #expect(
                !seen.contains("reached") && !seen.split(separator: "\n").contains { $0.hasPrefix("./") }, "\(seen)")
            #expect(try await place.shell(attempts).contains("reached"))
            let plain = try await place.run(
                "cd in; echo x > plain && chmod 755 plain && mkdir e && echo made", by: way)
            #expect(plain == "made\n")
        }
    }

    // sandbox case 24
    @Test("A command cannot replace the program that runs it", arguments: Way.all)
    func programs(way: Way) async throws {
        try await Place.run { place in
            let attempt = "import sys; open(sys.argv[1], 'r+b'); print('reached')"
            let seen = try await place.run(
                """
                for p in self 1 $$ $PPID; do /usr/bin/python3 -c "\(attempt)" /proc/$p/exe 2>&1 | tail -1; done
                """, by: way)
            #expect(!seen.contains("reached") && seen.split(separator: "\n").count == 4, "\(seen)")
            // The control: a program that is not running can be opened this way.
            let control = try await place.shell("cp /bin/true own; /usr/bin/python3 -c \"\(attempt)\" own")
            #expect(control == "reached\n", "\(control)")
        }
    }

    // sandbox case 47
    @Test("A command reaches the network only if it is allowed", arguments: Way.all)
    func network(way: Way) async throws {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try unsafe withUnsafeMutablePointer(to: &address) {
            try unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(unsafe bind(server, $0, length) == 0 && listen(server, 4) == 0)
                unsafe getsockname(server, $0, &length)
            }
        }
        let command = "exec 3<>/dev/tcp/127.0.0.1/\(UInt16(bigEndian: address.sin_port)) && echo reached"
        try await Place.run { place in
            let closed = try await place.run(command, by: way)
            #expect(!closed.contains("reached"))
            let open = try await place.run(command, in: Sandbox(hasNetwork: true), by: way)
            #expect(open == "reached\n")
        }
    }

    // sandbox cases 18, 22 and 23
    @Test(
        "A command cannot read this process's open files, its variables or the sandbox options",
        arguments: Way.engines)
    func inherited(way: Way) async throws {
        try await Place.run { place in
            // Without the flag that closes it in a child.
            let leaked = unsafe open("\(place.base)/outside", O_RDONLY | O_DIRECTORY)
            defer { close(leaked) }
            try #require(leaked >= 0)
            let hiding = Sandbox(hiding: ["\(place.folder)/hidden-name"])
            try place.write("hidden-name/f")
            let seen = try await place.run(
                """
                ls /proc/self/fd | tr '\\n' ' '; echo
                env | cut -d= -f1 | sort | tr '\\n' ' '; echo
                tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ | tr '\\0' '\\n' | cut -d= -f1 | tr '\\n' ' '
                """, in: hiding, by: way)
            let lines = seen.split(separator: "\n", omittingEmptySubsequences: false)
            try #require(lines.count >= 3)
            #expect(lines[0] == "0 1 2 3 ", "\(seen)")
            #expect(
                Set(lines[1].split(separator: " ")).isSubset(of: [
                    "HOME", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_",
                ]))
            #expect(!seen.contains("hidden-name"))
        }
    }
}

import Capabilities
import FileKit
import Glibc
import JSON
import SandboxKit
import Testing

@testable import ToolKit

@Suite("The sandbox of bash.run", .timeLimit(.minutes(10)))
struct SandboxTests {
    static let isThere = unsafe access("/usr/bin/bwrap", X_OK) == 0

    private func run(_ place: Playground, _ command: String, network: Bool = false, path: String = "/usr/bin:/bin")
        async throws -> ToolResult
    {
        let options = ShellOptions(environment: ["PATH": path], sandbox: Sandbox(hasNetwork: network))
        let tools = WorkspaceTools(place.workspace, offering: .all, shell: options)
        return try await tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)]))
    }

    @Test(
        "A command can write only the working folder and a private /tmp, and sees only its own processes",
        .enabled(if: isThere))
    func writes() async throws {
        try await withPlayground { place in
            try place.write("sub/f", "old")
            let done = try await run(place, "echo new > sub/f; pwd; echo x > /tmp/a-mine; ls /tmp; echo $$")
            #expect(done.content.hasPrefix("\(place.folder)\na-mine\n") && !done.isError, "\(done.content)")
            #expect(try place.content("sub/f") == "new\n")
            #expect(unsafe access("/tmp/a-mine", F_OK) != 0)
            for target in ["\(place.base)/outside/x", "/usr/x", "/etc/x", "/dev/shm/../../x"] {
                let refused = try await run(place, "echo x > '\(target)'")
                #expect(
                    refused.isError && refused.content.contains("No such file")
                        || refused.content.contains("Read-only"), "\(target): \(refused.content)")
                #expect(unsafe access(target, F_OK) != 0, "\(target)")
            }
            let hook = try await run(place, "mkdir .claude")
            #expect(hook.isError && hook.content.contains("[in the sandbox only"), "\(hook.content)")
            let away = try await run(place, "python3 -c 'import socket; socket.getaddrinfo(\"a.example\", 80)'")
            #expect(away.isError && away.content.hasSuffix("ask the user to allow it]"), "\(away.content)")
            let processes = try await run(place, "ls -d /proc/[0-9]* | wc -l")
            #expect(Int(processes.content.dropLast()).map { $0 < 8 } == true, "\(processes.content)")
        }
    }

    @Test("A command sees shown tools in the home, and no hidden paths", .enabled(if: isThere))
    func hidden() async throws {
        // Not in /tmp, which is private in the sandbox.
        var template = Array("/var/tmp/martlet-sandbox-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let base = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unsafe system("rm -rf \(base)") }
        for folder in ["home/tools", "home/work/vault", "data"] { try Files.makeDirectories("\(base)/\(folder)") }
        for name in ["home/key", "home/tools/tool", "home/work/f", "home/work/vault/key", "data/key"] {
            try Files.writeAtomically(Array("content of \(name)\n".utf8), to: "\(base)/\(name)")
        }
        let options = ShellOptions(
            environment: ["PATH": "/usr/bin:/bin", "HOME": "\(base)/home"],
            sandbox: Sandbox(
                home: "\(base)/home", showing: ["\(base)/home/tools"], hiding: ["\(base)/home/work/vault"]))
        let tools = WorkspaceTools(try Workspace("\(base)/home/work"), offering: .all, shell: options)
        let command = "cd; echo $PWD; cat key work/vault/key ../data/key 2>/dev/null; cat tools/tool work/f"
        let seen = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
            try await tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)]))
        }
        #expect(seen.content == "\(base)/home\ncontent of home/tools/tool\ncontent of home/work/f\n")
    }

    @Test("A command has a network only if it is allowed", .enabled(if: isThere))
    func network() async throws {
        try await withPlayground { place in
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
            let command = "exec 3<>/dev/tcp/127.0.0.1/\(UInt16(bigEndian: address.sin_port)) && echo connected"
            #expect(try await run(place, command).isError)
            #expect(try await run(place, command, network: true).content == "connected\n")
        }
    }

    @Test("A command never runs without its sandbox, and a stopped one is gone", .enabled(if: isThere))
    func missing() async throws {
        try await withPlayground { place in
            try place.write("empty/x", "")
            let refused = try await run(place, "touch y", path: "\(place.folder)/empty")
            // Its PATH has no bash.
            #expect(refused.isError && refused.content.hasSuffix("[exit code 127]"), "\(refused.content)")
            #expect(try place.names() == ["empty"])
            let options = ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: Sandbox())
            let tools = WorkspaceTools(place.workspace, offering: .all, shell: options)
            let call = ToolCall(
                id: "1", name: "bash.run",
                input: ["command": "trap '' TERM; setsid sleep 987654 & sleep 0.05; echo ready; sleep 987654"])
            let ready = AsyncStream<Void>.makeStream()
            let task = Task { try await tools.run(call) { _ in ready.continuation.yield() } }
            for await _ in ready.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // Processes that left the group end too: their namespace ends with its creator.
            let deadline = ContinuousClock.now + .seconds(20)
            while try Self.runs("sleep\u{0}987654\u{0}"), ContinuousClock.now < deadline { await Task.yield() }
            #expect(try !Self.runs("sleep\u{0}987654\u{0}"))
        }
    }

    // sandbox case 43
    @Test("A command survives the thread that started it", .enabled(if: isThere))
    func idle() async throws {
        try await withPlayground { place in
            // The runtime ends a thread that was idle for five seconds.
            let done = try await run(place, "sleep 7; echo still here")
            #expect(done.content == "still here\n")
        }
    }

    @Test("Nothing outlives this process, even if it is killed", .enabled(if: isThere))
    func killed() async throws {
        try await withPlayground { place in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = place.folder as String] in
                let options = ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: Sandbox())
                let tools = WorkspaceTools(try Workspace(folder), offering: .all, shell: options)
                let command: JSON = "trap '' TERM; setsid sleep 876543 & sleep 0.05; echo ready; sleep 876543"
                let call = ToolCall(id: "1", name: "bash.run", input: ["command": command])
                _ = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
                    try await tools.run(call) { _ in kill(getpid(), SIGKILL) }
                }
            }
            let deadline = ContinuousClock.now + .seconds(20)
            while try Self.runs("sleep\u{0}876543\u{0}"), ContinuousClock.now < deadline { await Task.yield() }
            #expect(try !Self.runs("sleep\u{0}876543\u{0}"))
        }
    }

    @Test("A refusal by Landlock is explained with a way around it, and other failures are not")
    func weaker() {
        let refused = "touch: cannot touch 'x': Permission denied\n"
        let told = ShellTool.reasons(for: refused, in: Sandbox(), by: .landlock, Shades())
        #expect(told.count == 1 && told[0].contains("$TMPDIR") && told[0].contains("bubblewrap"))
        #expect(told[0].contains("there is no network"))
        let open = ShellTool.reasons(for: refused, in: Sandbox(hasNetwork: true), by: .landlock, Shades())
        #expect(open.count == 1 && !open[0].contains("network"))
        #expect(ShellTool.reasons(for: refused, in: Sandbox(), by: .bubblewrap, Shades()).isEmpty)
        #expect(ShellTool.reasons(for: "1 test failed", in: Sandbox(), by: .landlock, Shades()).isEmpty)
    }

    private static func runs(_ words: String) throws -> Bool {
        try Files.list("/proc").contains { entry in
            // A process that has ended is not running.
            guard Int(entry.name) != nil, let line = try? Files.read("/proc/\(entry.name)/cmdline", limit: 1 << 20)
            else { return false }
            return line == Array(words.utf8)
        }
    }
}

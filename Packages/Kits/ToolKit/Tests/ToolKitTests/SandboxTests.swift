import Capabilities
import FileKit
import Glibc
import JSON
import Testing

@testable import ToolKit

@Suite("The sandbox of bash.run", .timeLimit(.minutes(10)))
struct SandboxTests {
    static let isThere = unsafe access("/usr/bin/bwrap", X_OK) == 0

    private func run(_ place: Playground, _ command: String, network: Bool = false, path: String = "/usr/bin:/bin")
        async throws -> ToolResult
    {
        let options = ShellOptions(environment: ["PATH": path], sandbox: .bubblewrap(network: network))
        let tools = WorkspaceTools(place.workspace, offering: .all, shell: options)
        return try await tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)]))
    }

    @Test(
        "only the working folder and a /tmp of its own can be written, and only its own processes are seen",
        .enabled(if: isThere))
    func writes() async throws {
        try await withPlayground { place in
            try place.write("sub/f", "old")
            let done = try await run(place, "echo new > sub/f; pwd; echo x > /tmp/mine; ls /tmp; echo $$")
            #expect(done.content.hasPrefix("\(place.folder)\nmine\n") && !done.isError, "\(done.content)")
            #expect(try place.content("sub/f") == "new\n")
            #expect(unsafe access("/tmp/mine", F_OK) != 0)
            for target in ["\(place.base)/outside/x", "/usr/x", "/etc/x", "/var/tmp/x", "/dev/shm/../../x"] {
                let refused = try await run(place, "echo x > '\(target)'")
                #expect(
                    refused.isError && refused.content.contains("No such file")
                        || refused.content.contains("Read-only"), "\(target): \(refused.content)")
                #expect(unsafe access(target, F_OK) != 0, "\(target)")
            }
            let processes = try await run(place, "ls -d /proc/[0-9]* | wc -l")
            #expect(Int(processes.content.dropLast()).map { $0 < 8 } == true, "\(processes.content)")
        }
    }

    @Test(
        "the home and what is secret are not seen, but for the working folder and what is shown",
        .enabled(if: isThere), arguments: [true, false])
    func hidden(hides: Bool) async throws {
        // Not in /tmp, which is another one in the sandbox.
        var template = Array("/var/tmp/martlet-sandbox-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let base = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unsafe system("rm -rf \(base)") }
        for name in ["home/.ssh/key", "home/tools/tool", "home/work/f", "home/work/vault/key", "run/bus", "data/vault"]
        {
            try Files.makeDirectories("\(base)/\(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])")
            try Files.writeAtomically(Array("content of \(name)\n".utf8), to: "\(base)/\(name)")
        }
        // A path that a link leads to is hidden with it.
        try #require(unsafe symlink("\(base)/data", "\(base)/link") == 0)
        let variables = ["HOME": "\(base)/home", "XDG_RUNTIME_DIR": "\(base)/run"]
        let options = ShellOptions(
            environment: ["PATH": "/usr/bin:/bin"].merging(hides ? variables : [:]) { $1 },
            sandbox: .bubblewrap(network: false),
            hiding: hides ? ["\(base)/link", "\(base)/home/work/vault", "\(base)/nowhere"] : [],
            showing: ["\(base)/home/tools"])
        let tools = WorkspaceTools(try Workspace("\(base)/home/work"), offering: .all, shell: options)
        func run(_ command: String, _ tools: WorkspaceTools) async throws -> String {
            try await tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": .string(command)])).content
        }
        let all =
            "cd \(base); cat home/.ssh/key run/bus data/vault home/work/vault/key 2>&1; cat home/tools/tool home/work/f"
        let seen = try await run(all, tools)
        #expect(seen.hasSuffix("content of home/tools/tool\ncontent of home/work/f\n"), "\(seen)")
        for secret in ["home/.ssh/key", "run/bus", "data/vault", "home/work/vault/key"] {
            #expect(seen.contains("content of \(secret)") != hides, "\(secret): \(seen)")
        }
        #expect(try await run("echo new > f; ls -A \(base)/home", tools).contains("tools\nwork\n"))
        #expect(try Files.read("\(base)/home/work/f", limit: 100) == Array("new\n".utf8))
        // A workspace that is the home shows it, without what is secret.
        let wide = WorkspaceTools(try Workspace("\(base)/home"), offering: .all, shell: options)
        let home = try await run("cat .ssh/key work/vault/key 2>&1", wide)
        #expect(home.contains("content of home/.ssh/key"))
        #expect(home.contains("content of home/work/vault/key") != hides)
        #expect(try await run("ls /run | wc -l", tools) == "0\n")
    }

    @Test("there is a network only if that is wanted", .enabled(if: isThere))
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

    @Test("a command that was to be shut in is not run without, and one that is stopped is gone", .enabled(if: isThere))
    func missing() async throws {
        try await withPlayground { place in
            try place.write("empty/x", "")
            let refused = try await run(place, "touch y", path: "\(place.folder)/empty")
            #expect(refused.isError && refused.content.contains("install bwrap"))
            #expect(try place.names() == ["empty"])
            let options = ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: .bubblewrap(network: false))
            let tools = WorkspaceTools(place.workspace, offering: .all, shell: options)
            let call = ToolCall(
                id: "1", name: "bash.run",
                input: ["command": "trap '' TERM; setsid sleep 987654 & sleep 0.05; echo ready; sleep 987654"])
            let ready = AsyncStream<Void>.makeStream()
            let task = Task { try await tools.run(call) { _ in ready.continuation.yield() } }
            for await _ in ready.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // Also what left the group: its name space ended with the one that made it.
            let deadline = ContinuousClock.now + .seconds(20)
            while try Self.runs("sleep\u{0}987654\u{0}"), ContinuousClock.now < deadline { await Task.yield() }
            #expect(try !Self.runs("sleep\u{0}987654\u{0}"))
        }
    }

    @Test("a command is not ended with the thread that started it", .enabled(if: isThere))
    func idle() async throws {
        try await withPlayground { place in
            // The runtime ends a thread that had nothing to do for five seconds.
            let done = try await run(place, "sleep 7; echo still here")
            #expect(done.content == "still here\n")
        }
    }

    @Test("nothing outlives this process, even where that is killed", .enabled(if: isThere))
    func killed() async throws {
        try await withPlayground { place in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = place.folder as String] in
                let options = ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: .bubblewrap(network: false))
                let tools = WorkspaceTools(try Workspace(folder), offering: .all, shell: options)
                let command: JSON = "trap '' TERM; setsid sleep 876543 & sleep 0.05; echo ready; sleep 876543"
                _ = try await tools.run(ToolCall(id: "1", name: "bash.run", input: ["command": command])) { _ in
                    kill(getpid(), SIGKILL)
                }
            }
            let deadline = ContinuousClock.now + .seconds(20)
            while try Self.runs("sleep\u{0}876543\u{0}"), ContinuousClock.now < deadline { await Task.yield() }
            #expect(try !Self.runs("sleep\u{0}876543\u{0}"))
        }
    }

    private static func runs(_ words: String) throws -> Bool {
        try Files.list("/proc").contains { entry in
            // What has ended meanwhile is not running.
            guard Int(entry.name) != nil, let line = try? Files.read("/proc/\(entry.name)/cmdline", limit: 1 << 20)
            else { return false }
            return line == Array(words.utf8)
        }
    }
}

import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import LoopKit
import MCPKit
import MCPServers
import RPCKit
import Registry
import Testing

@testable import MCP

/// Recording what goes over a connection, and serving it again.
struct ReplayTests {
    /// A recording of two calls of a server, made by two commands.
    private func recorded(_ body: (TestWorkbench, _ bytes: [UInt8]) async throws -> Void) async throws {
        try await Plain.bench { (bench) async throws in
            for words in [["--text", "one"], ["--text", "two", "--loud"]] {
                let result = try await bench.perform(
                    "mcp.call",
                    [
                        "server": "plain", "tool": "echo", "arguments": .array(words.map { .string($0) }),
                        "record": "traffic.jsonl",
                    ])
                #expect(result["is_error"] == false && result.notices.isEmpty, "It is recorded, and not shown.")
            }
            try await body(bench, Files.read(bench.folder + "/traffic.jsonl", limit: 1 << 20))
        }
    }

    /// A client of the replay, over a pair of sockets.
    private func replay<Value: Sendable>(
        _ bytes: [UInt8], _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let loop = EventLoop()
        func transport(_ descriptor: Int32) throws -> StreamTransport {
            let watched = try LoopDescriptor(owning: descriptor, loop: loop)
            return StreamTransport(DescriptorChannel(reading: watched, writing: watched))
        }
        let (ours, theirs) = (try transport(ends[0]), try transport(ends[1]))
        let server = TrafficReplay(try TrafficRecording(bytes, name: "traffic.jsonl"))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.serve(over: ours) }
            let client = MCPClient(of: "replay", over: theirs, as: MCPIdentity(name: "test", version: "1"))
            let result: Result<Value, any Error>
            do { result = .success(try await client.whileRunning { try await body(client) }) } catch {
                result = .failure(error)
            }
            ours.close()
            try await group.waitForAll()
            return try result.get()
        }
    }

    @Test("what was recorded by hand is served to a client, in the same words each time")
    func replays() async throws {
        try await recorded { _, bytes in
            for _ in 1...2 {
                let texts = try await replay(bytes) { client in
                    #expect(try await client.server().identity.name == "plain")
                    #expect(try await client.tools().count == 11)
                    let one = try await client.call("echo", ["text": "one"])
                    let two = try await client.call("echo", ["text": "two", "loud": true])
                    return [one, two].map { $0.parts.map(\.text).joined() }
                }
                #expect(texts == ["one", "TWO"])
            }
            let error = await #expect(throws: MCPError.self) {
                try await replay(bytes) { client in _ = try await client.call("echo", ["text": "three"]) }
            }
            #expect(
                error?.message.contains("has no tools/call with these parameters") == true, "\(error?.message ?? "")")
        }
    }

    @Test("a recording names the server and has both directions, with their times")
    func lines() async throws {
        try await recorded { bench, bytes in
            let lines = try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
                try JSON(parsing: String($0))
            }
            #expect(lines.count { $0["server"] == "plain" } == 2)
            #expect(lines.contains { $0["sent"]?["method"] == "tools/call" })
            #expect(lines.contains { $0["received"]?["result"]?["structuredContent"] == ["said": "one"] })
            #expect(lines.allSatisfy { $0["time"]?.string.flatMap(Timestamp.init(iso8601:)) != nil })
            let mode = try Files.info(bench.folder + "/traffic.jsonl").mode & 0o777
            #expect(mode == 0o600)
        }
    }

    @Test("the program serves a recording over its standard streams until its input ends")
    func streams() async {
        await #expect(processExitsWith: .success) {
            try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
                let lines = [
                    #"{"sent": {"id": 7, "method": "tools/list"}}"#,
                    #"{"received": {"id": 7, "result": {"tools": []}}}"#,
                ]
                try bench.write(lines.joined(separator: "\n"), to: "r.jsonl")
                var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
                guard unsafe pipe(&input) == 0, unsafe pipe(&output) == 0 else { exit(2) }
                let asked = #"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"# + "\nrubbish\n"
                _ = unsafe write(input[1], asked, asked.utf8.count)
                close(input[1])
                dup2(input[0], 0)
                dup2(output[1], 1)
                try await bench.perform("mcp.replay", ["file": "r.jsonl"])
                // What the program prints at its end is not part of the protocol.
                _ = unsafe write(1, "result", 6)
                close(output[1])
                let answered = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
                    count = unsafe max(0, read(output[0], buffer.baseAddress, buffer.count))
                }
                let text = String(decoding: answered, as: UTF8.self)
                guard text.hasPrefix(#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"# + "\n"),
                    text.contains("-32700"),
                    text.hasSuffix("}\n")
                else { exit(3) }
            }
        }
    }

    @Test("a test is recorded too, and what cannot be recorded or replayed is refused")
    func refuses() async throws {
        try await Plain.bench { (bench) async throws in
            try await bench.perform("mcp.test", ["name": "plain", "record": "test.jsonl"])
            #expect(try bench.read("test.jsonl").contains("tools/list"))
            let folder = try await bench.failure("mcp.test", ["name": "plain", "record": .string(bench.folder)])
            #expect(folder != nil)
            try bench.write("nonsense", to: "bad.jsonl")
            let bad = try await bench.failure("mcp.replay", ["file": "bad.jsonl"])
            #expect(bad?.code == "mcp.file" && bad?.message.contains("line 1 of bad.jsonl") == true)
            #expect(try await bench.failure("mcp.replay", ["file": "none.jsonl"]) != nil)
            // A bundle has none of the person's streams, whatever it may do.
            let bundle = Grant(Grant.Layer(.bundle("b"), actions: ["mcp.replay"], folders: nil))
            try await bench.open { (session) async throws in
                let error = await #expect(throws: ServerError.self) {
                    _ = try await session.session.perform(
                        "mcp.replay", ["file": "test.jsonl"],
                        as: .person(HeadlessInteraction()).narrowed(by: bundle), output: RecordingOutput())
                }
                #expect(error?.message.contains("streams") == true)
            }
            // A caller that may not write there records nothing, and one that may does.
            for (isAllowed, root) in [(false, "/nonexistent"), (true, bench.folder)] {
                let folders = Grant.Folders(roots: isAllowed ? [try FolderRoot(opening: root)] : [])
                let grant = Grant(
                    Grant.Layer(.bundle("b"), effects: .writes, folders: folders, programs: nil, tools: ["plain/*"]))
                let arguments: JSONObject = [
                    "server": "plain", "tool": "echo", "arguments": ["--text", "x"], "record": "bundle.jsonl",
                ]
                try await bench.open { (session) async throws in
                    let caller = Caller.person(HeadlessInteraction()).narrowed(by: grant)
                    do {
                        _ = try await session.session.perform(
                            "mcp.call", arguments, as: caller, output: RecordingOutput())
                        #expect(isAllowed)
                    } catch let error as AccessFailure { #expect(!isAllowed, "\(error.message)") }
                }
                #expect(Files.exists(bench.folder + "/bundle.jsonl") == isAllowed)
            }
        }
    }
}

import Capabilities
import CoreTesting
import Glibc
import JSON
import ProcessKit
import RPCKit
import Testing

@testable import MCPKit

/// Servers that are broken or hostile. None may make a client hang, crash or grow, and each message names the server.
@Suite("Broken and hostile servers", .timeLimit(.minutes(3)))
struct FaultTests {
    /// What a legacy server answers to the first two requests; `more` reads and writes after that.
    static func legacy(_ more: String, capabilities: String = #"{"tools":{}}"#) -> MCPProgram {
        Peers.script(
            """
            read probe
            echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid request parameters","data":""}}'
            read initialize
            echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":\(capabilities),"serverInfo":{"name":"s","version":"1"}}}'
            read initialized
            \(more)
            """)
    }

    static func error<Value>(of body: () async throws -> Value) async -> (any Failure)? {
        do {
            _ = try await body()
            return nil
        } catch { return AnyFailure(error) }
    }

    /// Short limits, so that what is never answered fails soon.
    private static let short: MCPClient.Limits = {
        var limits = MCPClient.Limits()
        limits.call = RPCTimeLimit(.milliseconds(300))
        limits.request = .milliseconds(300)
        return limits
    }()

    // MARK: Starting

    @Test("A program that is missing is told as such")
    func missing() async throws {
        let program = MCPProgram(Command("no-such-server", [], environment: Peers.environment))
        let error = await Self.error { try await program.client { _ in } }
        #expect(error?.message.contains("no-such-server") == true && error?.message.contains("not in PATH") == true)
    }

    @Test("One that ends before it answers is told with its exit code and its last words, made harmless")
    func endsAtOnce() async throws {
        let program = Peers.script("printf 'a lot\\n\\033[31mno such database\\n' >&2; exit 3")
        let error = await Self.error { try await program.client("db") { _ in } }
        let message = try #require(error?.message)
        #expect(
            message.contains("'db'") && message.contains("exit code 3") && message.contains("no such database"),
            "\(message)")
        #expect(!message.contains("\u{1B}") && error?.exit == .unreachable)
    }

    @Test("One that never answers fails in its time, and is gone")
    func silent() async throws {
        var limits = MCPClient.Limits()
        (limits.probe, limits.start) = (.milliseconds(50), .milliseconds(300))
        let error = await Self.error { [limits] in
            try await Peers.script("exec sleep 600").client("mute", limits: limits) { _ in }
        }
        #expect(error?.message.contains("'mute' did not answer initialize within 300ms") == true)
    }

    @Test("One that speaks only unknown revisions is refused with what each side speaks")
    func version() async throws {
        let program = Peers.script(
            """
            read a; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
            read b; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{}}}'
            cat >/dev/null
            """)
        let error = await Self.error { try await program.client { _ in } }
        #expect(error?.code == "mcp.unsupported" && error?.message.contains("1999-01-01") == true)
    }

    // MARK: While it runs

    @Test("Rubbish on its output is told and skipped")
    func rubbish() async throws {
        let handler = TestHandler()
        let program = Self.legacy(
            """
            echo 'Loading model…'; echo '{"half":'; echo ''
            read list
            echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b"},5,{"name":"a","inputSchema":{}}]}}'
            cat >/dev/null
            """)
        let tools = try await program.client(handler: handler) { try await $0.tools() }
        #expect(tools.map(\.name) == ["a"] && handler.problems.count == 5)
    }

    @Test("One that dies in a call fails the call with its reason, also in the middle of a line")
    func dies() async throws {
        for end in ["exit 7", "printf '{\"jsonrpc\":\"2.0\",\"id\":3,\"resu'; kill -9 $$"] {
            let error = await Self.error {
                try await Self.legacy("read call; \(end)").client("frail") { try await $0.call("x") }
            }
            let message = error?.message ?? ""
            #expect(message.contains("'frail'") && (message.contains("exit code 7") || message.contains("signal 9")))
        }
    }

    @Test("A call that is never answered, or answered under a wrong id, fails in its time; the next works")
    func neverAnswers() async throws {
        let handler = TestHandler()
        let program = Self.legacy(
            """
            read call; echo '{"jsonrpc":"2.0","id":777,"result":{"content":[]}}'
            read cancelled
            read call; echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"fine"}]}}'
            echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"twice"}]}}'
            cat >/dev/null
            """)
        try await program.client("slow", handler: handler, limits: Self.short) { client in
            let error = await Self.error { try await client.call("x") }
            #expect(error?.message == "the MCP server 'slow' did not answer tools/call within 300ms")
            let next = try await client.call("x", within: .seconds(60))
            #expect(next.parts == [.text("fine")])
        }
        #expect(handler.problems.count == 1)
    }

    @Test("A line of 200 MB is not kept; its call fails and names the limit, and the next works")
    func longLine() async throws {
        let program = Self.legacy(
            """
            read call
            printf '{"jsonrpc":"2.0","id":3,"result":"'; head -c 200000000 /dev/zero | tr '\\0' x; echo '"}'
            read call; echo '{"jsonrpc":"2.0","id":4,"result":{"content":[]}}'
            cat >/dev/null
            """)
        let before = try TestProcess.residentBytes()
        try await program.client("big") { client in
            let error = await Self.error { try await client.call("x") }
            #expect(error?.code == "mcp.limit" && error?.message.contains("16.0 MiB") == true)
            let next = try await client.call("x")
            #expect(next.parts.isEmpty)
        }
        let grown = try TestProcess.residentBytes() - before
        #expect(grown < 150 << 20)
    }

    @Test("A flood of notifications does not keep a call from its answer")
    func flood() async throws {
        let program = Self.legacy(
            """
            read call
            yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}' | head -n 100000
            echo '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'
            cat >/dev/null
            """)
        let handler = TestHandler()
        let result = try await program.client(handler: handler) { try await $0.call("x") }
        #expect(result.parts.isEmpty && handler.logs.count == 100_000)
    }

    @Test("A server that fills its standard error is not blocked, and the end of it is kept")
    func errors() async throws {
        let program = Self.legacy(
            """
            read call
            head -c 10000000 /dev/zero | tr '\\0' e >&2; echo last >&2
            echo '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'
            cat >/dev/null
            """)
        let messages = try await program.whileRunning(by: Peers.launcher) { transport in
            let client = MCPClient(of: "loud", over: transport, as: Peers.identity)
            return try await client.whileRunning {
                _ = try await client.call("x")
                return transport.messages
            }
        }
        #expect(messages.hasSuffix("elast\n") && messages.utf8.count <= MCPProgram.keptMessages)
    }

    @Test("Cursors that lead in a circle, endless pages and too many entries end with the limit's name")
    func pages() async throws {
        let answer = #"echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[],\"nextCursor\":\"CURSOR\"}}""#
        func program(_ cursor: String) -> MCPProgram {
            Self.legacy(
                "id=3; while read page; do \(answer.replacing("CURSOR", with: cursor)); id=$((id+1)); done")
        }
        let circle = await Self.error { try await program("same").client("round") { try await $0.tools() } }
        #expect(circle?.code == "mcp.malformed" && circle?.message.contains("leads to itself") == true)
        let endless = await Self.error { try await program("$id").client("long") { try await $0.tools() } }
        #expect(endless?.code == "mcp.limit" && endless?.message.contains("100 pages") == true)
        var limits = MCPClient.Limits()
        limits.entries = 5
        let many = Self.legacy(
            """
            read page
            echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[1,2,3,4,5,6]}}'
            cat >/dev/null
            """)
        let full = await Self.error { [limits] in
            try await many.client("many", limits: limits) { try await $0.tools() }
        }
        #expect(full?.code == "mcp.limit" && full?.message.contains("5 tools") == true)
    }

    @Test("A server that asks for what was not offered is refused, and so is one that asks without end")
    func asks() async throws {
        let program = Self.legacy(
            """
            read call
            echo '{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}'
            read answer
            case "$answer" in *-32601*) text=refused ;; *) text=answered ;; esac
            echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"'$text'"}]}}'
            cat >/dev/null
            """)
        #expect(try await program.client { try await $0.call("x") }.parts == [.text("refused")])
        // The same where it is offered.
        #expect(
            try await program.client(handler: TestHandler()) { try await $0.call("x") }.parts == [.text("answered")])
        let endless = Peers.script(
            """
            id=0
            while read line; do
                id=$((id+1))
                if [ $id = 1 ]; then echo '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}'
                else echo '{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"input_required","inputRequests":{},"requestState":"s"}}'; fi
            done
            """)
        let error = await Self.error { try await endless.client("nosy") { try await $0.call("x") } }
        #expect(error?.code == "mcp.limit" && error?.message.contains("asked 8 times") == true)
    }

    // MARK: The end

    @Test("A server that ignores every request to end is killed, with all it has started, also in other sessions")
    func ignoresTerm() async throws {
        try await TemporaryDirectory.run { folder in
            let program = Self.legacy(
                """
                trap '' TERM
                setsid sh -c 'trap "" TERM; echo $$ > \(folder)/one; exec sleep 600' &
                (trap '' TERM; sh -c 'echo $$ > \(folder)/two; exec sleep 600') &
                read call
                until [ -s \(folder)/one ] && [ -s \(folder)/two ]; do :; done
                echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"'$(cat \(folder)/one \(folder)/two | tr '\\n' ' ')'"}]}}'
                while :; do sleep 600; done
                """)
            let text = try await program.client { try await $0.call("x") }.parts.first?.text ?? ""
            let processes = text.split(separator: " ").compactMap { Int32($0) }
            #expect(processes.count == 2)
            for process in processes { #expect(kill(process, 0) == -1 && errno == ESRCH, "\(process) lives") }
        }
    }
}

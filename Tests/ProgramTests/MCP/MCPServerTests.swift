import HTTPTesting
import JSON
import Testing

/// Servers of tools, used with the program as it is installed.
@Suite("MCP servers", .timeLimit(.minutes(3)))
struct MCPServerTests {
    private static let clock = "\(Readme.root)/Apps/examples/mcp/clock.py"

    @Test("A server is added, called with words, JSON and a pipe, logged and removed")
    func byHand() async throws {
        try await ChatHome.with(answer: "") { home in
            let added = try await home.martlet("mcp", "add", "clock", "--", "python3", Self.clock)
            #expect(added.code == 0 && added.output.contains("ready"), "\(added.errors)")
            let words = ["mcp", "call", "clock", "add_days", "--date", "2026-11-26", "--days", "-26"]
            let called = try await Program.martlet.run(words, home: home.path, adding: home.variables)
            #expect(called.code == 0 && called.output == "2026-10-31\n", "\(called.errors)")
            let json = try await home.martlet(
                "--json", "mcp", "call", "clock", "add_days", #"{"date": "2026-11-26", "days": 1}"#)
            #expect(try json.output.json()["text"] == "2026-11-27")
            let piped = try await home.martlet(
                "mcp", "call", "clock", "add_days", input: #"{"date": "2026-11-26", "days": 2}"#)
            #expect(piped.output == "2026-11-28\n", "\(piped.errors)")
            let failed = try await home.martlet("mcp", "call", "clock", "add_days", "--date", "never", "--days", "1")
            #expect(failed.code == 5 && failed.output.contains("isoformat"))
            let wrong = try await home.martlet("mcp", "call", "clock", "add_days", "--day", "1")
            #expect(wrong.code == 2 && wrong.errors.contains("days"))
            #expect(try await home.martlet("mcp", "logs", "clock").output.contains("connected to clock 1.0"))
            #expect(try await home.martlet("mcp", "remove", "clock").code == 0)
            #expect(try await home.martlet("mcp", "tools", "clock").code == 2)
        }
    }

    @Test("The shell completes servers, tools and the options of a tool")
    func completes() async throws {
        try await ChatHome.with(answer: "") { home in
            _ = try await home.martlet("mcp", "add", "clock", "--", "python3", Self.clock)
            func complete(_ words: String...) async throws -> String {
                try await Program.martlet.run(
                    ["completion", "words", "--"] + words, home: home.path, adding: home.variables
                ).output
            }
            #expect(try await complete("mcp", "call", "").contains("clock"))
            #expect(try await complete("mcp", "call", "clock", "").contains("add_days"))
            #expect(try await complete("mcp", "call", "clock", "add_days", "--d").contains("--days"))
        }
    }

    @Test("A model calls a tool of a server only by a rule that names the server")
    func models() async throws {
        let script = FakeModel.calling([.init("clock__add_days", ["date": "2026-11-26", "days": 40])])
        try await ChatHome.with(script) { home in
            _ = try await home.martlet("mcp", "add", "clock", "--", "python3", Self.clock)
            let denied = try await home.martlet(
                "ask", "-m", "openai/small-1", "--mode", "read-only", "When?")
            #expect(denied.code == 6, "\(denied.errors)")
            #expect(try home.server.toolResults().first?.contains("nobody was there to approve") == true)
            // Any tool, but none of a server.
            let rule = #"chat.approvals=[{"verdict": "allow", "tool": "*"}]"#
            let wide = try await home.martlet(
                "ask", "-m", "openai/small-1", "--mode", "read-only", "--set", rule, "When?")
            #expect(wide.code == 6, "\(wide.errors)")
            let named = #"chat.approvals=[{"verdict": "allow", "tool": "add_days", "source": "clock"}]"#
            let allowed = try await home.martlet(
                "ask", "-m", "openai/small-1", "--mode", "read-only", "--set", named, "When?")
            #expect(allowed.code == 0, "\(allowed.errors)")
            #expect(try home.server.toolResults() == ["2027-01-05"])
        }
    }

    @Test("A server of a project is not started without a yes, not even for a model")
    func project() async throws {
        let script = FakeModel.calling([.init("evil__today")])
        try await ChatHome.with(script) { home in
            let sign = "\(home.path)/started"
            try write(
                (["mcpServers": ["evil": ["command": "sh", "args": ["-c", .string("touch \(sign)")]]]] as JSON).text(),
                to: "\(home.path)/.mcp.json")
            let words = "cd '\(home.path)'; martlet ask -m openai/small-1 --mode read-only When"
            let asked = try await home.shell(words)
            #expect(asked.errors.contains("evil") && asked.errors.contains("not used"), "\(asked.errors)")
            let looked = try await home.shell(
                "test -e '\(sign)' && echo started; cd '\(home.path)'; martlet mcp tools evil; echo $?")
            #expect(!looked.output.contains("started") && looked.output.contains("6"))
            // With the yes it is started: the check above can fail.
            let yes = "echo '{\"mcp.agree.evil\": true}' >yes.json; martlet mcp test evil --answers yes.json"
            _ = try await home.shell("cd '\(home.path)'; \(yes)")
            #expect(try await home.shell("test -e '\(sign)' && echo started").output.contains("started"))
        }
    }

    @Test("A bundle calls a tool that its permissions name, and no other")
    func bundles() async throws {
        try await ChatHome.with(answer: "") { home in
            _ = try await home.martlet("mcp", "add", "clock", "--", "python3", Self.clock)
            for (tools, code) in [("clock/add_days", 0), ("clock/today", 2)] as [(String, Int32)] {
                try write(
                    """
                    name: days
                    permissions: {actions: [mcp.call], tools: [\(tools)]}
                    steps:
                      - id: later
                        action: mcp.call
                        with: {server: clock, tool: add_days, input: '{"date": "2026-11-26", "days": 40}'}
                    outputs:
                      date: ${{ steps.later.result.text }}
                    """, to: "\(home.path)/days.yaml")
                let run = try await home.martlet("run", "\(home.path)/days.yaml", "--json")
                #expect((run.code == 0) == (code == 0), "\(tools): \(run.output) \(run.errors)")
                if code == 0 { #expect(run.output.contains("2027-01-05")) }
            }
        }
    }

    @Test("Fifty servers that nobody needs cost a command next to nothing, and none is started")
    func idle() async throws {
        try await ChatHome.with(answer: "") { home in
            let sign = "\(home.path)/started"
            let entry: JSON = ["command": "sh", "args": ["-c", .string("touch \(sign)")]]
            let servers = JSONObject((0..<50).map { ("server\($0)", entry) })
            try write(
                (["mcp": ["servers": .object(servers)]] as JSON).text(), to: "\(home.path)/martlet/config/config.json")
            #expect(try await home.martlet("version").code == 0)
            #expect(try await home.martlet("mcp", "list", "--json").output.json().array?.count == 50)
            #expect(try await home.shell("test -e '\(sign)' || echo none").output.contains("none"))
        }
    }
}

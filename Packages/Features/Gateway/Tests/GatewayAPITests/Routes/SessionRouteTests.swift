import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import Testing

@Suite("Sessions", .timeLimit(.minutes(5))) struct SessionRouteTests {
    @Test("A session is created, found, given tools and deleted")
    func life() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let made = try await gateway.json(
                .post, "/v1/sessions",
                [
                    "project_id": .string(project), "title": "A title", "model": "test/echo",
                    "system_prompt": "Be brief.", "mcp": ["enabled_tools": ["fs.read"]],
                ])
            let id = try #require(made["id"]?.string)
            #expect(made["title"] == "A title" && made["model"] == "test/echo" && made["message_count"] == 0)
            #expect(made["enabled_tools"] == ["fs.read"] && made["enabled_servers"] == nil)
            let found = try await gateway.json(.get, "/v1/sessions?project_id=\(project)")
            #expect(found["data"]?[0]?["id"]?.string == id)
            #expect(try await gateway.json(.get, "/v1/sessions?project_id=other")["data"] == [])

            let tools: JSON = ["enabled_servers": ["files"], "priority": ["files"], "audit_log": true]
            #expect(
                try await gateway.json(.post, "/v1/sessions/\(id)/tools", tools) == [
                    "session_id": .string(id), "enabled_servers": ["files"], "priority": ["files"], "audit_log": true,
                ])
            let status = try await gateway.json(.get, "/v1/chat/completions/\(id)/status")
            #expect(status["enabled_servers"] == ["files"] && status["priority"] == ["files"])

            let gone = try await gateway.json(.delete, "/v1/sessions/\(id)")
            #expect(gone == ["session_id": .string(id), "status": "deleted"])
            for path in ["", "/messages", "/audit", "/approvals"] {
                let answer = try await gateway.json(.get, "/v1/sessions/\(id)\(path)", status: 404)
                #expect(answer.errorCode == "session_not_found", "\(path)")
            }
            _ = try await gateway.json(.get, "/v1/chat/completions/\(id)/status", status: 404)
            _ = try await gateway.json(.delete, "/v1/chat/completions/\(id)", status: 404)
            _ = try await gateway.json(.post, "/v1/sessions/\(id)/tools", [:], status: 404)
        }
    }

    @Test("Only an administrator can turn off the audit log of a session", arguments: [false, true])
    func audit(isAdmin: Bool) async throws {
        let scopes: Set<ClientScope> = isAdmin ? [.chat, .read, .admin] : [.chat, .read]
        let lesser = Principal("lesser", grant: Grant(Grant.Layer(.client("lesser"), scopes: scopes)))
        try await withGateway(TurnSettings(), { $0.authenticate = { _ in lesser } }) { gateway in
            let id = try #require(try await gateway.json(.post, "/v1/sessions", [:])["id"]?.string)
            let path = "/v1/sessions/\(id)/tools"
            #expect(try await gateway.json(.post, path, ["audit_log": true])["audit_log"] == true)
            let without = try await gateway.json(.post, path, [:])
            #expect(without["audit_log"] == .bool(!isAdmin))
            let off = try await gateway.json(.post, path, ["audit_log": false])
            #expect(off["audit_log"] == .bool(!isAdmin))
        }
    }

    @Test("A session with an unknown project or model is not created")
    func unknown() async throws {
        try await withGateway { gateway in
            let project = try await gateway.json(.post, "/v1/sessions", ["project_id": "none"], status: 404)
            #expect(project.errorCode == "project_not_found")
            let model = try await gateway.json(.post, "/v1/sessions", ["model": "none"], status: 404)
            #expect(model.errorCode == "model_not_found")
            #expect(try await gateway.json(.get, "/v1/sessions")["pagination"]?["total_items"] == 0)
        }
    }

    @Test("Messages have their parts, and the totals match the turns")
    func messages() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let body = asking("ls {}", "test/caller", ["project_id": .string(project)])
            let reply = try await gateway.json(.post, "/v1/chat/completions", body)
            let session = try #require(reply["session_id"]?.string)
            let page = try await gateway.json(.get, "/v1/sessions/\(session)/messages")
            let messages = try #require(page["data"]?.array)
            #expect(messages.map { $0["role"]?.string } == ["user", "assistant", "tool", "assistant"])
            #expect(messages[1]["parts"]?[0]?["type"] == "tool_use")
            #expect(messages[2]["parts"]?[0]?["type"] == "tool_result")
            #expect(messages[3]["content"] == "You said: ls {}" && messages[3]["model"] == "test/caller")
            #expect(messages[3]["usage"]?["total_tokens"] == 15)

            let stats = try await gateway.json(.get, "/v1/sessions/stats")
            #expect(stats["session_stats"]?["total_tokens"] == 30 && stats["session_stats"]?["total_messages"] == 4)
            #expect(stats["session_stats"]?["active_sessions"] == 0 && stats["active_claude_sessions"] == 0)
            for group in ["session", "project", "model", "day", "message"] {
                let sums = try await gateway.json(.get, "/v1/usage?by=\(group)&session_id=\(session)")
                let tokens = sums["data"]?.array?.compactMap { $0["total_tokens"]?.int }.reduce(0, +)
                #expect(tokens == 30, "\(group)")
            }
            #expect(try await gateway.json(.get, "/v1/usage?from=2001-01-01&to=2001-01-02")["data"] == [])
            for query in ["by=moon", "from=yesterday", "to=2026-13-01"] {
                _ = try await gateway.json(.get, "/v1/usage?\(query)", status: 422)
            }
            let row = try await gateway.json(.get, "/v1/projects/\(project)")
            #expect(row["session_count"] == 1 && row["total_tokens"] == 30)
        }
    }

    @Test("An unknown tool cannot be selected, and the error lists the available ones")
    func unknownTool() async throws {
        try await withGateway { gateway in
            let project = JSON.string(try await gateway.makeProject())
            let wrong: JSON = ["enabled_tools": ["fs.read", "fs.red"]]
            let refused = try await gateway.json(
                .post, "/v1/sessions", ["project_id": project, "mcp": wrong], status: 404)
            #expect(refused.errorCode == "unknown_tool" && refused["error"]?["param"] == "enabled_tools")
            let words = refused["error"]?["message"]?.string ?? ""
            #expect(words.contains("no tool 'fs.red'; available are fs.read, "), "\(words)")
            #expect(try await gateway.json(.get, "/v1/sessions")["data"] == [])
            let made = try await gateway.json(.post, "/v1/sessions", ["project_id": project])
            let tools = "/v1/sessions/\(try #require(made["id"]?.string))/tools"
            #expect(try await gateway.json(.post, tools, wrong, status: 404).errorCode == "unknown_tool")
            // The name that models see.
            #expect(
                try await gateway.json(.post, tools, ["enabled_tools": ["fs_read"]])["enabled_tools"] == ["fs_read"])
            // Without a project there is no folder to work in.
            let none = try await gateway.json(.post, "/v1/sessions", ["mcp": wrong], status: 404)
            #expect(none["error"]?["message"]?.string?.hasSuffix("no tools are available here") == true)
        }
    }

    @Test("The tool sources and their tools are listed")
    func tools() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let servers = try await gateway.json(.get, "/v1/mcp/servers?scope=all&project_id=\(project)")
            let files = try #require(servers["data"]?.array?.first { $0["id"] == "files" })
            #expect(files["status"] == "running" && (files["tool_count"]?.int ?? 0) >= 4)
            let tools = try await gateway.json(.get, "/v1/mcp/servers/files/tools?project_id=\(project)")
            let read = try #require(tools["data"]?.array?.first { $0["name"] == "fs.read" })
            #expect(read["effect"] == "reads" && read["input_schema"]?["type"] == "object")
            let none = try await gateway.json(.get, "/v1/mcp/servers/none/tools", status: 404)
            #expect(none.errorCode == "server_not_found")
            _ = try await gateway.json(.get, "/v1/mcp/servers?project_id=none", status: 404)
            _ = try await gateway.json(.get, "/v1/mcp/servers?scope=moon", status: 422)
        }
    }
}

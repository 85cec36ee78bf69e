import Capabilities
import GatewayKit
import GatewayTesting
import HTTPCore
import JSON
import Testing

/// What gateways differ in.
@Suite("Tolerant reading", .timeLimit(.minutes(1)))
struct ToleranceTests {
    @Test(
        "a list is an array, a page, or an object with one array",
        arguments: [
            #"[{"id":"p","name":"n"}]"#, #"{"data":[{"id":"p","name":"n"}]}"#,
            #"{"object":"list","projects":[{"id":"p","name":"n"}],"pagination":{"hasNext":false}}"#,
            #"{"items":[{"id":"p","name":"n"},{"name":"no id"},7],"others":[],"pagination":{"has_next":true,"x":1}}"#,
        ])
    func lists(body: String) async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/projects", with: .init(200, body))
            let list = try #require(try await gateway.projects().value)
            #expect(list.rows.map(\.id) == ["p"])
        }
    }

    @Test("the members of other servers are read in camel case, flat, and with other types")
    func otherCase() async throws {
        try await Lab.run { server, gateway in
            server.reply(
                "/v1/sessions/stats",
                with: .init(
                    200, #"{"activeSessions":2,"totalTokens":10,"totalCost":0.5,"totalMessages":4,"modelsInUse":["m"]}"#
                ))
            let stats = AgentStats(
                activeSessions: 2, messages: 4, tokens: 10, cost: Cost(nanodollars: 500_000_000), models: ["m"])
            let told = try await gateway.stats()
            #expect(told == .value(stats))
            server.reply(
                "/v1/sessions/s",
                with: .init(
                    200,
                    #"{"id":"s","projectId":7,"createdAt":1770000000,"totalTokens":"many","messageCount":-3,"title":null}"#
                ))
            let session = AgentSession(
                id: "s", project: "7", created: Timestamp(microseconds: 1_770_000_000_000_000))
            #expect(try await gateway.session("s") == .value(session))
        }
    }

    @Test(
        "a health has a status or says that it is ok",
        arguments: [
            (200, #"{"ok":true,"active_sessions":3}"#, AgentHealth(isHealthy: true, activeSessions: 3)),
            (200, #"{"status":"healthy"}"#, AgentHealth(isHealthy: true)),
            (503, #"{"status":"unhealthy","error":"no claude"}"#, AgentHealth(isHealthy: false, problem: "no claude")),
        ])
    func health(status: Int, body: String, health: AgentHealth) async throws {
        try await Lab.run { server, gateway in
            server.reply("/health", with: .init(status, body))
            let told = try await gateway.health()
            #expect(told == .value(health))
        }
    }

    @Test("usage has the names of both, and missing values are unknown")
    func usage() async throws {
        try await Lab.run { server, gateway in
            server.reply(
                "/v1/usage",
                with: .init(
                    200,
                    #"{"data":[{"key":"m","answers":2,"prompt_tokens":5,"completion_tokens":7,"total_cost":0.25},{"input_tokens":1e30}]}"#
                ))
            let usage = Usage(inputTokens: 5, outputTokens: 7, cost: Cost(nanodollars: 250_000_000))
            let filter = UsageFilter(provider: "test", model: "m", from: Day("2026-11-01"))
            let sums = try await gateway.usage(by: .model, filter)
            #expect(sums == .value([UsageSum(key: "m", answers: 2, usage: usage), UsageSum()]))
            #expect(server.targets == ["GET /v1/usage?by=model&from=2026-11-01&model=test%2Fm"])
        }
    }

    @Test("a question is read from a frame, and what cannot be answered is none")
    func frames() throws {
        let frame =
            #"{"object":"approval_request","id":"a-1","session_id":"../x","name":"fs.write","expires_in_ms":500}"#
        let question = try #require(AgentApproval(frame: Array(frame.utf8)))
        #expect(question.id == "a-1" && question.session == nil && question.limit == .milliseconds(500))
        #expect(question.call == ToolCall(id: "a-1", name: "fs.write", input: [:], isDone: true))
        for other in [#"{"object":"approval_request","id":"a/b"}"#, #"{"object":"usage","id":"a"}"#, "no json", "[]"] {
            #expect(AgentApproval(frame: Array(other.utf8)) == nil)
        }
    }
}

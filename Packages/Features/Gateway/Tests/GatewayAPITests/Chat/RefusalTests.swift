import GatewayStore
import GatewayTurns
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Refused requests", .timeLimit(.minutes(5))) struct RefusalTests {
    private static let hello: JSON = ["role": "user", "content": "hello"]

    struct Case: Sendable, CustomTestStringConvertible {
        let body: JSON
        let status: Int
        let code: String
        var param: String?
        var testDescription: String { "\(code) \(param ?? "")" }
    }

    @Test(
        "An error has message, type, param, code and status",
        arguments: [
            Case(body: ["messages": []], status: 400, code: "missing_messages", param: "messages"),
            Case(body: ["model": "test/echo"], status: 400, code: "validation_error", param: "messages"),
            Case(
                body: ["model": 5, "messages": [hello]], status: 400, code: "validation_error", param: "model"),
            Case(
                body: ["model": "test/echo", "messages": [hello], "n": 2], status: 400, code: "invalid_value",
                param: "n"),
            Case(
                body: ["model": "test/echo", "messages": [["role": "king", "content": "x"]]], status: 400,
                code: "validation_error", param: "messages.0.role"),
            Case(
                body: ["model": "test/echo", "messages": [["role": "user", "content": 5]]], status: 400,
                code: "invalid_type", param: "messages[0].content"),
            Case(
                body: ["model": "test/none", "messages": [hello]], status: 404, code: "model_not_found",
                param: "model"),
            Case(
                body: ["model": "test/echo", "messages": [hello], "session_id": "nobody"], status: 404,
                code: "session_not_found", param: "session_id"),
            Case(
                body: ["model": "test/echo", "messages": [hello], "project_id": "nobody"], status: 404,
                code: "project_not_found", param: "project_id"),
            Case(
                body: ["model": "test/echo", "messages": [hello], "mcp": ["enabled_tools": "all"]], status: 400,
                code: "validation_error", param: "mcp.enabled_tools"),
        ])
    func refused(one: Case) async throws {
        try await withGateway { gateway in
            for streams in [false, true] {
                var body = one.body.object ?? [:]
                body["stream"] = .bool(streams)
                let answer = try await gateway.json(.post, "/v1/chat/completions", .object(body), status: one.status)
                #expect(answer.errorCode == one.code)
                #expect(answer["error"]?["param"]?.string == one.param)
                #expect(answer["error"]?["status"]?.int == one.status)
                #expect(answer["error"]?["type"]?.string?.hasSuffix("_error") == true)
                #expect(answer["error"]?["message"]?.string?.isEmpty == false)
                #expect(answer["type"] == "error")
            }
        }
    }

    @Test(
        "A value of the wrong type is a bad request as at OpenAI and Anthropic, and is named",
        arguments: ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens"])
    func types(path: String) async throws {
        try await withGateway { gateway in
            let good: JSONObject = ["model": "test/echo", "messages": [Self.hello], "input": "hello", "max_tokens": 5]
            let wrong: JSONObject = ["temperature": "hot", "stream": "yes", "model": 5, "mcp": 7]
            for (name, value) in wrong {
                var body = good
                body[name] = value
                let answer = try await gateway.json(.post, path, .object(body), status: 400)
                #expect(answer["type"] == "error" && answer["error"]?["type"] == "invalid_request_error")
                #expect(answer["error"]?["param"]?.string == name && answer.errorCode == "validation_error")
            }
        }
    }

    @Test("A refusal by a provider has its own status and reveals no secrets", arguments: [false, true])
    func provider(streams: Bool) async throws {
        try await withGateway { gateway in
            for (model, status) in [("test/refused", 502), ("test/busy", 429)] {
                let body = asking("x", model, ["stream": .bool(streams)])
                let answer = try await gateway.json(.post, "/v1/chat/completions", body, status: status)
                #expect(answer["error"]?["status"]?.int == status)
            }
        }
    }

    @Test("The head says not to retry after a refused key or a turn that used tools")
    func notAgain() async throws {
        try await withGateway { gateway in
            func shouldRetry(_ body: JSON, _ status: Int) async throws -> String? {
                let answer = try await gateway.send(.post, "/v1/chat/completions", body)
                #expect(answer.status.code == status, "\(answer.text)")
                return answer.headers["x-should-retry"]
            }
            #expect(try await shouldRetry(asking("x", "test/refused"), 502) == "false")
            #expect(try await shouldRetry(asking("x", "test/refused", ["stream": true]), 502) == "false")
            #expect(try await shouldRetry(asking("x", "test/busy"), 429) == nil)
            let project = try await gateway.makeProject()
            let place: JSONObject = ["project_id": .string(project)]
            #expect(try await shouldRetry(asking("x", "test/quitter", place), 503) == "false")
            #expect(try await shouldRetry(asking("x", "test/busy", place), 429) == nil)
        }
    }

    @Test("A client that used up its daily budget is told when the next day starts", arguments: [false, true])
    func budget(streams: Bool) async throws {
        var settings = TurnSettings()
        settings.dayBudget = BudgetLimit(tokens: 10)
        try await withGateway(settings) { gateway in
            let body = asking("x", "test/echo", ["stream": .bool(streams)])
            #expect(try await gateway.send(.post, "/v1/chat/completions", body).status.code == 200)
            let answer = try await gateway.send(.post, "/v1/chat/completions", body)
            #expect(answer.status.code == 429)
            let seconds = try #require(answer.headers["Retry-After"].flatMap(Int.init))
            #expect((1...86_400).contains(seconds))
            #expect(try JSON(parsing: answer.body).errorCode == "budget_exceeded")
        }
    }

    @Test("A budget that never resets gives no time to retry")
    func budgetForGood() async throws {
        try await withGateway { gateway in
            let project = try await gateway.json(
                .post, "/v1/projects", ["name": "a", "budget": ["project_tokens": 10]])
            let body = asking("x", "test/echo", ["project_id": project["id"] ?? .null])
            #expect(try await gateway.send(.post, "/v1/chat/completions", body).status.code == 200)
            let answer = try await gateway.send(.post, "/v1/chat/completions", body)
            #expect(answer.status.code == 429 && answer.headers["Retry-After"] == nil)
        }
    }

    @Test("An interrupted answer is an error status, or a frame in a stream")
    func broken() async throws {
        try await withGateway { gateway in
            _ = try await gateway.json(.post, "/v1/chat/completions", asking("x", "test/breaks"), status: 502)
            let frames = try await gateway.frames(asking("x", "test/breaks", ["stream": true]))
            #expect(frames.text == "half of ")
            #expect(frames.last?["error"]?["code"] == "status")
        }
    }

    @Test("Only the health route works without the right token")
    func tokens() async throws {
        try await withGateway { gateway in
            let wrong: HTTPHeaders = ["Authorization": "Bearer wrong"]
            for path in ["/v1/models", "/metrics", "/", "/v1/projects"] {
                let answer = try await gateway.json(.get, path, headers: wrong, status: 401)
                #expect(answer.errorCode == "invalid_api_key" && answer["error"]?["type"] == "authentication_error")
            }
            let health = try await gateway.json(.get, "/health", headers: wrong)
            #expect(health["status"] == "healthy" && health["ok"] == true && health["version"] == "1.2.3")
            #expect(health["active_sessions"] == 0 && health["uptime_seconds"]?.int != nil)
            let key: HTTPHeaders = ["Authorization": "", "x-api-key": TestGateway.token]
            #expect(try await gateway.send(.get, "/v1/models", headers: key).status.code == 401)
        }
    }

    @Test("A body that is not JSON, of another type or too deep is refused")
    func bodies() async throws {
        try await withGateway { gateway in
            for (text, type, status, code) in [
                ("{", "application/json", 400, "invalid_json"),
                ("{}", "text/plain", 415, "unsupported_media_type"),
                (String(repeating: "[", count: 100_000), "application/json", 400, "invalid_json"),
            ] {
                var request = try gateway.request(.post, "/v1/chat/completions", nil)
                request.headers["Content-Type"] = type
                request.body = .text(text)
                let answer = try await gateway.client.send(request)
                #expect(answer.status.code == status)
                #expect(try JSON(parsing: answer.body).errorCode == code)
            }
        }
    }
}

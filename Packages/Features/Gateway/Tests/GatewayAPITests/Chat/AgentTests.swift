import Capabilities
import GatewayTurns
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Agent turns", .timeLimit(.minutes(5))) struct AgentTests {
    @Test(
        "A turn without a session creates one, names it in the head, and stores its messages", arguments: [false, true])
    func memory(streams: Bool) async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let first = asking("one", "test/echo", ["project_id": .string(project), "stream": .bool(streams)])
            let answer = try await gateway.send(.post, "/v1/chat/completions", first)
            let session = try #require(answer.headers["X-Session-ID"])
            #expect(answer.headers["X-Project-ID"] == project)
            let second = asking("two", "", ["session_id": .string(session)])
            let reply = try await gateway.json(.post, "/v1/chat/completions", second)
            #expect(reply.reply == "You said: one | two")
            #expect(reply["session_id"]?.string == session && reply["project_id"]?.string == project)
            let status = try await gateway.json(.get, "/v1/chat/completions/\(session)/status")
            #expect(status["message_count"] == 4 && status["is_running"] == false)
            #expect(status["total_tokens"] == 30 && status["total_cost"] == 0.000003)
        }
    }

    @Test("The rich dialect has frames for tools, the plain one only text")
    func dialects() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let body = asking("ls {}", "test/caller", ["project_id": .string(project), "stream": true])
            let rich = try await gateway.frames(body)
            let use = try #require(rich.frames("tool_use").first)
            #expect(use["id"] == "call-1" && use["name"] == "ls" && use["input"] == [:])
            let result = try #require(rich.frames("tool_result").first)
            #expect(result["tool_id"] == "call-1" && result["is_error"] == false && result["name"] == "ls")
            #expect(result["duration_ms"]?.int != nil && result["content"]?.string?.isEmpty == false)
            #expect(rich.frames("usage").first?["total_tokens"] == 30)
            #expect(rich.frames("session").first?["project_id"]?.string == project)
            #expect(rich.finish == "stop" && rich.text == "You said: ls {}")

            let plain = try await gateway.frames(body, headers: ["X-Martlet-Dialect": "plain"])
            #expect(plain.allSatisfy { $0["object"] == "chat.completion.chunk" })
            #expect(plain.finish == "stop" && plain.text == "You said: ls {}")
            #expect(plain.allSatisfy { $0["choices"]?[0]?["delta"]?["tool_calls"] == nil })
        }
    }

    @Test("An answer that is not streamed has its tool calls in a timeline")
    func timeline() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let body = asking("ls {}", "test/caller", ["project_id": .string(project)])
            let reply = try await gateway.json(.post, "/v1/chat/completions", body)
            #expect(reply["timeline"]?.array?.map { $0["object"]?.string } == ["tool_use", "tool_result"])
            #expect(reply.reply == "You said: ls {}")
            #expect(reply["choices"]?[0]?["finish_reason"] == "stop")
        }
    }

    @Test("A header alone makes a request an agent turn, and the client's own tools make any request a completion")
    func wishes() async throws {
        try await withGateway { gateway in
            let rich: HTTPHeaders = ["X-Martlet-Dialect": "rich"]
            let turn = try await gateway.send(.post, "/v1/chat/completions", asking("x"), headers: rich)
            #expect(turn.headers["X-Session-ID"] != nil)
            let tool: JSON = ["type": "function", "function": ["name": "weather"]]
            let body = asking("x", "test/echo", ["tools": [tool], "mcp": [:]])
            let completion = try await gateway.send(.post, "/v1/chat/completions", body, headers: rich)
            #expect(completion.status == .ok && completion.headers["X-Session-ID"] == nil)
            let odd: HTTPHeaders = ["X-Martlet-Dialect": "poor"]
            let answer = try await gateway.json(.post, "/v1/chat/completions", asking("x"), headers: odd, status: 400)
            #expect(answer["error"]?["param"] == "X-Martlet-Dialect")
        }
    }

    @Test("A stopped turn ends its stream without an error, keeps what was said, and leaves the session usable")
    func stop() async throws {
        try await withGateway { gateway in
            let body = asking("go", "test/endless", ["mcp": [:], "stream": true])
            let stream = try await gateway.open("/v1/chat/completions", body)
            let session = try #require(stream.headers["X-Session-ID"])
            var frames: [String] = []
            for try await event in stream.events() {
                frames.append(event.text)
                guard event.text.contains("on and on") else { continue }
                let busy = asking("again", "", ["session_id": .string(session)])
                let refused = try await gateway.json(.post, "/v1/chat/completions", busy, status: 409)
                #expect(refused.errorCode == "session_busy")
                let running = try await gateway.json(.get, "/health")
                #expect(running["active_sessions"] == 1)
                #expect(try await gateway.json(.delete, "/v1/chat/completions/\(session)")["status"] == "stopped")
            }
            #expect(frames.last == "[DONE]")
            #expect(frames.contains { $0.contains("\"finish_reason\":\"stop\"") })
            let messages = try await gateway.json(.get, "/v1/sessions/\(session)/messages")["data"]
            #expect(messages?[1]?["content"] == "on and on" && messages?[1]?["is_whole"] == false)
            #expect(try await gateway.json(.delete, "/v1/chat/completions/\(session)")["status"] == "idle")
            let next = asking("then", "test/echo", ["session_id": .string(session)])
            #expect(try await gateway.json(.post, "/v1/chat/completions", next).reply == "You said: go | then")
        }
    }

    @Test("A turn ends when its client disconnects")
    func vanished() async throws {
        try await withGateway { gateway in
            let body = asking("go", "test/endless", ["mcp": [:], "stream": true])
            let stream = try await gateway.open("/v1/chat/completions", body)
            for try await event in stream.events() where event.text.contains("on and on") { break }
            stream.cancel()
            #expect(await gateway.model.left.next() == "left")
        }
    }

    @Test("The head of a stream is sent after a while even if the model has said nothing")
    func patience() async throws {
        try await withGateway(patience: .zero) { gateway in
            let stream = try await gateway.open(
                "/v1/chat/completions", asking("x", "test/silent", ["mcp": [:], "stream": true]))
            #expect(stream.status == .ok && stream.headers["X-Session-ID"] != nil)
            // The head may come before the model is asked, and a turn whose client leaves then never asks it.
            while gateway.model.requests.isEmpty { await Task.yield() }
            stream.cancel()
            #expect(await gateway.model.left.next() == "left")
        }
    }

    @Test("A turn can continue without its client, and its session cannot be deleted meanwhile")
    func keepsRunning() async throws {
        var settings = TurnSettings()
        settings.keepsRunning = true
        try await withGateway(settings) { gateway in
            let project = try await gateway.makeProject()
            let body = asking("go", "test/endless", ["project_id": .string(project), "stream": true])
            let stream = try await gateway.open("/v1/chat/completions", body)
            let session = try #require(stream.headers["X-Session-ID"])
            for try await event in stream.events() where event.text.contains("on and on") { break }
            stream.cancel()
            let status = try await gateway.json(.get, "/v1/chat/completions/\(session)/status")
            #expect(status["is_running"] == true)
            #expect(try await gateway.json(.delete, "/v1/sessions/\(session)", status: 409).errorCode == "busy")
            #expect(try await gateway.json(.delete, "/v1/projects/\(project)", status: 409).errorCode == "busy")
            #expect(try await gateway.json(.delete, "/v1/chat/completions/\(session)")["status"] == "stopped")
            let messages = try await gateway.json(.get, "/v1/sessions/\(session)/messages")["data"]
            #expect(messages?[1]?["content"] == "on and on")
        }
    }

    @Test("A used-up budget refuses the next turn, whole and streamed")
    func budget() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            _ = try await gateway.json(.patch, "/v1/projects/\(project)", ["budget": ["project_tokens": 10]])
            let body = asking("x", "test/echo", ["project_id": .string(project)])
            _ = try await gateway.json(.post, "/v1/chat/completions", body)
            for streams in [false, true] {
                let body = asking("x", "test/echo", ["project_id": .string(project), "stream": .bool(streams)])
                let refused = try await gateway.json(.post, "/v1/chat/completions", body, status: 429)
                #expect(refused.errorCode == "budget_exceeded")
            }
        }
    }
}

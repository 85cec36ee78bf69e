import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Metrics", .timeLimit(.minutes(5))) struct MetricsTests {
    @Test("Requests, turns, tokens and tool calls are counted")
    func counted() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            _ = try await gateway.json(.get, "/v1/projects/\(project)")
            _ = try await gateway.json(.get, "/v1/projects/none", status: 404)
            _ = try await gateway.send(HTTPMethod(rawValue: "BREW"), "/v1/nowhere/1")
            _ = try await gateway.frames(
                asking("ls {}", "test/caller", ["project_id": .string(project), "stream": true]))
            let page = try await gateway.send(.get, "/metrics")
            #expect(page.headers["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            let lines = page.text.split(separator: "\n").map(String.init)
            for line in [
                #"martlet_http_requests_total{method="GET",route="/v1/projects/{id}",status="200"} 1"#,
                #"martlet_http_requests_total{method="GET",route="/v1/projects/{id}",status="404"} 1"#,
                #"martlet_http_requests_total{method="other",route="",status="404"} 1"#,
                #"martlet_http_request_duration_seconds_count{route="/v1/projects/{id}"} 2"#,
                #"martlet_http_request_duration_seconds_bucket{route="/v1/projects/{id}",le="+Inf"} 2"#,
                #"martlet_turns_total{end="answered"} 1"#, "martlet_turns_running 0",
                #"martlet_tokens_total{direction="input",model="test/caller"} 24"#,
                #"martlet_tokens_total{direction="output",model="test/caller"} 6"#,
                #"martlet_tool_calls_total{result="ok"} 1"#, #"martlet_info{version="1.2.3"} 1"#,
            ] {
                #expect(lines.contains(line), "\(line)")
            }
            for line in lines where !line.hasPrefix("#") {
                let value = line.split(separator: " ").last.map(String.init) ?? ""
                #expect(Double(value) != nil, "\(line)")
            }
        }
    }
}

import FileKit
import Glibc
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("A gateway", .timeLimit(.minutes(5)))
struct GatewayServeTests {
    @Test("A gateway reports its address, and other commands find it until it is stopped")
    func story() async throws {
        try await GatewayHome.with { home in
            #expect(try await home.martlet("gateway", "status").code == 4)
            try await home.serve { gateway in
                #expect(gateway.state["pid"] == .int(Int(gateway.child.processID)))
                #expect(gateway.address.hasPrefix("http://127.0.0.1:"))
                let status = try await home.martlet("gateway", "status", "--json")
                #expect(status.code == 0, "\(status.errors)")
                let health = try status.output.json()
                #expect(health["state"] == "ok")
                #expect(health["address"] == .string(gateway.address))
                #expect(health["sessions"] == 0)
                #expect(health["uptime"] != nil && health["latency"] != nil && health["version"] != nil)
                try await debugs(home)
                let stopped = try await home.martlet("gateway", "stop", "--json")
                #expect(stopped.code == 0, "\(stopped.errors)")
                #expect(try stopped.output.json()["pid"] == gateway.state["pid"])
                #expect(try await gateway.child.exitStatus().code == 143)
                // The last line is the result.
                let line = try await gateway.child.output.nextLine()
                #expect(try JSON(parsing: try #require(line))["type"] == "result")
            }
            try await lists(home)
            #expect(
                try await home.martlet("gateway", "status").output.contains("start it with 'martlet gateway serve'"))
            #expect(try await home.martlet("gateway", "stop").code == 4)
        }
    }

    private func debugs(_ home: GatewayHome) async throws {
        #expect(try await home.martlet("gateway", "token").code == 0)
        let debugged = try await home.martlet("gateway", "debug", "Hello", "--model", "nobody/none", "--json")
        #expect(debugged.code == 0, "\(debugged.errors)")
        let answer = try debugged.output.json()
        #expect(answer["requested_model"] == "nobody/none" && answer["model"] == nil)
        #expect(answer["messages"]?[0]?["text"] == "Hello")
    }

    /// The request that the gateway explained is found among those that were sent and taken, and told without its secret.
    private func lists(_ home: GatewayHome) async throws {
        let listed = try await home.martlet("trace", "requests", "--text", "debug", "--json")
        let rows = try listed.output.json().array ?? []
        #expect(Set(rows.map { $0["direction"] }) == ["in", "out"] && rows.allSatisfy { $0["status"] == 200 })
        #expect(rows.allSatisfy { $0["path"] == "/v1/chat/completions/debug" && $0["method"] == "POST" })
        let sent = try #require(rows.first { $0["direction"] == "out" })
        let (trace, span) = (sent["trace"]?.string ?? "", sent["span"]?.string ?? "")
        let curl = try await home.martlet("trace", "curl", trace, span)
        #expect(curl.output.contains("--request POST") && curl.output.contains("/v1/chat/completions/debug"))
        #expect(curl.output.contains("$TOKEN") && !curl.output.contains("mgw_"))
    }

    @Test("A gateway prints its address and how to get the token in one line")
    func line() async throws {
        try await GatewayHome.with { home in
            var command = Program.martlet.command(
                ["gateway", "serve", "--port", "0"], home: home.path, adding: ["MARTLET_HOME": "\(home.path)/martlet"])
            command.output = .pipe
            try await Launcher.standalone.withChild(command) { child in
                let line = String(decoding: try await child.output.nextLine() ?? [], as: UTF8.self)
                #expect(line.contains("http://127.0.0.1:") && line.contains("'martlet gateway token' prints the token"))
                let token = try await Program.martlet.run(
                    ["gateway", "token"], home: home.path, adding: ["MARTLET_HOME": "\(home.path)/martlet"])
                #expect(token.code == 0, "\(token.errors)")
                let address = line.split(separator: " ").first { $0.hasPrefix("http://") }?.dropLast() ?? ""
                let answer = try await home.get(
                    "\(address)/v1/models", ["Authorization": "Bearer \(token.output.lines.first ?? "")"])
                #expect(answer.status == .ok)
            }
        }
    }

    @Test("A gateway answers only the health route without its token")
    func token() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let open = try await home.get("\(gateway.address)/health", [:])
                #expect(open.status == .ok)
                for headers: HTTPHeaders in [
                    [:], ["Authorization": "Bearer wrong"], ["X-API-Key": "\(GatewayHome.token)x"],
                    ["Authorization": "Basic \(GatewayHome.token)"], ["Authorization": "Bearer"],
                ] {
                    for path in ["/v1/models", "/v1/projects", "/metrics", "/v1/sessions/stats"] {
                        let answer = try await home.get(gateway.address + path, headers)
                        #expect(answer.status == .unauthorized, "\(path) with \(headers)")
                        #expect(!answer.text.contains(GatewayHome.token))
                    }
                }
                #expect(
                    try await home.get("\(gateway.address)/v1/models?api_key=\(GatewayHome.token)", [:]).status
                        == .unauthorized)
                for headers: HTTPHeaders in [
                    ["Authorization": "Bearer \(GatewayHome.token)"], ["X-API-Key": GatewayHome.token],
                    ["Authorization": "bearer  \(GatewayHome.token)"],
                ] {
                    let answer = try await home.get("\(gateway.address)/v1/models", headers)
                    #expect(answer.status == .ok, "\(headers)")
                    #expect(answer.text.contains("martlet-offline"))
                }
            }
        }
    }

    @Test("A gateway refuses unknown web pages and unknown host names")
    func browsers() async throws {
        let settings = "{gateway: {origins: ['https://app.example'], hosts: ['lab.local']}}"
        try await GatewayHome.with(settings) { home in
            try await home.serve { gateway in
                let url = "\(gateway.address)/v1/models"
                let key: HTTPHeaders = ["Authorization": "Bearer \(GatewayHome.token)"]
                func status(_ name: String, _ value: String) async throws -> Int {
                    var headers = key
                    headers[name] = value
                    return try await home.get(url, headers).status.code
                }
                #expect(try await status("Origin", "https://evil.example") == 403)
                #expect(try await status("Origin", "null") == 403)
                #expect(try await status("Host", "evil.example:\(gateway.port)") == 421)
                #expect(try await status("Host", "lab.local") == 200)
                #expect(try await status("Host", "localhost:1") == 200)
                var headers = key
                headers["Origin"] = "https://app.example"
                let allowed = try await home.get(url, headers)
                #expect(allowed.status == .ok)
                #expect(allowed.headers["Access-Control-Allow-Origin"] == "https://app.example")
                #expect(allowed.headers["Access-Control-Expose-Headers"]?.contains("X-Session-ID") == true)
            }
        }
    }

    @Test("A second gateway with the same data folder is refused")
    func second() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let second = try await home.martlet("gateway", "serve", "--port", "0", "--json")
                #expect(second.code == 2)
                #expect(second.errors.contains("gateway.running") && second.errors.contains(gateway.address))
                #expect(try await home.get("\(gateway.address)/health", [:]).status == .ok)
            }
            // A gateway in another home is independent.
            try await GatewayHome.with { other in
                try await home.serve { _ in
                    try await other.serve { gateway in
                        let health = try await other.get("\(gateway.address)/health", [:])
                        #expect(health.status == .ok)
                    }
                }
            }
        }
    }

    @Test("A killed gateway does not block the next one")
    func killed() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                gateway.child.send(.kill)
                let end = try await gateway.child.exitStatus()
                #expect(end == .signalled(SIGKILL))
            }
            let status = try await home.martlet("gateway", "status", "--json")
            #expect(status.code == 4)
            #expect(try status.output.json()["state"] == "down")
            #expect(try await home.martlet("gateway", "stop").code == 4)
            try await home.serve { gateway in
                let status = try await home.martlet("gateway", "status")
                #expect(status.code == 0, "\(status.errors)")
                gateway.child.send(.interrupt)
                #expect(try await gateway.child.exitStatus() == .exited(130))
            }
            #expect(!Files.exists("\(home.path)/martlet/runtime/gateway.json"))
        }
    }

    @Test("A gateway that cannot listen says why and leaves no files", arguments: ["port", "address", "tls"])
    func refused(what: String) async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                try await GatewayHome.with("{gateway: {tls: '\(what == "tls" ? "given" : "none")'}}") { other in
                    let words: [String] =
                        switch what {
                        case "port": ["--port", "\(gateway.port)"]
                        case "address": ["--port", "0", "--address", "localhost"]
                        default: ["--port", "0"]
                        }
                    let run = try await Program.martlet.run(
                        ["gateway", "serve"] + words, home: other.path, adding: other.variables)
                    #expect(run.code == 2, "\(run.errors)")
                    #expect(run.errors.contains(what == "tls" ? "gateway.certificate" : "cannot listen at"))
                    #expect(!Files.exists("\(other.path)/martlet/runtime/gateway.json"))
                }
            }
        }
    }
}

import FileKit
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

/// Attacks by a client with only the scope chat on a running gateway.
@Suite("A client with only the scope chat", .timeLimit(.minutes(5)))
struct HostileClientTests {
    private static let token = "test-token-of-a-chatting-client-0123456789"
    private static let chats: HTTPHeaders = ["Authorization": "Bearer \(token)"]
    private static let path = "/v1/chat/completions"

    private func with(_ body: (GatewayClient) async throws -> Void) async throws {
        try await GatewayClient.with { gateway in
            let made = try await gateway.home.martlet(
                "gateway", "token", "create", "chatter", "--scope", "chat", "--token-env", "CHATTER",
                adding: ["CHATTER": Self.token])
            #expect(made.code == 0, "\(made.errors)")
            try await body(gateway)
        }
    }

    /// The stored projects, sessions and rules, as the owner sees them.
    private func state(_ gateway: GatewayClient) async throws -> JSON {
        [
            "projects": try await gateway.json(.get, "/v1/projects")["data"] ?? .null,
            "sessions": try await gateway.json(.get, "/v1/sessions")["data"] ?? .null,
        ]
    }

    private static let allowed: JSON = [["verdict": "allow", "tool": "*"]]
    /// Members that would widen rights if they were accepted from a request.
    private static let widening: JSONObject = [
        "rules": allowed, "mode": "full", "approvals": ["verdict": "allow"],
        "policy": ["mode": "full", "rules": allowed],
        "sandbox": "none", "client": "owner", "scopes": ["admin"], "allow": true, "approve": true,
    ]

    private func write(_ file: String) -> String {
        "use fs.write with {\"path\": \"\(file)\", \"content\": \"owned\"}"
    }

    // sandbox cases 79 and 80
    @Test("A request cannot allow itself anything, but rules set by others apply to it")
    func members() async throws {
        try await with { gateway in
            let project = try await gateway.makeProject(rules: [])
            let before = try await gateway.json(.get, "/v1/projects")["data"]
            for (index, more) in ([[:], Self.widening] as [JSONObject]).enumerated() {
                for key in ["extra_body", "metadata", "mcp", nil] as [String?] {
                    var body = more
                    // Also in the places for unknown members.
                    if let key { body = [key: .object(more)] }
                    body["project_id"] = .string(project.id)
                    let asked = GatewayClient.saying(write("owned-\(index)"), body)
                    let answer = try await gateway.send(.post, Self.path, asked, headers: Self.chats)
                    #expect(!answer.text.contains("+owned"), "\(key ?? ""): \(answer.text)")
                }
            }
            var session: JSONObject = Self.widening
            session["project_id"] = .string(project.id)
            let made = try await gateway.json(.post, "/v1/sessions", .object(session), headers: Self.chats)
            let id = try #require(made["session_id"]?.string ?? made["id"]?.string)
            let tools = try await gateway.send(
                .post, "/v1/sessions/\(id)/tools", .object(Self.widening), headers: Self.chats)
            #expect(tools.status.code < 500, "\(tools.text)")
            let again = GatewayClient.saying(write("owned-3"), ["session_id": .string(id)])
            _ = try await gateway.send(.post, Self.path, again, headers: Self.chats)
            #expect(try FileTree(project.folder).entries.isEmpty)
            #expect(try await withoutTimes(gateway.json(.get, "/v1/projects")["data"]) == withoutTimes(before))
            // Control: a client with admin rights creates a rule, and the same request succeeds.
            try await gateway.json(.patch, "/v1/projects/\(project.id)", ["rules": Self.allowed])
            let asked = GatewayClient.saying(write("owned-4"), ["project_id": .string(project.id)])
            let done = try await gateway.send(.post, Self.path, asked, headers: Self.chats)
            #expect(done.status == .ok, "\(done.text)")
            #expect(try FileTree(project.folder).entries == ["owned-4": "owned"])
        }
    }

    /// Projects without the values that every use changes.
    private func withoutTimes(_ projects: JSON?) -> [JSON] {
        (projects?.array ?? []).map {
            ["id": $0["id"] ?? .null, "rules": $0["rules"] ?? .null, "path": $0["path"] ?? .null]
        }
    }

    @Test("The client cannot change or read rules, projects, tokens or files, and is told the needed scope")
    func routes() async throws {
        try await with { gateway in
            let project = try await gateway.makeProject(rules: [])
            let own = try await gateway.json(
                .post, "/v1/sessions", ["project_id": .string(project.id), "title": "mine"])
            let session = try #require(own["session_id"]?.string ?? own["id"]?.string)
            let before = try await state(gateway)
            let base = "/v1/projects/\(project.id)"
            let requests: [(HTTPMethod, String, JSON?)] = [
                (.post, "/v1/projects", ["name": "x", "rules": Self.allowed]),
                (.patch, base, ["rules": Self.allowed]), (.delete, base, nil), (.get, "/v1/projects", nil),
                (.put, "\(base)/files/owned", ["a": 1]), (.get, "\(base)/files/owned", nil),
                (.get, "\(base)/search?pattern=a", nil), (.get, "/v1/sessions", nil),
                (.get, "/v1/sessions/\(session)", nil), (.get, "/v1/sessions/\(session)/messages", nil),
                (.get, "/v1/sessions/\(session)/approvals", nil), (.get, "/v1/sessions/\(session)/audit", nil),
                (.post, "/v1/sessions/\(session)/approvals/x", ["allow": true, "scope": "project"]),
                (.get, "/v1/usage", nil), (.get, "/metrics", nil),
            ]
            for (method, path, body) in requests {
                let answer = try await gateway.send(method, path, body, headers: Self.chats)
                #expect(answer.status == .forbidden, "\(method) \(path): \(answer.status) \(answer.text)")
                #expect(answer.text.contains("gateway token create NAME --scope"), "\(answer.text)")
            }
            #expect(try await state(gateway) == before)
            #expect(try FileTree(project.folder).entries.isEmpty)
            // Control: a client with every scope is not refused.
            for (method, path, body) in requests where method == .get || method == .patch {
                let answer = try await gateway.send(method, path, body)
                #expect(answer.status != .forbidden, "\(method) \(path): \(answer.text)")
            }
            #expect(try await state(gateway) != before)
        }
    }

    @Test("The client cannot use a project by path or name, a session of another project, or an invented one")
    func others() async throws {
        try await with { gateway in
            let (one, two) = (try await gateway.makeProject(), try await gateway.makeProject())
            let made = try await gateway.json(.post, "/v1/sessions", ["project_id": .string(one.id)])
            let session = try #require(made["session_id"]?.string ?? made["id"]?.string)
            let before = try await state(gateway)
            let guesses: [JSONObject] = [
                ["project_id": .string(one.folder)], ["project_id": "Sample"], ["project_id": "../"],
                ["project_id": "%"], ["project_id": "' OR 1=1 --"], ["session_id": "%"], ["session_id": "' OR 1=1 --"],
                ["session_id": .string(String(session.dropLast()))], ["session_id": .string("\(session)x")],
                ["session_id": .string(session.uppercased())],
                ["session_id": .string(session), "project_id": .string(two.id)],
            ]
            for guess in guesses {
                let asked = GatewayClient.saying(write("owned"), guess)
                let answer = try await gateway.send(.post, Self.path, asked, headers: Self.chats)
                #expect((400..<500).contains(answer.status.code), "\(guess): \(answer.text)")
                #expect(!answer.text.contains(one.folder) || guess["project_id"]?.string == one.folder)
            }
            #expect(try await state(gateway) == before)
            for project in [one, two] { #expect(try FileTree(project.folder).entries.isEmpty) }
            // Control: the session continues in its own project.
            let asked = GatewayClient.saying(
                write("owned"), ["session_id": .string(session), "project_id": .string(one.id)])
            #expect(try await gateway.send(.post, Self.path, asked, headers: Self.chats).status == .ok)
            #expect(try FileTree(one.folder).entries == ["owned": "owned"])
        }
    }

    // sandbox cases 76 and 77
    @Test("The client cannot approve its own call in any way")
    func question() async throws {
        try await with { gateway in
            let project = try await gateway.makeProject(rules: [])
            let body = GatewayClient.saying(write("owned"), ["project_id": .string(project.id), "stream": true]).text()
            let connection = try gateway.connect()
            defer { connection.close() }
            try await connection.send(
                "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(Self.token)\r\n"
                    + "X-Martlet-Dialect: rich\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
            let text = try await connection.receive(until: "approval_request")
            let session = try #require(text.firstMatch(of: /"session_id":"([^"]+)"/).map { String($0.output.1) })
            let waiting = try await gateway.json(.get, "/v1/sessions/\(session)/approvals")["data"]?.array ?? []
            let id = try #require(waiting.first?["id"]?.string)
            let place = "/v1/sessions/\(session)/approvals/\(id)"
            for answer: JSON in [["allow": true], ["allow": true, "scope": "session"], ["allow": "yes"]] {
                let refused = try await gateway.send(.post, place, answer, headers: Self.chats)
                #expect(refused.status == .forbidden, "\(refused.text)")
            }
            let said = GatewayClient.saying("Yes, allow it", ["session_id": .string(session)])
            #expect(try await gateway.send(.post, Self.path, said, headers: Self.chats).status.code == 409)
            #expect(try FileTree(project.folder).entries.isEmpty)
            // Control: the request is still open, and a client with the scope approve can answer it.
            try await gateway.json(.post, place, ["allow": true])
            #expect(try await connection.receiveAll().contains("data: [DONE]"))
            #expect(try FileTree(project.folder).entries == ["owned": "owned"])
        }
    }
}

@Suite("A gateway's command that calls the gateway", .timeLimit(.minutes(5)))
struct HostileCallbackTests {
    /// The status that a command gets at each of the gateway's addresses, and 000 without a response.
    private func statuses(_ sandbox: String) async throws -> [String] {
        var found: [String] = []
        try await GatewayHome.with("{gateway: {sandbox: '\(sandbox)'}}") { home in
            // Commands may write there, so that the folder is not hidden.
            let folder = "\(home.path)/project"
            try Files.makeDirectories(folder)
            let socket = "\(folder)/own.sock"
            try write(
                "{gateway: {sandbox: '\(sandbox)', folders: ['\(folder)'], socket: '\(socket)'}}",
                to: "\(home.path)/martlet/config/config.json")
            try await home.attack { gateway in
                let project = try await gateway.makeProject(folder)
                let port = gateway.gateway.port
                let status = "curl -s -o /dev/null --max-time 20 -w '%{http_code} '"
                let command = """
                    \(status) http://127.0.0.1:\(port)/health
                    \(status) http://127.0.0.1:\(port)/v1/projects
                    \(status) -H 'Authorization: Bearer '$(cat ../martlet/data/gateway.token 2>/dev/null) http://127.0.0.1:\(port)/v1/projects
                    \(status) --unix-socket own.sock http://localhost/health
                    \(status) --unix-socket \(socket) http://localhost/health
                    """
                let result = try await gateway.use("bash.run", ["command": .string(command)], in: project.id).result
                found = (result["content"]?.string ?? "").lines.first?.split(separator: " ").map(String.init) ?? []
                #expect(found.count == 5, "\(result.text())")
                // Control: outside the sandbox both addresses answer.
                for words in [
                    ["http://127.0.0.1:\(port)/health"], ["--unix-socket", socket, "http://localhost/health"],
                ] {
                    let run = try await Launcher.standalone.run(
                        Command(
                            "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + words,
                            environment: Program.environment(home.path)), timeout: .seconds(30))
                    #expect(String(decoding: run.output, as: UTF8.self) == "200", "\(words)")
                }
            }
        }
        return found
    }

    // sandbox case 77
    @Test("The command cannot reach the gateway's port or socket")
    func isolated() async throws {
        #expect(try await statuses("isolated") == ["000", "000", "000", "000", "000"])
    }

    @Test("A command with network access reaches the port, where it has no token, but not the socket")
    func networked() async throws {
        #expect(try await statuses("folder") == ["200", "401", "401", "000", "000"])
    }
}

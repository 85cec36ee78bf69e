import HTTPClient
import HTTPCore
import JSON
import LoopKit
import ProcessKit
import Testing

/// A client of a running gateway: requests with the token, and raw connections.
struct GatewayClient: Sendable {
    let home: GatewayHome
    let gateway: RunningGateway
    private let client: HTTPClient
    private let loop: EventLoop

    static let offline = "martlet/martlet-offline"
    var process: Int32 { gateway.child.processID }

    /// Runs a gateway in its own home, with a client, while `body` runs.
    static func with(
        _ settings: String = "{}", isolation: isolated (any Actor)? = #isolation,
        _ body: (GatewayClient) async throws -> Void
    ) async throws {
        try await GatewayHome.with(settings) { home in try await home.attack(body) }
    }

    fileprivate init(_ home: GatewayHome, _ gateway: RunningGateway) throws {
        self.home = home
        self.gateway = gateway
        client = HTTPClient(.standalone)
        loop = EventLoop()
        try loop.start()
    }

    fileprivate func close() async {
        await client.close()
        loop.stop()
    }
}

extension GatewayHome {
    /// Runs a gateway with a client while `body` runs. `shell` runs first in its process.
    func attack(
        after shell: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (GatewayClient) async throws -> Void
    ) async throws {
        try await admit()
        var command = serving()
        if let shell {
            command = Command(
                "/bin/sh", ["-c", "\(shell); exec \"$0\" \"$@\"", command.executable] + command.arguments,
                environment: command.environment, workingDirectory: path)
            command.output = .pipe
            command.errors = .pipe
        }
        try await Launcher.standalone.withChild(command) { child in
            let client = try GatewayClient(self, try await RunningGateway(child))
            let result: Result<Void, any Error>
            do { result = .success(try await body(client)) } catch { result = .failure(error) }
            await client.close()
            try result.get()
        }
    }
}

// MARK: Requests

extension GatewayClient {
    func send(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        try await client.send(try request(method, path, body, headers))
    }

    /// The JSON of a response that must have that status.
    @discardableResult
    func json(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, headers: HTTPHeaders = [:], status: Int = 200,
        _ place: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await send(method, path, body, headers: headers)
        #expect(answer.status.code == status, "\(method) \(path): \(answer.text)", sourceLocation: place)
        return try JSON(parsing: answer.body)
    }

    /// Opens the stream of an answer.
    func open(_ body: JSON) async throws -> HTTPExchange {
        try await client.open(try request(.post, "/v1/chat/completions", body, [:])).requireSuccess()
    }

    private func request(
        _ method: HTTPMethod, _ path: String, _ body: JSON?, _ headers: HTTPHeaders
    ) throws -> HTTPRequest {
        var all = headers
        if all["Authorization"] == nil { all["Authorization"] = "Bearer \(GatewayHome.everything)" }
        if body != nil, all["Content-Type"] == nil { all["Content-Type"] = "application/json" }
        var request = HTTPRequest(
            method, try HTTPURL(gateway.address + path), headers: all, body: body.map { .text($0.text()) } ?? .none)
        request.retry = .none
        return request
    }

    /// Sends a message to the offline model.
    static func saying(_ words: String, _ more: JSONObject = [:]) -> JSON {
        var body: JSONObject = [
            "model": .string(offline), "messages": [["role": "user", "content": .string(words)]],
        ]
        for (key, value) in more { body[key] = value }
        return .object(body)
    }

    /// A project in a folder of the home, in which tools need no approval.
    func makeProject(_ path: String? = nil, rules: JSON = [["verdict": "allow"]]) async throws -> (
        id: String, folder: String
    ) {
        var body: JSONObject = ["name": "Sample", "rules": rules]
        body["path"] = path.map(JSON.string)
        let project = try await json(.post, "/v1/projects", .object(body))
        return (try #require(project["id"]?.string), try #require(project["path"]?.string))
    }

    /// Uses a tool of the project once, and returns the call and its result.
    func use(_ tool: String, _ input: JSON, in project: String) async throws -> (call: JSON, result: JSON) {
        let asked = Self.saying("use \(tool) with \(input.text())", ["project_id": .string(project)])
        let reply = try await json(.post, "/v1/chat/completions", asked)
        let timeline = reply["timeline"]?.array ?? []
        let call = try #require(timeline.first { $0["object"] == "tool_use" }, "\(reply.text())")
        return (call, try #require(timeline.first { $0["object"] == "tool_result" }))
    }
}

// MARK: Bytes

extension GatewayClient {
    func connect() throws -> RawConnection { try RawConnection(port: gateway.port, loop: loop) }

    /// Sends bytes and returns everything until the server closes.
    func exchange(_ text: String) async throws -> String { try await exchange(Array(text.utf8)) }

    func exchange(_ bytes: [UInt8]) async throws -> String {
        let connection = try connect()
        defer { connection.close() }
        try await connection.send(bytes)
        return try await connection.receiveAll()
    }

    /// The bytes of a request with the token, after which the connection closes.
    static func raw(
        _ method: String, _ target: String, _ lines: [String] = [], body: String = "", host: String = "localhost"
    ) -> String {
        let all = [
            "\(method) \(target) HTTP/1.1", "Host: \(host)", "Authorization: Bearer \(GatewayHome.everything)",
            "Content-Length: \(body.utf8.count)", "Connection: close",
        ]
        return (all + lines).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

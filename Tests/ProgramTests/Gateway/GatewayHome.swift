import FileKit
import Glibc
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

/// A home folder in which a gateway can run.
struct GatewayHome: Sendable {
    static let token = "test-token-0123456789"
    /// The token of a client with every scope, after a call of `admit`.
    static let everything = "test-token-for-everything-0123456789"

    let path: String
    /// The environment of every command.
    var variables: [String: String]

    static func with(
        _ settings: String = "{}", isolation: isolated (any Actor)? = #isolation,
        _ body: (GatewayHome) async throws -> Void
    ) async throws {
        try await withHome { path in
            try write(settings, to: "\(path)/martlet/config/config.json")
            try await body(
                GatewayHome(
                    path: path, variables: ["MARTLET_HOME": "\(path)/martlet", "MARTLET_GATEWAY_TOKEN": token]))
        }
    }

    func martlet(_ words: String..., adding more: [String: String] = [:]) async throws -> Program.Run {
        try await Program.martlet.run(words, home: path, adding: variables.merging(more) { $1 })
    }

    /// The command that runs a gateway; port 0 stands for any free port.
    func serving(_ words: [String] = [], port: Int = 0) -> Command {
        var command = Program.martlet.command(
            ["gateway", "serve", "--port", "\(port)", "--format", "ndjson"] + words, home: path, adding: variables)
        command.output = .pipe
        command.errors = .pipe
        return command
    }

    /// Runs a gateway while `body` runs.
    func serve(
        _ words: String..., port: Int = 0, isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningGateway) async throws -> Void
    ) async throws {
        try await Launcher.standalone.withChild(serving(words, port: port)) { child in
            try await body(try await RunningGateway(child))
        }
    }

    static let authorization: HTTPHeaders = ["Authorization": "Bearer \(token)"]

    /// Sends a request, by default with the token.
    func get(_ url: String, _ headers: HTTPHeaders = authorization) async throws -> HTTPResponse {
        try await send(HTTPRequest(.get, try HTTPURL(url), headers: headers))
    }

    func post(_ url: String, _ body: JSON) async throws -> HTTPResponse {
        try await send("POST", url, Self.authorization, body)
    }

    func send(
        _ method: String, _ url: String, _ headers: HTTPHeaders, _ body: JSON? = nil
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(HTTPMethod(rawValue: method), try HTTPURL(url), headers: headers)
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(Array(body.text().utf8))
        }
        return try await send(request)
    }

    /// Creates the client with every scope, unless it exists.
    func admit() async throws {
        let made = try await martlet(
            "gateway", "token", "create", "everything", "--scope", "chat", "--scope", "read", "--scope", "approve",
            "--scope", "admin", "--token-env", "EVERYTHING", adding: ["EVERYTHING": Self.everything])
        #expect(made.code == 0 || made.errors.contains("there is already a token 'everything'"), "\(made.errors)")
    }

    func bytes(_ name: String) throws -> String {
        String(decoding: try Files.read("\(path)/\(name)", limit: 1 << 26), as: UTF8.self)
    }

    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let client = HTTPClient(.standalone)
        var request = request
        request.retry = .none
        let answer: Result<HTTPResponse, any Error>
        do { answer = .success(try await client.send(request)) } catch { answer = .failure(error) }
        await client.close()
        return try answer.get()
    }
}

/// A running gateway.
struct RunningGateway: Sendable {
    let child: ChildProcess
    /// The event with its addresses.
    let state: JSON
    /// The first address on which it listens.
    let address: String

    /// Waits until it listens.
    init(_ child: ChildProcess) async throws {
        self.child = child
        guard let line = try await child.output.nextLine() else {
            var words = ""
            while let more = try await child.errors.read() { words += String(decoding: more, as: UTF8.self) }
            throw Conversation.Failure(message: "the gateway did not start: \(words)")
        }
        state = try JSON(parsing: line)
        guard state["type"] == "listening", let first = state["addresses"]?.array?.first?.string else {
            throw Conversation.Failure(message: "the gateway began with \(state.text())")
        }
        address = first
    }

    var port: Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }
}

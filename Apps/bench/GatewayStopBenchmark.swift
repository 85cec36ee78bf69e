import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON

/// A turn that a client stops: from the request to stop it until that is answered and the turn's own stream has ended. In
/// the midst of a shell command of the real program, of one that does not heed SIGTERM, and of a model's words.
enum GatewayStopBenchmark {
    private static let rounds = 200

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let project = try newProject(home: "\(folder)/home", in: folder)
            let (command, stubborn) = try await GatewayServer.martlet(home: "\(folder)/home") { server in
                return (
                    try await stop(server, "run `echo started; sleep 30`", in: project),
                    try await stop(server, "run `trap '' TERM; echo started; sleep 30`", in: project)
                )
            }
            let words = try await GatewayServer.pausing(folder: folder) { try await stop($0, "Go on", in: nil) }
            return figures("in a shell command", command) + figures("in a command that ignores SIGTERM", stubborn)
                + figures("in a model's answer", words)
        }
    }

    private static func figures(_ name: String, _ times: [Double]) -> [Figure] {
        let sorted = times.sorted()
        return [
            Figure("until the turn has ended \(name), p99", sorted[rounds * 99 / 100], "ms", .atMost(200)),
            Figure("until the turn has ended \(name), median", sorted[rounds / 2], "ms"),
        ]
    }

    /// A project whose rules let every command pass, which only the person makes.
    private static func newProject(home: String, in folder: String) throws -> String {
        try Files.makeDirectories("\(folder)/work")
        let told = try Child.output(
            "/usr/bin/env",
            [
                "MARTLET_HOME=\(home)", MartletProgram.path, "gateway", "project", "add", "\(folder)/work", "--allow",
                "bash.run", "--format", "json",
            ])
        guard let id = try JSON(parsing: Array(told.utf8))["id"]?.string else {
            throw BenchmarkError("no project was made: \(told)")
        }
        return id
    }

    /// The times in milliseconds, each of a turn of its own.
    private static func stop(_ server: GatewayServer, _ words: String, in project: String?) async throws -> [Double] {
        var body: JSONObject = ["stream": true, "messages": [["role": "user", "content": .string(words)]]]
        body["project_id"] = project.map(JSON.string)
        let (client, asker) = (HTTPClient(.standalone), HTTPClient(.standalone))
        var times: [Double] = []
        for _ in 0..<rounds {
            var turn = try request(server, .post, "/v1/chat/completions", .object(body))
            turn.headers["X-Martlet-Dialect"] = "rich"
            let exchange = try await client.open(turn).requireSuccess()
            guard let session = exchange.headers["X-Session-ID"] else { throw BenchmarkError("there is no session") }
            var events = exchange.events().makeAsyncIterator()
            try await skip(&events, until: project == nil ? #""word3 ""# : "started\\n")
            let start = ContinuousClock.now
            let path = "/v1/chat/completions/\(session)"
            async let answer = asker.send(try request(server, .delete, path, nil))
            while try await events.next() != nil {}
            let reply = try JSON(parsing: try await answer.body)
            times.append((.now - start) / .milliseconds(1))
            let status = try await asker.send(try request(server, .get, "\(path)/status", nil))
            guard reply["status"] == "stopped", try JSON(parsing: status.body)["is_running"] == false else {
                throw BenchmarkError("the turn was not stopped: \(reply.text())")
            }
        }
        await client.close()
        await asker.close()
        return times
    }

    private static func skip(_ events: inout EventStream.AsyncIterator, until text: String) async throws {
        while let event = try await events.next() {
            if event.text.contains(text) { return }
        }
        throw BenchmarkError("the turn ended before it could be stopped")
    }

    private static func request(
        _ server: GatewayServer, _ method: HTTPMethod, _ path: String, _ body: JSON?
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, try HTTPURL("http://127.0.0.1:\(server.port)\(path)"))
        request.headers["Authorization"] = "Bearer \(GatewayServer.token)"
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(Array(body.text().utf8))
        }
        return request
    }
}

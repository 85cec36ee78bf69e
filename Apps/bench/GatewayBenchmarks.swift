import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON

/// `martlet gateway serve` under wrk against the same routes of FastAPI on uvicorn: the two most requested routes, and
/// a completion whose usage both store in SQLite before they answer.
enum GatewayRequestsBenchmark {
    private static let rounds = 3

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let completions = try GatewayLoad.completions(in: folder)
            return try await GatewayServer.martlet(home: "\(folder)/home") { ours in
                try await GatewayServer.fastAPI(folder: folder) { theirs in
                    let health = try await compare(ours, theirs, ["http://127.0.0.1:PORT/health"])
                    let models = try await compare(ours, theirs, ["http://127.0.0.1:PORT/v1/models"])
                    let completion = try await compare(ours, theirs, completions)
                    return figures("/health", health, .atLeast(6)) + figures("/v1/models", models, .atLeast(6))
                        + figures("completion with its rows", completion, .atLeast(2))
                }
            }
        }
    }

    private static func figures(_ name: String, _ pair: Pair, _ goal: Figure.Goal) -> [Figure] {
        [
            Figure("\(name), requests a second: martlet / FastAPI", pair.ours.rate / pair.theirs.rate, "ratio", goal),
            Figure("\(name), martlet", pair.ours.rate, "requests/s"),
            Figure("\(name), FastAPI", pair.theirs.rate, "requests/s"),
            Figure(
                "\(name), processor time of a request: FastAPI / martlet", pair.theirs.cost / pair.ours.cost, "ratio"),
            Figure("\(name), processor time of a request, martlet", pair.ours.cost * 1e6, "us"),
        ]
    }

    private typealias Pair = (ours: GatewayLoad, theirs: GatewayLoad)

    /// The best of some alternating rounds, because a machine's speed drifts.
    private static func compare(
        _ ours: GatewayServer, _ theirs: GatewayServer, _ request: [String]
    ) async throws -> Pair {
        var best = (ours: GatewayLoad(), theirs: GatewayLoad())
        for _ in 0..<rounds {
            best.ours.improve(try await .under(request, ours))
            best.theirs.improve(try await .under(request, theirs))
        }
        return best
    }
}

/// The cost of 2,000 concurrent streams of 100 frames each in our gateway and in `gateway_fastapi.py`, which has the
/// same pause between frames and commits the same rows at the end of each stream. FastAPI's own server-sent events do
/// the same as ours; hand-written ones without keep-alives are shown for comparison.
enum GatewayStreamsBenchmark {
    private static let count = 2000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let ours = try await GatewayServer.pausing(folder: folder) {
                try await measure($0, "/v1/chat/completions")
            }
            // Each runs in its own process, since the second would find memory left by the first.
            let theirs = try await GatewayServer.fastAPI(folder: folder) {
                try await measure($0, "/v1/streams/framework")
            }
            let bare = try await GatewayServer.fastAPI(folder: folder) { try await measure($0, "/v1/streams/bare") }
            return [
                Figure(
                    "2,000 streams, processor time: martlet / FastAPI", ours.time / theirs.time, "ratio",
                    .atMost(0.2)),
                Figure("memory of a stream: martlet / FastAPI", ours.memory / theirs.memory, "ratio", .atMost(0.2)),
                Figure("processor time: martlet / FastAPI by hand", ours.time / bare.time, "ratio"),
                Figure("memory of a stream: martlet / FastAPI by hand", ours.memory / bare.memory, "ratio"),
            ] + figures("martlet", ours) + figures("FastAPI", theirs) + figures("FastAPI by hand", bare)
        }
    }

    private static func figures(_ name: String, _ cost: Cost) -> [Figure] {
        let frames = Double(count * GatewayServer.frames)
        return [
            Figure("processor time of a frame, \(name)", cost.time / frames * 1e6, "us"),
            Figure("memory of a stream, \(name)", cost.memory, "bytes"),
            Figure("until the last stream has ended, \(name)", cost.wall, "s"),
        ]
    }

    /// Seconds of processor time for all streams, bytes for each, and seconds until all have ended.
    private typealias Cost = (time: Double, memory: Double, wall: Double)

    private static func measure(_ server: GatewayServer, _ path: String) async throws -> Cost {
        // The first streams grow the shared buffers.
        try await read(100, server, path)
        let before = try server.residentBytes()
        let used = try server.processorTime()
        let start = ContinuousClock.now
        // Awaited below, even if the reading fails.
        let watch = Task { try await mostMemory(of: server) }
        let reading: Result<Void, any Error>
        do { reading = .success(try await read(count, server, path)) } catch { reading = .failure(error) }
        let end = ContinuousClock.now
        watch.cancel()
        let memory = Double(try await watch.value - before) / Double(count)
        try reading.get()
        let time = try server.processorTime() - used
        return (time / .seconds(1), memory, (end - start) / .seconds(1))
    }

    /// The server's peak memory until the task is cancelled.
    private static func mostMemory(of server: GatewayServer) async throws -> Int {
        var most = 0
        while !Task.isCancelled {
            most = max(most, try server.residentBytes())
            // Cancelled at the end, which the loop checks.
            do { try await Task.sleep(for: .milliseconds(100)) } catch {}
        }
        return most
    }

    /// Reads streams to their ends, and throws if a frame is missing.
    private static func read(_ count: Int, _ server: GatewayServer, _ path: String) async throws {
        let arguments = [
            Peers.path("gateway_streams.py"), "\(server.port)", path, GatewayServer.token, "\(count)",
            "\(GatewayServer.frames)",
        ]
        let report = try await Peers.output(Peers.python, arguments)
        guard report == "whole\n" else { throw BenchmarkError("streams broke off: \(report)") }
    }
}

/// Stopping a turn: time from the stop request until its response and the end of the turn's stream. It is stopped in
/// the middle of a shell command of the real program, of one that ignores SIGTERM, and of a model's answer.
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

    /// A project whose rules allow every command, which only the user can create.
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

    /// The times in milliseconds, each of a separate turn.
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

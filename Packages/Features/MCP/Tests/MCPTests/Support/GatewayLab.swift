import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
import HTTPServer
import HostTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

@testable import MCP

/// An agent gateway over HTTP, with the routes of its tools and sessions.
final class GatewayLab: Sendable {
    private struct State {
        var requests: [String] = []
        var answers: [String: JSON] = [:]
        var chosen: JSON?
    }

    private let state: Mutex<State>
    private let bound = Mutex("")

    /// The answer of a gateway to a path without a route.
    static let noRoute: JSON = ["detail": "Not Found"]

    private init() {
        state = Mutex(State(answers: Self.answers))
    }

    private static let answers: [String: JSON] = [
        "v1/mcp/servers": [
            "data": [
                [
                    "id": "git", "name": "Git", "status": "running", "enabled": true, "scope": "project",
                    "version": "1.2", "tool_count": 2,
                ], ["id": "time", "name": "time", "status": "running", "enabled": true, "tool_count": 2],
                ["id": "web", "name": "web", "status": "error", "problem": "it ended", "enabled": true],
            ]
        ],
        "v1/mcp/servers/git/tools": [
            "data": [
                ["name": "log", "description": "Shows\nmore", "effect": "reads", "input_schema": ["type": "object"]],
                ["name": "push", "description": "Pushes", "effect": "writes"],
            ]
        ],
        "v1/mcp/servers/time/tools": ["data": [["name": "now"], ["name": "log"]]],
        "v1/mcp/servers/web/tools": ["data": []],
        "v1/sessions/s1": ["id": "s1", "project_id": "p1", "priority": [], "audit_log": false],
        "v1/sessions/s1/tools": [:],
    ]

    var address: String { bound.withLock { $0 } }
    /// The methods and targets of the requests so far.
    var requests: [String] { state.withLock { $0.requests } }
    /// The last choice that was sent.
    var chosen: JSON? { state.withLock { $0.chosen } }

    /// Answers a path in this way from now on, also one with a query; nil as if it had no such route.
    func answer(_ path: String, with json: JSON?) { state.withLock { $0.answers[path] = json } }

    private func answer(_ head: HTTPRequestHead, _ path: String, _ body: JSON?) -> HTTPAnswer {
        state.withLock { state in
            state.requests.append("\(head.method) \(head.target)")
            guard let known = state.answers[String(head.target.dropFirst())] ?? state.answers[path] else {
                return .json(Self.noRoute, status: .notFound)
            }
            if known["error"] != nil { return .json(known, status: .notFound) }
            guard let body else { return .json(known) }
            state.chosen = body
            // It applies what it is told, unless a test makes it do otherwise; and its session shows that.
            var applied = body.object ?? [:]
            for (name, value) in known.object ?? [:] { applied[name] = value }
            var session: JSONObject = ["id": "s1", "project_id": "p1"]
            for (name, value) in applied { session[name] = value }
            state.answers["v1/sessions/s1"] = .object(session)
            return .json(JSON.object(applied))
        }
    }

    /// Runs a gateway for the length of the body.
    @discardableResult
    static func run<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (GatewayLab) async throws -> Value
    ) async throws -> Value {
        let lab = GatewayLab()
        let path = RouteInput<String>.path("path", "The path")
        let get = Route(.get, "/{path...}", "get", "Any path", path) { request, path in
            lab.answer(request.head, path, nil)
        }
        let post = Route(.post, "/{path...}", "post", "Any path", path, .body(JSON.self, "The choice")) {
            request, path, body in lab.answer(request.head, path, body)
        }
        var configuration = ServerConfiguration()
        configuration.limits.drain = .milliseconds(100)
        let server = HTTPServer(try Routes([get, post]), configuration)
        let (started, signal) = AsyncStream.makeStream(of: String.self)
        // Awaited below, once the body has ended.
        let serving = Task {
            defer { signal.finish() }
            try await server.run { signal.yield($0.first?.description ?? "") }
        }
        var iterator = started.makeAsyncIterator()
        let origin = try #require(await iterator.next(isolation: isolation))
        lab.bound.withLock { $0 = origin }
        let result: Swift.Result<Value, any Error>
        do { result = .success(try await body(lab)) } catch { result = .failure(error) }
        serving.cancel()
        try await serving.value
        return try result.get()
    }

    /// Lends a gateway, and a workbench whose model `lab` leads to it.
    static func bench<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (inout TestWorkbench, GatewayLab) async throws -> Value
    ) async throws -> Value {
        try await run { lab in
            try await TestWorkbench.run([MCPFeature.self, GatewayModels.self]) { bench in
                bench.environment[GatewayModels.variable] = "lab=\(lab.address)"
                return try await body(&bench, lab)
            }
        }
    }
}

/// Models of other features, some of which lead to gateways: `NAME=ADDRESS` for each in a variable, and a name alone for
/// one that is set up wrongly.
struct GatewayModels: Feature {
    static let variable = "LAB_GATEWAYS"
    static let manifest = Manifest(
        id: "gateways", summary: "Models of gateways of tests", version: "1",
        provides: [.shared((any ModelProvider).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let client = HTTPClient(.standalone)
        registry.closes { await client.close() }
        registry.provide((any ModelProvider).self, Model(id: "vendor", address: nil, client: client))
        for word in (registry.surroundings.environment[Self.variable] ?? "").split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            registry.provide(
                (any ModelProvider).self,
                Model(id: parts[0], address: parts.count > 1 ? parts[1] : "", client: client))
        }
    }

    private final class Model: ModelProvider {
        let id: String
        private let address: String?
        private let client: HTTPClient

        init(id: String, address: String?, client: HTTPClient) {
            (self.id, self.address, self.client) = (id, address, client)
        }

        var name: String { id }
        var runsTools: Bool { address != nil }

        func isAvailable() async -> Bool { true }
        func models() async throws -> [ModelDescription] { [] }

        func agentServer() async throws -> (any AgentServer)? {
            guard let address else { return nil }
            return try RemoteGateway(ServerID(id), at: HTTPURL(address), client: client)
        }

        func answer(
            _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
        ) async throws -> ChatAnswer {
            throw AgentServerError.notOffered("answers", by: ServerID(id))
        }
    }
}

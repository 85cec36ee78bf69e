import Capabilities
import CoreTesting
import GatewayAPI
import GatewayStore
import GatewayTurns
import Glibc
import HTTPClient
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import OfflinePlanner
import Testing

/// A gateway that serves for the length of a test.
struct TestGateway: Sendable {
    let url: String
    let services: APIServices
    let model: TestModel
    /// The test's own folder, with `projects` in it.
    let folder: String
    let client = HTTPClient(.standalone)

    static let token = "a-token-of-tests"

    // MARK: - Requests

    func send(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        try await client.send(try request(method, path, body, headers))
    }

    func request(
        _ method: HTTPMethod, _ path: String, _ body: JSON?, _ headers: HTTPHeaders = [:]
    ) throws -> HTTPRequest {
        var all = headers
        if all["Authorization"] == nil { all["Authorization"] = "Bearer \(Self.token)" }
        if body != nil { all["Content-Type"] = "application/json" }
        var request = HTTPRequest(
            method, try HTTPURL(url + path), headers: all, body: body.map { .text($0.text()) } ?? .none)
        request.retry = .none
        return request
    }

    /// The JSON of a response that must have that status.
    func json(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, headers: HTTPHeaders = [:], status: Int = 200,
        _ place: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await send(method, path, body, headers: headers)
        #expect(answer.status.code == status, "\(answer.text)", sourceLocation: place)
        return try JSON(parsing: answer.body)
    }

    /// Opens a stream.
    func open(_ path: String, _ body: JSON, headers: HTTPHeaders = [:]) async throws -> HTTPExchange {
        try await client.open(try request(.post, path, body, headers))
    }

    /// All data of a stream, including its end.
    func events(_ path: String, _ body: JSON, headers: HTTPHeaders = [:]) async throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for try await event in try await open(path, body, headers: headers).requireSuccess().events() {
            events.append(event)
        }
        return events
    }

    /// The frames of a chat stream, without `[DONE]`, which must be the last.
    func frames(
        _ body: JSON, headers: HTTPHeaders = [:], _ place: SourceLocation = #_sourceLocation
    ) async throws -> [JSON] {
        let events = try await events("/v1/chat/completions", body, headers: headers)
        #expect(events.last?.text == "[DONE]", sourceLocation: place)
        return try events.dropLast().map { try JSON(parsing: $0.text) }
    }

    /// A project in a fresh folder.
    func makeProject(_ name: String = "Sample", rules: JSON = []) async throws -> String {
        let project = try await json(.post, "/v1/projects", ["name": .string(name), "rules": rules])
        return try #require(project["id"]?.string)
    }
}

/// Serves for the length of `body`.
func withGateway(
    _ settings: TurnSettings = TurnSettings(), _ change: (inout ServerConfiguration) -> Void = { _ in },
    patience: Duration = .seconds(10), audited: Bool = true,
    _ body: @escaping @Sendable (TestGateway) async throws -> Void
) async throws {
    var configuration = ServerConfiguration()
    configuration.limits.drain = .seconds(5)
    configuration.authenticate = { head in
        let given = head.headers["Authorization"] ?? head.headers["x-api-key"].map { "Bearer \($0)" }
        return given == "Bearer \(TestGateway.token)" ? Principal("tester") : nil
    }
    change(&configuration)
    try await TemporaryDirectory.run { [configuration] folder in
        let now: @Sendable () -> Timestamp = Timestamp.now
        let log = RecordingAuditLog(now: now)
        let store = GatewayStore(
            GatewayStore.database(at: "\(folder)/gateway.db"), audit: { audited ? log : nil }, now: now)
        let model = TestModel()
        let turns = Turns(
            store: store, providers: { [model] }, builtIn: PlannerModel(), settings: settings, now: now)
        let folders = ProjectFolders(home: "\(folder)/projects")
        var services = APIServices(store: store, turns: turns, folders: folders, version: "1.2.3", now: now)
        services.patience = patience
        var configuration = configuration
        configuration.adopt(services)
        let server = HTTPServer(try Routes(gatewayRoutes(services)), configuration)
        let (started, signal) = AsyncStream.makeStream(of: String.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { signal.finish() }
                try await server.run { signal.yield($0[0].description) }
            }
            var iterator = started.makeAsyncIterator()
            let url = try #require(await iterator.next())
            let gateway = TestGateway(url: url, services: services, model: model, folder: folder)
            try await body(gateway)
            await turns.close()
            group.cancelAll()
            try await group.waitForAll()
            await gateway.client.close()
        }
        await store.close()
    }
}

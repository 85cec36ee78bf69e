public import HTTPCore
public import HTTPTesting
import JSON
import Synchronization

/// A gateway of the plain dialect for tests, over real HTTP: projects, sessions and models, and nothing else.
///
/// It has the routes, the members and the errors of the public agent gateway: no time has a zone, what is spent is zero,
/// titles are made up, `models/capabilities` is shadowed, and stopping a session ends it.
///
/// ```swift
/// try await PlainGateway.run { gateway in
///     gateway.reply("/v1/projects", with: .init(503, "{}"))              // a fault, until it is taken back
///     …
///     #expect(gateway.requests.map(\.target) == ["/v1/projects?page=1&per_page=100"])
/// }
/// ```
public final class PlainGateway: Sendable {
    /// An answer of the server.
    public struct Reply: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: String

        /// By default it has status 200 and is JSON.
        public init(_ status: Int = 200, _ body: String, headers: HTTPHeaders = ["Content-Type": "application/json"]) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// The answer of the framework to a path without a route.
        public static let noRoute = Reply(404, #"{"detail":"Not Found"}"#)

        /// An error of the API.
        public static func error(_ status: Int, _ code: String, _ message: String) -> Reply {
            let error: JSON = [
                "error": ["message": .string(message), "type": "invalid_request_error", "code": .string(code)]
            ]
            return Reply(status, error.text())
        }

        fileprivate init(_ json: JSON) { self.init(200, json.text()) }
    }

    fileprivate struct State {
        var requests: [RecordedRequest] = []
        var faults: [String: Reply] = [:]
        var projects: [JSONObject] = []
        var sessions: [JSONObject] = []
        var next = 0
    }

    private let state = Mutex(State())
    /// The key that it expects; nil if it expects none.
    private let key: String?
    private let server = Mutex<Int>(0)

    private init(key: String?) {
        self.key = key
    }

    /// Runs a gateway for the length of `body`.
    ///
    /// - Parameter key: the bearer that every request but `/health` must have; nil for none.
    public static func run<Result>(
        key: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (PlainGateway) async throws -> Result
    ) async throws -> Result {
        let gateway = PlainGateway(key: key)
        return try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                let reply = gateway.reply(to: request)
                try connection.answer(reply.status, reply.headers, reply.body)
            }
        } during: { server in
            gateway.server.withLock { $0 = server.port }
            return try await body(gateway)
        }
    }

    /// Its address, without a path.
    public var address: String { "http://127.0.0.1:\(server.withLock { $0 })" }

    /// The requests so far.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Answers every request to this path, without its query, with the same reply; nil takes that back.
    public func reply(_ path: String, with reply: Reply?) {
        state.withLock { $0.faults[path] = reply }
    }

    private func reply(to request: RecordedRequest) -> Reply {
        state.withLock { state in
            state.requests.append(request)
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            let path = parts.first ?? "/"
            if let fault = state.faults[path] { return fault }
            if let key, path != "/health", request.headers["Authorization"] != "Bearer \(key)" {
                return .error(401, "invalid_api_key", "Invalid API key")
            }
            var query: [String: String] = [:]
            for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
                let words = pair.split(separator: "=", maxSplits: 1).map(String.init)
                query[words[0]] = words.count > 1 ? words[1] : ""
            }
            let words = path.split(separator: "/").map(String.init)
            return state.reply(request.method, words, query, request.body) ?? .noRoute
        }
    }
}

extension PlainGateway.State {
    typealias Reply = PlainGateway.Reply

    /// Nil for a path without a route.
    fileprivate mutating func reply(
        _ method: String, _ path: [String], _ query: [String: String], _ body: [UInt8]
    ) -> Reply? {
        if path == ["health"] {
            return Reply([
                "status": "healthy", "version": "1.0.0", "claude_version": "2.1.0",
                "active_sessions": .int(sessions.count),
            ])
        }
        guard path.first == "v1" else { return nil }
        // What is not JSON has none of the members that are needed, which is the error.
        let sent = (try? JSON(parsing: body).object) ?? [:]
        switch (method, path.count > 1 ? path[1] : "") {
        case ("GET", "models"): return models(Array(path.dropFirst(2)))
        case (_, "projects"): return answer(method, path, query, sent, to: "project")
        case ("GET", "sessions") where path == ["v1", "sessions", "stats"]: return stats
        case (_, "sessions"): return answer(method, path, query, sent, to: "session")
        case (_, "chat") where path.count >= 4: return turn(method, path)
        default: return nil
        }
    }

    private func models(_ path: [String]) -> Reply? {
        let models = ["claude-sonnet-4-5", "claude-opus-4-6"].map { id -> JSON in
            ["id": .string(id), "object": "model", "created": 1_770_000_000, "owned_by": "anthropic"]
        }
        guard let id = path.first else { return Reply(["object": "list", "data": .array(models)]) }
        guard path.count == 1 else { return nil }
        return models.first { $0["id"]?.string == id }.map { Reply($0) }
            ?? .error(404, "model_not_found", "Model \(id) not found")
    }

    private var stats: Reply {
        let ids = sessions.compactMap { $0["id"] }
        return Reply([
            "session_stats": [
                "active_sessions": .int(ids.count), "total_tokens": 0, "total_cost": 0.0, "total_messages": 0,
                "models_in_use": [],
            ],
            "active_claude_sessions": .int(ids.count), "claude_sessions": .array(ids),
        ])
    }

    private mutating func answer(
        _ method: String, _ path: [String], _ query: [String: String], _ sent: JSONObject, to kind: String
    ) -> Reply? {
        let isProject = kind == "project"
        let all = isProject ? projects : sessions
        switch (method, path.count) {
        case ("GET", 2):
            let wanted = query["project_id"]
            return page(all.filter { wanted == nil || $0["project_id"]?.string == wanted }, query)
        case ("POST", 2): return isProject ? createProject(sent) : createSession(sent)
        case ("GET", 3):
            return all.first { $0["id"]?.string == path[2] }.map { Reply(.object($0)) } ?? missing(kind, path[2])
        case ("DELETE", 3):
            guard all.contains(where: { $0["id"]?.string == path[2] }) else { return missing(kind, path[2]) }
            if isProject { projects.removeAll { $0["id"]?.string == path[2] } }
            sessions.removeAll { $0["id"]?.string == path[2] || (isProject && $0["project_id"]?.string == path[2]) }
            return Reply(.object(["status": "deleted", "\(kind)_id": .string(path[2])]))
        default: return nil
        }
    }

    private func missing(_ kind: String, _ id: String) -> Reply {
        .error(404, "\(kind)_not_found", "\(kind.capitalizedWord) \(id) not found")
    }

    private func page(_ rows: [JSONObject], _ query: [String: String]) -> Reply {
        let (number, size) = (query["page"].flatMap { Int($0) } ?? 1, query["per_page"].flatMap { Int($0) } ?? 20)
        // So it is with the real one.
        guard number >= 1, 1...100 ~= size else { return .error(500, "internal_error", "Internal server error") }
        let pages = (rows.count + size - 1) / size
        let shown = rows.dropFirst((number - 1) * size).prefix(size).map(JSON.object)
        return Reply([
            "data": .array(shown),
            "pagination": [
                "page": .int(number), "per_page": .int(size), "total_items": .int(rows.count),
                "total_pages": .int(pages), "has_next": .bool(number < pages), "has_prev": .bool(number > 1),
            ],
        ])
    }

    private mutating func makeID() -> String {
        next += 1
        let digits = String(next, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private mutating func createProject(_ sent: JSONObject) -> Reply {
        guard let name = sent["name"], name.string != nil else {
            return Reply(422, #"{"error":{"message":"Validation error","type":"invalid_request_error","details":[]}}"#)
        }
        let path = sent["path"]?.string
        if let path, path.contains("..") { return Reply(400, #"{"detail":"Invalid path: it is outside the root"}"#) }
        let id = makeID()
        let project: JSONObject = [
            "id": .string(id), "name": name, "description": sent["description"] ?? .null,
            "path": .string(path ?? "/srv/projects/\(id)"), "created_at": "2026-02-01T10:00:00.123456",
            "updated_at": "2026-02-01T10:00:00.123456", "is_active": true,
        ]
        projects.append(project)
        return Reply(.object(project))
    }

    private mutating func createSession(_ sent: JSONObject) -> Reply {
        guard let project = sent["project_id"]?.string else {
            return Reply(422, #"{"error":{"message":"Validation error","type":"invalid_request_error","details":[]}}"#)
        }
        guard projects.contains(where: { $0["id"]?.string == project }) else { return missing("project", project) }
        let id = makeID()
        let session: JSONObject = [
            "id": .string(id), "project_id": .string(project), "title": .string("Session \(id.prefix(8))"),
            "model": sent["model"] ?? "claude-sonnet-4-5", "system_prompt": sent["system_prompt"] ?? .null,
            "created_at": "2026-02-01T10:00:00.5", "updated_at": "2026-02-01T10:00:00.5", "is_active": true,
            "total_tokens": 0, "total_cost": 0.0, "message_count": 0,
        ]
        sessions.append(session)
        return Reply(.object(session))
    }

    private mutating func turn(_ method: String, _ path: [String]) -> Reply? {
        guard path[2] == "completions" else { return nil }
        let session = sessions.first { $0["id"]?.string == path[3] }
        switch (method, path.count) {
        case ("GET", 5) where path[4] == "status":
            guard let session else { return missing("session", path[3]) }
            return Reply([
                "session_id": .string(path[3]), "project_id": session["project_id"] ?? .null,
                "model": session["model"] ?? .null, "is_running": false, "created_at": "2026-02-01T10:00:00.5",
                "updated_at": "2026-02-01T10:00:00.5", "total_tokens": 0, "total_cost": 0.0, "message_count": 0,
            ])
        case ("DELETE", 4):
            // An unknown session is no error, and the session is over.
            sessions.removeAll { $0["id"]?.string == path[3] }
            return Reply(["session_id": .string(path[3]), "status": "stopped"])
        default: return nil
        }
    }
}

extension String {
    fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}

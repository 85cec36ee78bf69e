public import Capabilities
import HTTPCore
public import HTTPServer

/// All routes of a gateway, including `/openapi.json`, which is made from the same declarations.
///
/// ```swift
/// var configuration = ServerConfiguration()
/// configuration.adopt(services)                       // error bodies, statuses, metrics
/// try await HTTPServer(Routes(gatewayRoutes(services)), configuration).run()
/// ```
public func gatewayRoutes(_ services: APIServices) throws -> [Route] {
    let groups: [[Route]] = [
        HealthRoutes(services: services).all, ModelRoutes(services: services).all,
        EmbeddingRoutes(services: services).all,
        ProjectRoutes(services: services).all, SessionRoutes(services: services).all,
        ToolRoutes(services: services).all, ChatRoutes(services: services).all,
        ApprovalRoutes(services: services).all, AccountingRoutes(services: services).all,
        FileRoutes(services: services).all, MetricsRoute(services: services).all,
    ]
    // Every route refuses unknown origins, unknown host names and too many requests, and can find the disk full.
    let routes = groups.joined().map {
        $0.refusing(.forbidden, HTTPStatus(421), .serviceUnavailable, .insufficientStorage).needing(
            RouteScopes.of($0.id))
    }
    return routes + [try documentRoute(routes, version: services.version)]
}

/// The scopes that allow a route, and the same thing in this process.
enum RouteScopes {
    /// Those of a route by its id. A route that is not listed needs `admin`.
    static func of(_ id: String) -> Set<ClientScope> {
        switch id {
        case "createCompletion", "createResponse", "createMessage", "countTokens", "createEmbeddings",
            "debugCompletion",
            "createSession", "deleteSession", "setTools":
            [.chat]
        // For the client that started the turn, and for those who approve its calls.
        case "stopTurn": [.chat, .approve]
        // These reveal nothing about other clients.
        case "listModels", "getModel", "getModelBySlashedName", "listCapabilities", "getStatus", "root",
            "openAPI":
            [.chat, .read]
        case "listProjects", "getProject", "listSessions", "getSession", "listMessages", "getStats", "getUsage",
            "listAudit",
            "listApprovals", "listToolServers", "listServerTools", "listFiles", "searchFiles", "readFile", "metrics":
            [.read]
        // Writing a file is something that a model would need approval for.
        case "answerApproval", "writeFile": [.approve]
        default: [.admin]
        }
    }
}

private func documentRoute(_ routes: [Route], version: String) throws -> Route {
    let description = APIDescription(
        title: "Martlet gateway", version: version,
        details: """
            An agent server that works with unchanged clients of OpenAI's and Anthropic's APIs. A request with \
            `project_id`, `session_id` or `mcp` is an agent turn: tools run here, in the project's folder, and the \
            session is stored.
            """,
        security: [.bearer, .key(header: "x-api-key")])
    let document = try Routes(routes).openAPI(description, problem: ErrorBody.schema)
    return Route(.get, "/openapi.json", "openAPI", "Get the API as an OpenAPI document") { _ in
        HTTPAnswer.json(document)
    }.hidden().needing([.chat, .read])
}

extension ServerConfiguration {
    /// Sets up a server for a gateway: error bodies, statuses, and metrics.
    ///
    /// - Parameter sinks: receive the spans of the requests, which are counted in any case.
    public mutating func adopt(_ services: APIServices, tracingTo sinks: [any SpanSink] = []) {
        envelope = { ErrorBody(report: $0).json }
        status = { FailureStatus.known($0) }
        // The header names that OpenAI's and Anthropic's clients read.
        requestIDHeaders = ["X-Request-ID", "request-id"]
        tracer = Tracer(sinks: [services.requests] + sinks, now: services.now)
    }
}

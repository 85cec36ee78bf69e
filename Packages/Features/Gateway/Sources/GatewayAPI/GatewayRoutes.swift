import Capabilities
import HTTPCore
public import HTTPServer

/// Everything that a gateway answers, with `/openapi.json`, which is made from the same declarations.
///
/// ```swift
/// var configuration = ServerConfiguration()
/// configuration.adopt(services)                       // the shape of errors, statuses, metrics
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
    // Foreign web pages, foreign names and too many requests are refused everywhere, and any disk can be full.
    let routes = groups.joined().map {
        $0.refusing(.forbidden, HTTPStatus(421), .serviceUnavailable, .insufficientStorage).needing(scopes(of: $0))
    }
    return routes + [try documentRoute(routes, version: services.version)]
}

/// Who may use a route: the one place where that is said. One that is not listed needs the most.
private func scopes(of route: Route) -> Set<ClientScope> {
    switch route.id {
    case "createCompletion", "createResponse", "createMessage", "countTokens", "createEmbeddings", "debugCompletion",
        "createSession", "deleteSession", "setTools":
        [.chat]
    // Whoever began it, or would have to allow what it does.
    case "stopTurn": [.chat, .approve]
    // What is told of them says nothing of others.
    case "listModels", "getModel", "getModelBySlashedName", "listCapabilities", "getStatus", "root",
        "openAPI":
        [.chat, .read]
    case "listProjects", "getProject", "listSessions", "getSession", "listMessages", "getStats", "getUsage",
        "listAudit",
        "listApprovals", "listToolServers", "listServerTools", "listFiles", "searchFiles", "readFile", "metrics":
        [.read]
    // Whoever writes a file does what a model would have to ask for.
    case "answerApproval", "writeFile": [.approve]
    default: [.admin]
    }
}

private func documentRoute(_ routes: [Route], version: String) throws -> Route {
    let description = APIDescription(
        title: "Martlet gateway", version: version,
        details: """
            An agent server that clients of OpenAI's and Anthropic's APIs can use unchanged. A request with `project_id`, \
            `session_id` or `mcp` is an agent turn: tools run here, in the project's folder, and the session remembers.
            """,
        security: [.bearer, .key(header: "x-api-key")])
    let document = try Routes(routes).openAPI(description, problem: ErrorBody.schema)
    return Route(.get, "/openapi.json", "openAPI", "What this server answers, as an OpenAPI document") { _ in
        HTTPAnswer.json(document)
    }.hidden().needing([.chat, .read])
}

extension ServerConfiguration {
    /// Makes a server speak as its gateway does: the shape of errors, their statuses, and who counts the requests.
    public mutating func adopt(_ services: APIServices) {
        envelope = { ErrorBody(report: $0).json }
        status = { FailureStatus.known($0) }
        // The names under which OpenAI's clients and Anthropic's look for it.
        requestIDHeaders = ["X-Request-ID", "request-id"]
        spans.append(services.metrics)
    }
}

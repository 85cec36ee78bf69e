import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    /// The lists of tools, and the tools themselves.
    var tools: [Route] { [discover, extensions] + [HTTPMethod.get, .post, .delete].map(runtime) }

    private var discover: Route {
        api(.get, "/tool/discover", "discoverTools", "Discover tool servers") { request in
            _ = try board.platform.accountName(request.headers)
            guard setup.toolList == .discover else { throw Platform.refusal(.notFound, "Not Found") }
            let servers = board.platform.tools.map { tool -> JSON in
                [
                    "deployment_id": .string(tool.id), "name": .string(tool.name),
                    "url": .string(address(of: tool, request)), "status": .string(tool.status), "capabilities": .null,
                    "created_at": "2026-11-02T08:00:00.123456",
                ]
            }
            return .json(["servers": .array(servers), "total": .int(servers.count)] as JSON)
        }
    }

    private var extensions: Route {
        api(.get, "/extensions", "listExtensions", "List extensions") { request in
            _ = try board.platform.accountName(request.headers)
            guard setup.toolList == .extensions else { throw Platform.refusal(.notFound, "Not Found") }
            let app: JSON = [
                "name": "dashboard", "type": "app", "version": "1.0.0", "phase": "Running",
                "endpoints": ["external": .string("\(request.origin)/runtime/apps/dashboard")],
            ]
            let tools = board.platform.tools.map { tool -> JSON in
                [
                    "name": .string(tool.name), "type": "tool", "version": "1.0.0",
                    "phase": tool.status == "DEPLOYED" ? "Running" : "Provisioning", "services": [],
                    "endpoints": ["external": .string(address(of: tool, request)), "internal": .null], "ready": .null,
                ]
            }
            return .json(JSON.array([app] + tools))
        }
    }

    private func address(of tool: KamiwazaSetup.Tool, _ request: ServerRequest) -> String {
        tool.url ?? "\(request.origin)/runtime/tools/\(tool.id)"
    }

    /// What is sent on to a tool, besides the body.
    private static let forwarded = [
        "Accept", "Content-Type", "MCP-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name",
    ]

    /// A tool, behind the check of the credential. Answers are sent on as a whole, so that a tool cannot ask back.
    private func runtime(_ method: HTTPMethod) -> Route {
        place(
            method, "/runtime/tools/{tool}/{path...}", "tool\(method)", "A tool server",
            .path("tool", "The id of its deployment", as: String.self), .path("path", "The path", as: String.self),
            .upload("The message")
        ) { request, id, path, body in
            _ = try board.platform.accountName(request.headers)
            let backend = board.platform.tools.first { $0.id == id }?.backend
            // A stream for what belongs to no request is optional.
            guard let backend, method != .get else {
                throw Platform.refusal(backend == nil ? .notFound : .methodNotAllowed, "no tool answers this")
            }
            var forwarded = HTTPRequest(method, try HTTPURL("\(backend)/\(path)"))
            for name in Self.forwarded { forwarded.headers[name] = request.headers[name] }
            forwarded.body = .bytes(try await body.bytes())
            let client = HTTPClient(.standalone)
            let result: Result<HTTPResponse, any Error>
            do { result = .success(try await client.send(forwarded)) } catch { result = .failure(error) }
            await client.close()
            let response = try result.get()
            let type = response.headers["Content-Type"] ?? "application/octet-stream"
            let answer = HTTPAnswer.bytes(response.body, type: type, status: response.status)
            return response.headers["MCP-Session-Id"].map { answer.header("MCP-Session-Id", $0) } ?? answer
        }
    }
}

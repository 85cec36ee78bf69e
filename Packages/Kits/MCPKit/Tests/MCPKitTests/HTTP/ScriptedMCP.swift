import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import RPCKit

@testable import MCPKit

/// A server that answers each request as a test wants, over HTTP on the loopback.
enum ScriptedMCP {
    /// Answers one request, and may do more with its connection.
    typealias Script = @Sendable (MCPRequest, ScriptedConnection) throws -> Void

    static func run<Value>(
        limits: MCPHTTPLimits = MCPHTTPLimits(), _ script: @escaping Script,
        during body: (MCPServerAddress, ScriptedServer) async throws -> Value
    ) async throws -> Value {
        try await ScriptedServer.run { connection in
            while true { try script(MCPRequest(try connection.receiveRequest()), connection) }
        } during: { server in
            let url = try HTTPURL("http://127.0.0.1:\(server.port)/mcp")
            return try await body(MCPServerAddress(url, limits: limits), server)
        }
    }

    /// A server of the modern era, which leaves requests but `server/discover` to the test.
    static func modern(_ script: @escaping Script) -> Script {
        { request, connection in
            guard request.method == "server/discover" else { return try script(request, connection) }
            try connection.answer(
                request,
                #"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}"#)
        }
    }

    /// A server of the legacy era with a session, which leaves requests but the handshake to the test.
    static func legacy(session: String = "s-1", capabilities: String = #"{"tools":{}}"#, _ script: @escaping Script)
        -> Script
    {
        { request, connection in
            switch request.method {
            case "server/discover": try connection.answer(400, [:], "no session")
            case "initialize":
                try connection.answer(
                    request,
                    #"{"protocolVersion":"2025-11-25","capabilities":\#(capabilities),"serverInfo":{"name":"s","version":"1"}}"#,
                    headers: ["Mcp-Session-Id": session])
            case "notifications/initialized", "notifications/cancelled": try connection.answer(202)
            case "DELETE": try connection.answer(200)
            case "GET": try connection.answer(405)
            default: try script(request, connection)
            }
        }
    }
}

/// A request as a server sees it.
struct MCPRequest {
    let http: RecordedRequest
    let json: JSON

    init(_ http: RecordedRequest) throws {
        self.http = http
        json = http.body.isEmpty ? .null : try JSON(parsing: http.body, reading: .stream)
    }

    /// The method of its message, or of HTTP if it has none.
    var method: String { json["method"]?.string ?? (json.isNull ? http.method : "") }
    var arguments: JSON? { json["params"]?["arguments"] }

    func response(_ result: String) -> String { #"{"jsonrpc":"2.0","id":\#(json["id"] ?? .null),"result":\#(result)}"# }
    func refusal(_ code: Int, _ message: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(json["id"] ?? .null),"error":{"code":\#(code),"message":"\#(message)"}}"#
    }
}

extension RecordedRequest {
    /// Its body.
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension ScriptedConnection {
    /// Answers with a result, as JSON.
    func answer(_ request: MCPRequest, _ result: String, headers: HTTPHeaders = [:]) throws {
        var headers = headers
        headers["Content-Type"] = "application/json"
        try answer(200, headers, request.response(result))
    }

    /// Answers with the result of a tool.
    func answerCall(_ request: MCPRequest, _ text: String) throws { try answer(request, Self.result(text)) }

    /// Answers with an error, as JSON.
    func refuse(_ request: MCPRequest, _ status: Int, _ code: Int, _ message: String = "no") throws {
        try answer(status, ["Content-Type": "application/json"], request.refusal(code, message))
    }

    static func result(_ text: String) -> String { #"{"content":[{"type":"text","text":"\#(text)"}]}"# }
}

extension MCPServerAddress {
    /// A client of the server for as long as `body` runs.
    func with<Value: Sendable>(
        handler: any MCPClientHandler = NobodyHandler(), limits: MCPClient.Limits = MCPClient.Limits(),
        knowing version: MCPVersion? = nil, signIn: (any ResourceSignIn)? = nil,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        let client = client(
            of: "peer", by: Peers.http, as: Peers.identity, handler: handler, limits: limits, knowing: version,
            signIn: signIn)
        return try await client.whileRunning { try await body(client) }
    }
}

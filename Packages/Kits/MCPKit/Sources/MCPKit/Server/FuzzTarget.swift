import Capabilities
import HTTPCore
import HTTPServer
import JSON
import RPCKit
import Synchronization

/// Feeds any bytes to a server, as a stream of lines and as bodies of HTTP requests. Nothing may crash, and every request
/// ends.
@_spi(Fuzzing) public enum MCPServerFuzzTarget {
    public static func read(_ bytes: [UInt8]) async {
        let server = MCPServer(EchoService())
        let transport = FuzzTransport(bytes)
        do { try await server.serve(over: transport) } catch {
            // Why it ended does not matter, as long as it does.
        }
        precondition(server.suspended.count == 0 && server.tasks.count == 0, "a call is left over")
        for line in bytes.split(separator: UInt8(ascii: "\n")) { await readBody(Array(line), server) }
    }

    /// What HTTP adds to a message.
    private static func readBody(_ bytes: [UInt8], _ server: MCPServer) async {
        let owner = TaskOwner()
        for case .message(.request(let request)) in RPCBody(bytes).parts {
            let headers: HTTPHeaders = [
                "MCP-Protocol-Version": MCPVersion.newest.rawValue, "Mcp-Method": request.method,
                "Mcp-Name": request.params?["name"]?.string ?? "", "Accept": request.method,
            ]
            _ = HTTPChecks.accepts(["text/event-stream"], headers)
            do {
                let envelope = try ModernEnvelope(request.params)
                if let arguments = request.params?["arguments"] {
                    try HTTPChecks.check(arguments, by: request.params ?? nil, headers)
                }
                try HTTPChecks.check(request, envelope, headers)
                let peer = try envelope.peer(nil)
                _ = try await server.subscription(request, peer, owner)
                _ = try await server.answer(request, peer, level: envelope.level, owner: owner) { _, _ in }
            } catch {
                _ = MCPServer.error(error, .newest)
            }
        }
        server.suspended.drop(of: owner)
        server.tasks.drop(of: owner)
        await owner.end()
    }

    /// Passes the bytes on as lines, and ends when every request that can end has ended.
    private final class FuzzTransport: RPCTransport {
        private let bytes: [UInt8]
        private let waiting = Mutex(Set<RPCID>())
        private let news = Signal()

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                for part in RPCBody(Array(line)).parts {
                    switch part {
                    case .malformed(let malformed): receive(.malformed(malformed))
                    case .message(let message):
                        if case .request(let request) = message, request.method != "subscriptions/listen" {
                            waiting.withLock { _ = $0.insert(request.id) }
                        }
                        if case .notification(let notice) = message, notice.method == "notifications/cancelled",
                            let id = notice.params?["requestId"].flatMap(RPCID.init)
                        {
                            // It need not be answered any more.
                            waiting.withLock { _ = $0.remove(id) }
                        }
                        receive(.message(message))
                    }
                }
            }
            while true {
                let seen = news.count
                if waiting.withLock({ $0.isEmpty }) { return }
                try await news.wait(beyond: seen)
            }
        }

        func send(_ message: RPCMessage) throws(RPCFailure) {
            guard case .response(let response) = message, let id = response.id else { return }
            waiting.withLock { _ = $0.remove(id) }
            news.raise()
        }

        func close() {}
    }

    /// Answers everything with what it was asked.
    private struct EchoService: MCPService {
        let identity = MCPIdentity(name: "echo", version: "1")
        let changes = MCPChanges()

        func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
            var offered = MCPServerCapabilities()
            offered.tools = MCPServerCapabilities.Listing(tellsChanges: true)
            (offered.prompts, offered.resources) = (offered.tools, offered.tools)
            (offered.subscribesResources, offered.logging, offered.completions) = (true, true, true)
            offered.tasks = true
            return offered
        }

        func tools(for peer: MCPPeer) async throws -> [MCPTool] { [MCPTool(name: "echo", tasks: .optional)] }

        func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
            context.progress(arguments["progress"]?.double ?? 1)
            context.log(.error, .object(arguments))
            if tool == "throw" { throw MCPUnknown.tool(tool) }
            return MCPResult([.text(tool)], structured: .object(arguments))
        }

        func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource] {
            [ToolResource(address: address, mediaType: nil, content: .text(address))]
        }

        func prompt(
            _ name: String, _ arguments: [String: String], in context: MCPCallContext
        ) async throws -> MCPFilledPrompt {
            MCPFilledPrompt(messages: [MCPMessage(.user, [.text(name)])])
        }

        func complete(
            _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
        ) async throws -> MCPCompletions {
            MCPCompletions([value])
        }
    }
}

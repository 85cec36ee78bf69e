import Capabilities
public import HTTPServer
import JSON
public import LoopKit
public import RPCKit

/// Serves a service to MCP clients of both eras.
///
///     let server = MCPServer(service)
///     try await server.serveStandardStreams(on: loop)          // until the input ends
///     try await MCPHTTPServer(server).run(authenticate: tokens.principal)
///
/// One client may speak both eras on one connection. A call that asks its client something in the modern era stays
/// suspended until the client repeats the request with the answers; nothing runs twice.
public final class MCPServer: Sendable {
    /// How much clients may use.
    public struct Limits: Sendable, Hashable {
        /// The entries of a page of a list.
        public var page = 1_000
        /// The requests of one connection that are answered at once.
        public var requests = 100
        /// The calls that wait for answers of their clients between two requests.
        public var suspended = 100
        /// How long a client may take to answer a question.
        public var patience = Duration.seconds(300)
        /// The resources that a client may watch.
        public var watched = 1_000
        /// The largest message, and how much may wait for a client that does not read.
        public var stream = StreamTransport.Limits()
        /// The calls that run as tasks, and their results.
        public var tasks = MCPTaskLimits()

        /// The program uses the defaults.
        public init() {}
    }

    /// What is served.
    public let service: any MCPService
    let limits: Limits
    let suspended: SuspendedCalls
    let tasks: ServerTasks

    /// A server that serves nobody yet.
    public init(_ service: any MCPService, limits: Limits = Limits()) {
        self.service = service
        self.limits = limits
        suspended = SuspendedCalls(limit: limits.suspended, patience: limits.patience)
        tasks = ServerTasks(limits.tasks)
    }

    /// Serves one client, of both eras, until it ends the connection or the task is cancelled. Calls that run then are
    /// cancelled and awaited.
    ///
    /// - Parameter principal: who the client is, if that is known.
    /// - Throws: why the connection ended, unless it ended in the usual way.
    public func serve(over transport: any RPCTransport, as principal: Principal? = nil) async throws {
        let conversation = MCPConversation(self, over: transport, as: principal)
        try await conversation.run()
    }

    /// Serves the program that started this one, over the standard input and output, until the input ends. Nothing else
    /// may write to the standard output meanwhile, and SIGPIPE must be ignored, so that a client which no longer reads is
    /// an error.
    public func serveStandardStreams(on loop: EventLoop, as principal: Principal? = nil) async throws {
        let channel = try DescriptorChannel(sharing: 0, and: 1, loop: loop)
        try await serve(over: StreamTransport(channel, framing: .lines, limits: limits.stream), as: principal)
    }
}

// MARK: Both eras

extension MCPServer {
    /// The requests that run code of the service which may tell, log and ask.
    static func isCall(_ method: String) -> Bool {
        ["tools/call", "prompts/get", "resources/read"].contains(method)
    }

    /// The requests that may take long, and ask meanwhile.
    static func isLasting(_ method: String) -> Bool { isCall(method) || method == "tasks/result" }

    /// Runs a call.
    func perform(_ method: String, _ params: JSONObject, in context: MCPCallContext) async throws -> JSON {
        let peer = context.peer
        let offered = service.capabilities(for: peer)
        switch method {
        case "tools/call" where offered.tools != nil:
            let name = try Self.text("name", in: params)
            let result = try await callTool(name, try Self.members("arguments", in: params), in: context)
            return result.json(peer.version)
        case "resources/read" where offered.resources != nil:
            let contents = try await service.read(try Self.text("uri", in: params), in: context)
            return ["contents": .array(contents.map(\.mcp))]
        case "prompts/get" where offered.prompts != nil:
            let name = try Self.text("name", in: params)
            return try await service.prompt(name, try Self.texts("arguments", in: params), in: context)
                .json(peer.version)
        default: throw RPCError.noMethod(method)
        }
    }

    private func callTool(
        _ name: String, _ arguments: JSONObject, in context: MCPCallContext
    ) async throws -> MCPResult {
        var result: MCPResult
        do {
            result = try await service.call(name, arguments, in: context)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // These are about the request, and not about what the tool did.
            if error is RPCError || error is MCPUnknown || error is MCPMalformed { throw error }
            if context.peer.version.isModern, Self.isMissingCapability(error) { throw error }
            return MCPResult(AnyFailure(error).message, isError: true)
        }
        // Clients that do not read structures show the text.
        if result.parts.isEmpty, let structured = result.structured { result.parts = [.text(structured.text())] }
        return result
    }

    private static func isMissingCapability(_ error: any Error) -> Bool {
        (error as? MCPError)?.error?.code == MCPError.Code.missingCapability
    }

    /// Answers a request that only looks something up; nil if there is no such method.
    func lookUp(_ method: String, _ params: JSONObject, for peer: MCPPeer) async throws -> JSON? {
        let offered = service.capabilities(for: peer)
        switch method {
        case "tools/list" where offered.tools != nil:
            return try page(of: "tools", params, try await service.tools(for: peer)) { Self.json($0, peer.version) }
        case "resources/list" where offered.resources != nil:
            return try page(of: "resources", params, try await service.resources(for: peer), \.mcp)
        case "resources/templates/list" where offered.resources != nil:
            return try page(
                of: "resourceTemplates", params, try await service.resourceTemplates(for: peer), \.json)
        case "prompts/list" where offered.prompts != nil:
            return try page(of: "prompts", params, try await service.prompts(for: peer), \.json)
        case "completion/complete" where offered.completions: return try await complete(params, for: peer)
        default: return nil
        }
    }

    private func complete(_ params: JSONObject, for peer: MCPPeer) async throws -> JSON {
        let argument = try Self.members("argument", in: params)
        let given = try Self.texts("arguments", in: try Self.members("context", in: params))
        let found = try await service.complete(
            try MCPReference(params["ref"]), try Self.text("name", in: argument), try Self.text("value", in: argument),
            given: given, for: peer)
        var completion: JSONObject = [
            "values": .array(found.values.prefix(100).map { .string($0) }),
            "hasMore": .bool(found.hasMore || found.values.count > 100),
        ]
        completion["total"] = found.total.map { .int($0) }
        return ["completion": .object(completion)]
    }

    /// A tool as clients of that revision understand it.
    private static func json(_ tool: MCPTool, _ version: MCPVersion) -> JSON {
        var tool = tool
        // Structured results came late, and were only objects at first.
        if version < .june2025 || !version.isModern && tool.output?["type"] != "object" { tool.output = nil }
        // Only one revision lets clients choose.
        if version != .november2025 { tool.tasks = .forbidden }
        return tool.json
    }

    // MARK: Pages

    func page<Entry>(
        of member: String, _ params: JSONObject, _ entries: [Entry], _ json: (Entry) -> JSON
    ) throws(RPCError) -> JSON {
        var start = 0
        if let cursor = params["cursor"]?.unlessNull {
            guard let place = cursor.string.flatMap(Self.place), place < max(entries.count, 1) else {
                throw RPCError(RPCError.invalidParams, "this cursor belongs to no page; begin again without one")
            }
            start = place
        }
        let end = min(entries.count, start + limits.page)
        var page: JSONObject = [member: .array(entries[start..<end].map(json))]
        if end < entries.count { page["nextCursor"] = .string(Self.cursor(end)) }
        return .object(page)
    }

    private static func cursor(_ place: Int) -> String { Base64URL.encode(Array("from:\(place)".utf8)) }

    private static func place(_ cursor: String) -> Int? {
        guard let bytes = Base64URL.decode(cursor) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("from:"), let place = Int(text.dropFirst(5)), place > 0 else { return nil }
        return place
    }

    // MARK: Parameters and errors

    static func members(of params: JSON?) throws(RPCError) -> JSONObject {
        guard let params else { return [:] }
        guard let members = params.object else {
            throw RPCError(RPCError.invalidParams, "the parameters are \(params.kindName), not an object")
        }
        return members
    }

    static func text(_ name: String, in params: JSONObject) throws(RPCError) -> String {
        guard let text = params[name]?.string else {
            throw RPCError(RPCError.invalidParams, "\(name) is missing, or not a string")
        }
        return text
    }

    static func members(_ name: String, in params: JSONObject) throws(RPCError) -> JSONObject {
        guard let value = params[name]?.unlessNull else { return [:] }
        guard let members = value.object else {
            throw RPCError(RPCError.invalidParams, "\(name) is \(value.kindName), not an object")
        }
        return members
    }

    private static func texts(_ name: String, in params: JSONObject) throws(RPCError) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in try members(name, in: params) {
            guard let text = value.string else {
                throw RPCError(RPCError.invalidParams, "\(name).\(key) is \(value.kindName), not a string")
            }
            texts[key] = text
        }
        return texts
    }

    /// What a client is told. Nil for a request that was cancelled, which is not answered.
    static func error(_ error: any Error, _ version: MCPVersion) -> RPCError? {
        if Task.isCancelled { return nil }
        switch error {
        case let error as RPCError: return error
        case let unknown as MCPUnknown: return unknown.error(version)
        case let malformed as MCPMalformed: return RPCError(RPCError.invalidParams, malformed.reason)
        case let error as MCPError where version.isModern && isMissingCapability(error): return error.error
        default:
            let failure = AnyFailure(error)
            return RPCError(RPCError.internalError, failure.message, data: ["code": .string(failure.code)])
        }
    }
}

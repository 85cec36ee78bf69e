public import Capabilities
public import JSON
import ProcessKit
public import RPCKit

extension MCPClient {
    // MARK: Tools

    /// All tools. One that cannot be read is left out, and the handler is told.
    public func tools() async throws -> [MCPTool] {
        guard try await server().capabilities.tools != nil else { return [] }
        var names: Set<String> = []
        let tools = try await list("tools/list", "tools", MCPTool.init).filter { tool in
            if names.insert(tool.name).inserted { return true }
            handler.tell("it lists two tools named \(PlainText.escape(tool.name)); the first counts")
            return false
        }
        let usable = transport.learn(tools, tell: handler.tell)
        knownTools.learn(usable)
        return usable
    }

    /// Calls a tool. A tool that fails gives a result with `isError`. A structure that is not what the tool has promised is
    /// left out, and the handler is told.
    ///
    /// - Parameters:
    ///   - limit: nil for that of the limits of the client.
    ///   - asTask: whether the server runs it as a task, whose result is waited for, where its revision lets clients choose.
    ///     Otherwise it does so only where the tool requires it, or by its own choice.
    ///   - progress: must not wait.
    public func call(
        _ tool: String, _ arguments: JSONObject = [:], within limit: RPCTimeLimit? = nil, meta: JSONObject = [:],
        asTask: Bool = false, progress: (@Sendable (MCPProgress) -> Void)? = nil
    ) async throws -> MCPResult {
        try await Tracer.current.span("tools/call \(tool)", .client, of: "mcp") { span in
            span.set("mcp.method.name", "tools/call")
            span.set(.genAITool, .string(tool))
            span.set("martlet.mcp.server", .string(name))
            span.set("mcp.protocol.version", (version?.rawValue).map(SpanValue.string))
            // Of calls that run side by side each has what the server wrote meanwhile, since it does not say what for.
            let count = span.isRecording ? transport.messageCount : 0
            defer {
                if span.isRecording {
                    span.set(
                        .processMessages, ProcessSpan.text(of: transport.messages(after: count)).map(SpanValue.string))
                }
            }
            let result = try await callTool(tool, arguments, within: limit ?? limits.call, meta, asTask, progress)
            if result.isError { span.fail("tool_error") }
            return result
        }
    }

    private func callTool(
        _ tool: String, _ arguments: JSONObject, within limit: RPCTimeLimit, _ meta: JSONObject, _ asTask: Bool,
        _ progress: (@Sendable (MCPProgress) -> Void)?
    ) async throws -> MCPResult {
        var params: JSONObject = ["name": .string(tool), "arguments": .object(arguments)]
        var meta = meta
        if let trace = TraceContext.current {
            meta["traceparent"] = .string(trace.traceparent)
            meta["tracestate"] = trace.state.map { .string($0) }
        }
        if !meta.isEmpty { params["_meta"] = .object(meta) }
        if asTask || knownTools.mustBeTask(tool) { params["task"] = ["ttl": .int(Int(limit.total / .milliseconds(1)))] }
        var result: JSON
        do {
            result = try await ask("tools/call", params, within: limit, progress: progress)
        } catch let error as MCPError where error.error?.code == MCPError.Code.headerMismatch {
            // The tool wants headers that are not known yet, or others than before. Nothing was done.
            _ = try await tools()
            result = try await ask("tools/call", params, within: limit, progress: progress)
        }
        if let begun = MCPTask.begun(by: result) {
            result = try await finish(begun, ofCall: tool, within: limit, progress)
        }
        let read = try reading { [result] () throws(MCPMalformed) in try MCPResult(result) }
        return knownTools.checked(read, of: tool, tell: handler.tell)
    }

    // MARK: Resources

    /// All resources.
    public func resources() async throws -> [ToolLink] {
        guard try await server().capabilities.resources != nil else { return [] }
        return try await list("resources/list", "resources", ToolLink.init(mcp:))
    }

    /// All templates of resources.
    public func resourceTemplates() async throws -> [MCPResourceTemplate] {
        guard try await server().capabilities.resources != nil else { return [] }
        return try await list("resources/templates/list", "resourceTemplates", MCPResourceTemplate.init)
    }

    /// The contents of a resource, which may be several.
    public func read(_ address: String) async throws -> [ToolResource] {
        try await require(\.resources, "resources")
        let result = try await ask("resources/read", ["uri": .string(address)])
        return try reading { () throws(MCPMalformed) in
            guard let contents = result["contents"]?.array else { throw MCPMalformed("the resource has no contents") }
            var resources: [ToolResource] = []
            for content in contents { resources.append(try ToolResource(mcp: content)) }
            return resources
        }
    }

    /// Lets the server tell when the resource changes, until `unsubscribe`.
    public func subscribe(to address: String) async throws {
        let info = try await server()
        guard info.capabilities.subscribesResources || info.version.isModern else {
            throw notOffered("the changes of resources")
        }
        guard watch(address, true) else { return }
        if info.version.isModern { return wishes.raise() }
        do { _ = try await ask("resources/subscribe", ["uri": .string(address)]) } catch {
            _ = watch(address, false)
            throw error
        }
    }

    /// The server need not tell any more.
    public func unsubscribe(from address: String) async throws {
        guard watch(address, false) else { return }
        if try await server().version.isModern { return wishes.raise() }
        _ = try await ask("resources/unsubscribe", ["uri": .string(address)])
    }

    // MARK: Prompts

    /// All prompts.
    public func prompts() async throws -> [MCPPrompt] {
        guard try await server().capabilities.prompts != nil else { return [] }
        return try await list("prompts/list", "prompts", MCPPrompt.init)
    }

    /// A prompt with its arguments filled in.
    public func prompt(_ name: String, _ arguments: [String: String] = [:]) async throws -> MCPFilledPrompt {
        try await require(\.prompts, "prompts")
        let given = arguments.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        let result = try await ask("prompts/get", ["name": .string(name), "arguments": .object(JSONObject(given))])
        return try reading { () throws(MCPMalformed) in try MCPFilledPrompt(result) }
    }

    // MARK: More

    /// What an argument may be completed to; nothing if the server does not complete.
    public func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String] = [:]
    ) async throws -> MCPCompletions {
        guard try await server().capabilities.completions else { return MCPCompletions([]) }
        var params: JSONObject = [
            "ref": reference.json, "argument": ["name": .string(argument), "value": .string(value)],
        ]
        if !given.isEmpty {
            let given = given.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
            params["context"] = ["arguments": .object(JSONObject(given))]
        }
        let completion = try await ask("completion/complete", params)["completion"]
        let values = (completion?["values"]?.array ?? []).compactMap(\.string)
        return MCPCompletions(
            Array(values.prefix(100)), total: completion?["total"]?.int,
            hasMore: completion?["hasMore"]?.bool ?? (values.count > 100))
    }

    /// Lets the server send log messages of this level and above.
    public func setLogLevel(_ level: MCPLogEntry.Level) async throws {
        let info = try await server()
        guard info.capabilities.logging else { throw notOffered("log messages") }
        // In the modern era each request says so.
        setLevel(level)
        if !info.version.isModern { _ = try await ask("logging/setLevel", ["level": .string(level.rawValue)]) }
    }

    /// How long the server takes to answer a request that does nothing.
    public func ping() async throws -> Duration {
        let info = try await server()
        let begun = ContinuousClock.now
        _ = try await ask(info.version.isModern ? "server/discover" : "ping")
        return begun.duration(to: .now)
    }

    /// Tells the server that the folders of this client are others. The modern era asks for them anew each time.
    public func rootsChanged() async throws {
        guard try await server().version.isModern == false, handler.capabilities.roots else { return }
        do throws(RPCFailure) { try connection.notify("notifications/roots/list_changed") } catch {
            throw MCPError(error)
        }
    }

    private func require<Value>(_ path: KeyPath<MCPServerCapabilities, Value?>, _ words: String) async throws {
        if try await server().capabilities[keyPath: path] == nil { throw notOffered(words) }
    }

    func notOffered(_ words: String) -> MCPError {
        MCPError(.unsupported, "\(connection.peer) does not offer \(words)")
    }

    // MARK: Pages

    /// All entries of a list, page by page. An entry that cannot be read is left out.
    private func list<Entry>(
        _ method: String, _ member: String, _ read: (JSON) throws(MCPMalformed) -> Entry
    ) async throws -> [Entry] {
        var entries: [Entry] = []
        var cursor: String?
        var seen: Set<String> = []
        for _ in 0..<limits.pages {
            let page = try await ask(method, cursor.map { ["cursor": .string($0)] })
            guard let given = page[member]?.array else { throw malformed("its \(method) has no \(member)") }
            guard entries.count + given.count <= limits.entries else {
                throw MCPError(
                    .limit, "\(connection.peer) lists more than \(limits.entries) \(member), which is the limit")
            }
            for entry in given {
                do throws(MCPMalformed) { entries.append(try read(entry)) } catch {
                    handler.tell(PlainText.escape(error.reason))
                }
            }
            guard let next = page["nextCursor"]?.string else { return entries }
            guard seen.insert(next).inserted else { throw malformed("its \(method) has a page that leads to itself") }
            cursor = next
        }
        throw MCPError(
            .limit, "\(connection.peer) gives more than \(limits.pages) pages of \(member), which is the limit")
    }
}

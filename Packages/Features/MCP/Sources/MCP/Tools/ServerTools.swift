import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// The tools of one server, for models. Every call is asked about, whatever the server says of its tools, until the person
/// makes a rule; and a tool that is not any more what was approved is asked about again.
final class ServerTools: ToolSource {
    private let live: LiveServer
    private let services: MCPServices
    private let choice: ServerChoice
    private let waits: Bool
    private let tell: @Sendable (String) -> Void

    init(
        _ live: LiveServer, _ services: MCPServices, _ choice: ServerChoice, waits: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.live = live
        self.services = services
        self.choice = choice
        self.waits = waits
        self.tell = tell
    }

    var name: String { live.server.name }
    var isBuiltIn: Bool { false }
    var scope: AgentToolScope { live.server.isOwn ? .user : .project }
    var version: String? { live.info?.identity.version }
    var isRequired: Bool { live.server.entry.isRequired }

    /// Whether its tools are known, so that it need not run for a model to know them.
    var isKnown: Bool {
        get async throws { try await services.knownTools(of: live.server) != nil }
    }

    func start() { live.start() }

    /// Who answers the questions of the server; what may be done is decided before.
    private var caller: Caller? { Caller.current }

    // MARK: What there is

    func tools() async throws -> [ToolDescription] {
        defer { tellNotices() }
        let listed: [MCPTool]
        if live.status == .ok {
            listed = try await services.tools(of: live, as: caller).tools.map(\.tool)
        } else if let known = try await services.knownTools(of: live.server), !isRequired {
            listed = known
        } else if waits {
            listed = try await services.tools(of: live, as: caller).tools.map(\.tool)
        } else {
            live.start()
            let problem = live.failure.map { AnyFailure($0).message }
            services.tellOnce(
                problem ?? "the MCP server \(name) is starting; its tools are there with the next message", tell)
            return []
        }
        return listed.filter(isOffered).map { tool in
            var description = ToolDescription(
                name: tool.name, title: tool.title,
                summary: ToolText.visible(tool.summary ?? tool.title ?? tool.name),
                input: tool.input, output: tool.output, effect: .writes, sends: true, hints: tool.hints.words)
            // The client of the server watches the time: a call with signs of progress may take longer than others.
            description.limit = services.settings.limits.longestCall + .seconds(5)
            return description
        }
    }

    private func isOffered(_ tool: MCPTool) -> Bool {
        live.server.entry.tools?.contains(tool.name) != false && choice.uses(tool: tool.name, of: name)
    }

    /// The tool as it is now.
    private func tool(_ wanted: String) async throws -> KnownTool {
        let listing = try await services.tools(of: live, as: caller)
        if let known = listing[wanted], isOffered(known.tool) { return known }
        let names = listing.tools.map(\.tool).filter(isOffered).map(\.name)
        throw ServerError(
            .unknownTool,
            "the MCP server \(name) has no tool \(PlainText.escape(wanted).quotedForMessage) any more\(Suggestion.text(for: wanted, among: names))"
        )
    }

    // MARK: Before a call

    func reach(of call: ToolCall) async throws -> ToolReach {
        defer { tellNotices() }
        let known = try await tool(call.name)
        let problems = known.problems(in: call.input)
        // Told to the model, and not asked about.
        guard problems.isEmpty else {
            throw ServerError(
                .badArguments,
                "the arguments do not fit \(PlainText.escape(call.name)): \(PlainText.escape(problems.joined(separator: "; "), limit: 1_500))"
            )
        }
        var reach = ToolReach(state: known.state)
        reach.renewal = try await renewal(known)
        return reach
    }

    /// Why earlier approvals do not count: the tool has changed, or was never approved and does not look right.
    private func renewal(_ known: KnownTool) async throws -> String? {
        guard let before = try await services.approved(known.tool.name, of: live.server) else {
            let warnings = ToolText.warnings(known.tool, of: name, among: ToolText.ownNames)
            return warnings.isEmpty ? nil : warnings.joined(separator: "\n")
        }
        return ToolText.change(from: before, to: known.text).map {
            "this tool is not what you approved before:\n\($0)"
        }
    }

    // MARK: Calls

    func run(_ call: ToolCall) async throws -> ToolResult {
        try await run(call, reaching: reach(of: call)) { _ in }
    }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        defer { tellNotices() }
        let known = try await tool(call.name)
        guard known.state == agreed.state else { throw ToolReachChanged() }
        try await services.approve(known, of: live.server)
        // What nobody has read yet is replaced by what comes next.
        let (steps, step) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(100))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await line in steps { await tell(line) }
            }
            defer { step.finish() }
            let result = try await live.use(as: caller) { client in
                try await client.call(call.name, call.input.object ?? [:]) { progress in
                    if let message = progress.message { step.yield("\(PlainText.escape(message, limit: 500))\n") }
                }
            }
            return ToolResult(
                call: call.id, parts: result.parts, structured: result.structured, isError: result.isError)
        }
    }

    private func tellNotices() {
        for notice in live.takeNotices() { tell(notice) }
    }
}

extension MCPTool.Hints {
    /// What the server says, in words for a label.
    var words: [String] {
        [
            readsOnly == true ? "says that it only reads" : nil,
            destroys == true ? "says that it may destroy something" : nil,
            isIdempotent == true ? "says that it can be repeated" : nil,
            reachesOut == true ? "says that it reaches other systems" : nil,
        ].compactMap(\.self)
    }
}

import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// Calls a tool by hand.
struct CallAction {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [call] }

    static let text = EventKind<String>(
        "output", "Text of the result, or of a sign of progress", [Field("text", "Text to append") { $0 }], text: "text"
    )

    private var call: Action {
        Action(
            "mcp.call", "Call a tool of an MCP server", .writes,
            .argument("server", "Name of the server", completion: ServerCompletion.names(services)),
            .argument("tool", "Name of the tool", completion: ServerCompletion.tools(services)),
            .argument(
                "arguments", "Options of the tool, as its schema names them, or one JSON object", as: [String].self,
                completion: ServerCompletion.arguments(services)),
            .flag("trace", "Show each message, over a separate connection"), TrafficOptions.record,
            .piped("input", "The arguments as a JSON object")
        ) { [services] context, name, tool, words, isTraced, record, input in
            let live = try await services.usable(name, asking: context.interaction, telling: context.notice)
            // A person who types the name has decided; others need a rule or a permission.
            if !context.caller.isPerson {
                try context.caller.grant.check(.tool(ToolUse(tool, of: name, .writes, sends: true, mode: nil)))
            }
            let call = WrittenCall(
                server: name, tool: tool, words: words, input: input, services: services, context: context)
            context.progress("starting \(PlainText.escape(name))")
            let watch = TrafficOptions(isShown: isTraced, file: record)
            if watch.isOn {
                return try await services.connected(to: live.server, context, watching: watch) { client in
                    try await call.outcome(among: client.tools(), client)
                }
            }
            let tools = try await services.tools(of: live, as: context.caller).tools.map(\.tool)
            defer { for notice in live.takeNotices() { context.warn(notice) } }
            return try await live.use(as: context.caller) { try await call.outcome(among: tools, $0) }
        }
        .sending()
        .streaming([Self.text.declaration])
        .details(
            "Every word after the tool's name belongs to the tool; common options such as --json stand before it. Lists "
                + "take an option several times, objects take JSON. On a terminal you are asked for what is missing. If the "
                + "tool says that it failed, the exit code is 5. A bundle must list the tool in permissions.tools, as "
                + "server/tool."
        )
        .example(
            "martlet mcp call git git_log --repo_path . --max_count 5", "With options, as the tool's schema names them"
        )
        .example("martlet mcp call git git_log '{\"repo_path\": \".\"}'", "With one JSON object")
        .example("martlet mcp call git git_log --help", "What the tool takes")
        .example(
            "martlet mcp call --record traffic.jsonl git git_log --repo_path .",
            "Keep the messages, for 'martlet mcp replay'"
        )
        .question("mcp.call.NAME", "A required argument of the tool that was not given")
        .question("mcp.form", "Whether to answer a form that the server asks for: true or false")
        .question("mcp.form.NAME", "A field of that form")
        .question("mcp.visit", "Whether an address was visited that the server asks for: true or false")
        .question("mcp.sample", "Whether the server may ask a model: true or false")
        .question("mcp.agree.SERVER", "Whether to start a server that comes with the project: true or false")
        .question("mcp.install.SERVER", "Whether to run the command that installs the server's program: true or false")
        .question("mcp.input.SERVER.NAME", "What the server asks for before it starts")
    }
}

/// A call as a person wrote it.
private struct WrittenCall: Sendable {
    let server: String
    let tool: String
    let words: [String]
    let input: String?
    let services: MCPServices
    let context: ActionContext

    /// Reads the words by the schema of the tool, asks for what is missing, and calls.
    func outcome(among tools: [MCPTool], _ client: MCPClient) async throws -> CallOutcome {
        guard let tool = tools.first(where: { $0.name == tool }) else {
            let names = tools.map(\.name)
            throw ServerError(
                .unknownTool,
                "the MCP server \(server) has no tool \(PlainText.escape(tool).quotedForMessage)\(Suggestion.text(for: tool, among: names)); 'martlet mcp tools \(server)' lists them"
            )
        }
        let reader = ToolWords(tool)
        if ToolWords.wantHelp(words) {
            try await context.emit(CallAction.text.event(reader.help))
            return CallOutcome(server: server, tool: tool.name, result: MCPResult(reader.help), duration: .zero)
        }
        let isPiped = words.isEmpty && input?.isEmpty == false
        let given = try isPiped ? ToolWords.object(input ?? "") : reader.arguments(words)
        let arguments = try await reader.complete(
            given, asking: context.interaction, forAll: context.caller.isPerson && words.isEmpty && !isPiped)
        try reader.check(arguments)
        let stopwatch = Stopwatch(context.host.clock)
        let activity = "calling \(PlainText.escape(tool.name))"
        context.progress(activity)
        let entry = AuditEntry(
            actor: context.caller.isPerson ? "person" : "caller", action: "tool.call", source: server,
            subject: self.tool,
            decision: context.caller.isPerson ? "made by hand" : "allowed by the caller's permissions",
            detail: ["input": .object(arguments)])
        let refusal = "\(PlainText.escape(self.tool)) was not called"
        let result = try await services.audited(entry, orSay: refusal, telling: context.notice) { (result: MCPResult) in
            result.isError ? "failed" : "done"
        } _: {
            try await context.interruptible { [context] in
                try await client.call(tool.name, arguments) { progress in
                    context.progress(
                        progress.message.map { PlainText.escape($0, limit: 200) } ?? activity,
                        completed: Int(exactly: progress.value.rounded()),
                        of: progress.total.flatMap { Int(exactly: $0.rounded()) })
                }
            }
        }
        let outcome = CallOutcome(server: server, tool: tool.name, result: result, duration: stopwatch.time())
        try await context.emit(CallAction.text.event(context.host.redactor.redact(outcome.shown)))
        return outcome
    }
}

/// What a call gave back.
struct CallOutcome: Record {
    let server: String
    let tool: String
    let result: MCPResult
    let duration: Duration

    var exit: ExitCode { result.isError ? .toolFailed : .done }

    /// The result for a person, by kind.
    var shown: String {
        var text = result.parts.map { PlainText.escapeLines($0.text) }.joined(separator: "\n")
        if result.parts.isEmpty, let structured = result.structured { text = structured.text(.pretty) }
        return text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    static let fields: [Field<CallOutcome>] = [
        Field("server", "The server") { $0.server },
        Field("tool", "The tool", .name) { $0.tool },
        Field("is_error", "Whether the tool says that it failed") { $0.result.isError },
        Field("text", "The result as text", .detail) { $0.result.parts.map(\.text).joined(separator: "\n") },
        Field("structured", "The result for programs, if the tool gives one") { $0.result.structured },
        Field("content", "Each part of the result, as the server sent it", .detail) { $0.result.content },
        Field("duration", "How long it took") { $0.duration },
    ]
}

import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry

/// The actions that ask a server for what it has besides calls of tools.
struct AskActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [tools, resources, read, prompts, get, complete, ping] }

    private var server: Parameter<String> {
        .argument("server", "Name of the server", completion: ServerCompletion.names(services))
    }

    /// Does something with a server on behalf of the action, which was not asked before.
    private func use<Value: Sendable>(
        _ name: String, _ context: ActionContext, _ body: (LiveServer, MCPClient) async throws -> Value
    ) async throws -> Value {
        let live = try await services.usable(name, asking: context.interaction, telling: context.notice)
        if !context.caller.isPerson {
            // What a server says is read by name only.
            try context.caller.grant.check(.tool(ToolUse("read", of: name, .reads, sends: true, mode: nil)))
        }
        context.progress("asking \(PlainText.escape(name))")
        defer { for notice in live.takeNotices() { context.warn(notice) } }
        return try await live.use(as: context.caller) { try await body(live, $0) }
    }

    private var tools: Action {
        Action("mcp.tools", "List the tools of an MCP server", .reads, server) { [services] context, name in
            try await use(name, context) { live, _ in
                let tools = try await services.tools(of: live, as: context.caller).tools.map(\.tool)
                return context.rows(
                    try await services.listedTools(of: live.server, tools), orSay: "the server \(name) has no tools")
            }
        }
        .sending()
        .example("martlet mcp tools git", "With what each one does, in the words of the server")
    }

    private var resources: Action {
        Action("mcp.resources", "List the resources of an MCP server", .reads, server) { context, name in
            try await use(name, context) { _, client in
                let fixed = try await client.resources().map { ResourceRow($0) }
                let templates = try await client.resourceTemplates().map { ResourceRow($0) }
                return context.rows(fixed + templates, orSay: "the server \(name) has no resources")
            }
        }
        .sending()
    }

    private static let text = EventKind<String>(
        "output", "Text of the result", [Field("text", "Text to append") { $0 }], text: "text")

    private var read: Action {
        Action(
            "mcp.read", "Read a resource of an MCP server", .reads, server,
            .argument("address", "Address of the resource, as the server lists it")
        ) { context, name, address in
            let contents = try await use(name, context) { _, client in try await client.read(address) }
            let rows = contents.map { ResourceContent(resource: $0) }
            for row in rows { try await context.emit(Self.text.event(context.host.redactor.redact(row.shown))) }
            return rows
        }
        .sending()
        .streaming([Self.text.declaration])
        .example("martlet mcp read docs docs://intro", "Print it")
    }

    private var prompts: Action {
        Action("mcp.prompts", "List the prompts of an MCP server", .reads, server) { context, name in
            try await use(name, context) { _, client in
                context.rows(
                    try await client.prompts().map { PromptRow(prompt: $0) }, orSay: "the server \(name) has no prompts"
                )
            }
        }
        .sending()
    }

    private var get: Action {
        Action(
            "mcp.get", "Fill in a prompt of an MCP server", .reads, server,
            .argument("prompt", "Name of the prompt"),
            .argument("arguments", "Its arguments, each as NAME=VALUE", as: [String].self)
        ) { context, name, prompt, words in
            var arguments: [String: String] = [:]
            for word in words {
                guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                    throw ServerError(
                        .badArguments,
                        "an argument of a prompt is NAME=VALUE, not \(PlainText.escape(word).quotedForMessage)")
                }
                arguments[String(word[..<equals])] = String(word[word.index(after: equals)...])
            }
            let filled = try await use(name, context) { [arguments] _, client in
                try await client.prompt(prompt, arguments)
            }
            let rows = filled.messages.map { PromptMessage(message: $0) }
            for row in rows { try await context.emit(Self.text.event(context.host.redactor.redact(row.shown))) }
            return rows
        }
        .sending()
        .streaming([Self.text.declaration])
    }

    private var complete: Action {
        Action(
            "mcp.complete", "Ask an MCP server how an argument may go on", .reads, server,
            .argument("reference", "Name of a prompt, or address of a resource template"),
            .argument("argument", "Name of the argument"),
            .argument("value", "What is typed so far", default: "")
        ) { context, name, reference, argument, value in
            let found = try await use(name, context) { _, client in
                try await client.complete(
                    reference.contains("://") ? .resource(reference) : .prompt(reference), argument, value)
            }
            return context.rows(found.values.map { PlainText.escape($0) }, orSay: "the server proposes nothing")
        }
        .sending()
    }

    private var ping: Action {
        Action("mcp.ping", "Ask an MCP server whether it is there", .reads, server) { context, name in
            let stopwatch = Stopwatch(context.host.clock)
            let info = try await use(name, context) { live, client in
                _ = try await client.ping()
                return live.info
            }
            return PingAnswer(server: name, version: info?.identity.version, duration: stopwatch.time())
        }
        .sending()
    }
}

/// That a server is there.
struct PingAnswer: Record {
    let server: String
    let version: String?
    let duration: Duration

    static let fields: [Field<PingAnswer>] = [
        Field("server", "Name of the server", .name) { $0.server },
        Field("version", "Its version") { $0.version.map { PlainText.escape($0) } },
        Field("took", "How long the answer took, with the start if it did not run") { $0.duration },
    ]
}

/// A resource, or a template of resources.
struct ResourceRow: Record {
    let address: String
    let name: String
    let summary: String?
    let mediaType: String?
    let size: Int?
    let isTemplate: Bool

    init(_ link: ToolLink) {
        (address, name, summary) = (link.address, link.title ?? link.name, link.summary)
        (mediaType, size, isTemplate) = (link.mediaType, link.size, false)
    }

    init(_ template: MCPResourceTemplate) {
        (address, name, summary) = (template.address, template.title ?? template.name, template.summary)
        (mediaType, size, isTemplate) = (template.mediaType, nil, true)
    }

    static let fields: [Field<ResourceRow>] = [
        Field("address", "Address to read it by, or a template of addresses", .name) { PlainText.escape($0.address) },
        Field("name", "Its name") { PlainText.escape($0.name) },
        Field("type", "Its media type") { $0.mediaType.map { PlainText.escape($0) } },
        Field("size", "Its size in bytes", .minor) { $0.size },
        Field("template", "Whether it is a template", .minor) { $0.isTemplate },
        Field("summary", "What the server says of it") {
            $0.summary.map { PlainText.escape($0.firstLine, limit: 300) }
        },
    ]
}

/// What a resource contains.
struct ResourceContent: Record {
    let resource: ToolResource

    /// The text, or a sentence about bytes.
    var shown: String {
        let text = ToolPart.resource(resource).text
        return PlainText.escapeLines(text.hasSuffix("\n") ? text : text + "\n")
    }

    private var text: String? { if case .text(let text) = resource.content { text } else { nil } }

    private var base64: String? {
        if case .bytes(let bytes) = resource.content { Base64.encode(bytes) } else { nil }
    }

    static let fields: [Field<ResourceContent>] = [
        Field("address", "Its address", .name) { $0.resource.address },
        Field("type", "Its media type") { $0.resource.mediaType },
        Field("text", "The text, if it is text", .detail) { $0.text },
        Field("base64", "The bytes, if it is not text", .detail) { $0.base64 },
    ]
}

/// A prompt in a list.
struct PromptRow: Record {
    let prompt: MCPPrompt

    static let fields: [Field<PromptRow>] = [
        Field("name", "Its name", .name) { PlainText.escape($0.prompt.name) },
        Field("arguments", "Its arguments; those in brackets may be left out") { row in
            row.prompt.arguments.map { $0.isRequired ? PlainText.escape($0.name) : "[\(PlainText.escape($0.name))]" }
        },
        Field("summary", "What the server says of it") {
            ($0.prompt.summary ?? $0.prompt.title).map { PlainText.escape($0.firstLine, limit: 300) }
        },
    ]
}

/// A message of a prompt.
struct PromptMessage: Record {
    let message: MCPMessage

    var shown: String {
        "\(message.role.rawValue): \(message.parts.map { PlainText.escapeLines($0.text) }.joined(separator: "\n"))\n"
    }

    static let fields: [Field<PromptMessage>] = [
        Field("role", "user or assistant", .name) { $0.message.role.rawValue },
        Field("text", "What it says") { $0.message.parts.map(\.text).joined(separator: "\n") },
    ]
}

public import Capabilities
import HTTPServer
public import JSON
public import MCPKit
import Synchronization

/// A service that uses everything of the protocol, for tests.
public final class EverythingService: MCPService {
    private struct State {
        var hasGrown = false
        var value = 0
        var runs = 0
        var finished = 0
        var cancelled = 0
    }

    public let identity = MCPIdentity(name: "everything", title: "Everything", version: "1")
    public let changes = MCPChanges()
    /// Raised when a call begins to wait, and when one was cancelled.
    public let news = Signal()
    private let state = Mutex(State())
    private let extra: Int

    /// - Parameter extra: how many tools it lists besides the usual ones.
    public init(extra: Int = 0) {
        self.extra = extra
    }

    /// How often the tool `choose` has begun.
    public var runs: Int { state.withLock { $0.runs } }
    /// How often it has ended, in any way.
    public var finished: Int { state.withLock { $0.finished } }
    /// How many calls were cancelled.
    public var cancelled: Int { state.withLock { $0.cancelled } }

    /// Waits until a condition holds.
    public func wait(until isDone: (EverythingService) -> Bool) async throws {
        while true {
            let seen = news.count
            if isDone(self) { return }
            try await news.wait(beyond: seen)
        }
    }

    public func instructions(for peer: MCPPeer) -> String? { "Use everything." }

    public func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        offered.tools = MCPServerCapabilities.Listing(tellsChanges: true)
        offered.prompts = MCPServerCapabilities.Listing(tellsChanges: true)
        offered.resources = MCPServerCapabilities.Listing(tellsChanges: true)
        (offered.subscribesResources, offered.logging, offered.completions) = (true, true, true)
        return offered
    }

    // MARK: Tools

    public func tools(for peer: MCPPeer) async throws -> [MCPTool] {
        func tool(_ name: String, _ summary: String, _ properties: JSONObject = [:], output: JSON? = nil) -> MCPTool {
            MCPTool(
                name: name, summary: summary,
                input: [
                    "type": "object", "properties": .object(properties),
                    "required": .array(properties.keys.map { .string($0) }),
                ], output: output)
        }
        let number: JSON = ["type": "integer"]
        let text: JSON = ["type": "string"]
        var tools = [
            tool(
                "add", "Adds two numbers.", ["a": number, "b": number],
                output: ["type": "object", "properties": ["result": number], "required": ["result"]]),
            tool("list", "Lists the numbers up to one.", ["to": number], output: ["type": "array", "items": number]),
            tool("fail", "Fails for a reason.", ["reason": text]),
            tool("parts", "Gives one part of each kind."), tool("who", "Tells who calls."),
            tool("count", "Counts and tells its progress.", ["to": number]),
            tool("wait", "Waits until it is cancelled."), tool("shout", "Writes to the log.", ["text": text]),
            tool("choose", "Asks the person twice."), tool("visit", "Sends the person to an address."),
            tool("think", "Asks a model."), tool("folders", "Tells the folders of the client."),
            tool("grow", "Adds a tool."), tool("bump", "Changes the resource counter://value."),
            tool("region", "Has a header.", ["region": ["type": "string", "x-mcp-header": "Region"]]),
        ]
        if state.withLock({ $0.hasGrown }) { tools.append(tool("grown", "Was added.")) }
        return tools + (0..<extra).map { tool("extra-\($0)", "One of many.") }
    }

    public func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        switch tool {
        case "add":
            guard let a = arguments["a"]?.int, let b = arguments["b"]?.int else {
                return MCPResult("a and b must be integers", isError: true)
            }
            return MCPResult([.text("\(a + b)")], structured: ["result": .int(a + b)])
        case "list": return MCPResult([], structured: .array((0..<(arguments["to"]?.int ?? 0)).map { .int($0) }))
        case "fail": throw Problem(message: arguments["reason"]?.string ?? "no reason")
        case "parts": return MCPResult(Self.parts)
        case "who": return MCPResult("\(context.peer.identity.name) \(context.peer.principal?.name ?? "nobody")")
        case "count":
            let end = arguments["to"]?.int ?? 0
            for number in 0..<end {
                context.progress(Double(number + 1), of: Double(end), message: "step \(number + 1)")
            }
            return MCPResult("counted to \(end)")
        case "wait":
            news.raise()
            defer {
                state.withLock { $0.cancelled += 1 }
                news.raise()
            }
            try await Promise<Void>().value()
            return MCPResult("too long")
        case "shout":
            context.log(.debug, "quiet")
            context.log(.warning, logger: "shouter", arguments["text"] ?? nil)
            return MCPResult("done")
        case "grow":
            state.withLock { $0.hasGrown = true }
            changes.announce(.tools)
            return MCPResult("added")
        case "grown" where state.withLock({ $0.hasGrown }): return MCPResult("grown")
        case "bump":
            state.withLock { $0.value += 1 }
            changes.announce(.resource("counter://value"))
            return MCPResult("bumped")
        case "region": return MCPResult(arguments["region"]?.string ?? "none")
        default: return try await ask(tool, in: context)
        }
    }

    /// The tools that ask the client something.
    private func ask(_ tool: String, in context: MCPCallContext) async throws -> MCPResult {
        switch tool {
        case "choose":
            state.withLock { $0.runs += 1 }
            defer {
                state.withLock { $0.finished += 1 }
                news.raise()
            }
            let color = try await context.elicit(Self.question("Which color?", "color", "string"))
            guard case .accept(let chosen) = color else { return MCPResult("no color") }
            let count = try await context.elicit(Self.question("How many?", "count", "integer"))
            guard case .accept(let counted) = count else { return MCPResult("no count") }
            return MCPResult("\(chosen["color"]?.string ?? "?") \(counted["count"]?.int ?? 0)")
        case "visit":
            let answer = try await context.elicit(
                .address(message: "Sign in there", address: "https://example.com/in", id: nil))
            return MCPResult(answer == .accept([:]) ? "visited" : "stayed")
        case "think":
            let answer = try await context.sample(
                MCPSampling([MCPMessage(.user, [.text("hello")])], system: "Be brief.", mostTokens: 10))
            return MCPResult("\(answer.model): \(answer.parts.map(\.text).joined())")
        case "folders": return MCPResult(try await context.roots().map(\.address).joined(separator: " "))
        default: throw MCPUnknown.tool(tool)
        }
    }

    private static func question(_ message: String, _ name: String, _ type: JSON) -> MCPElicitation {
        .form(
            message: message,
            schema: [
                "type": "object", "properties": .object([name: ["type": type]]), "required": [.string(name)],
            ])
    }

    private static let parts: [ToolPart] = [
        .text("a text"), .media(Attachment(name: "image", mediaType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47])),
        .media(Attachment(name: "audio", mediaType: "audio/wav", bytes: [1, 2, 3])),
        .link(ToolLink(address: "file:///tmp/a", name: "a")),
        .resource(ToolResource(address: "note://1", mediaType: nil, content: .text("a note"))),
    ]

    private struct Problem: Failure {
        let message: String
        var code: String { "test.problem" }
    }

    // MARK: Resources

    public func resources(for peer: MCPPeer) async throws -> [ToolLink] {
        [
            ToolLink(address: "config://all", name: "config", mediaType: "application/json"),
            ToolLink(address: "counter://value", name: "counter"),
        ]
    }

    public func resourceTemplates(for peer: MCPPeer) async throws -> [MCPResourceTemplate] {
        [MCPResourceTemplate(address: "note://{number}", name: "note")]
    }

    public func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource] {
        switch address {
        case "config://all":
            return [ToolResource(address: address, mediaType: "application/json", content: .text("{\"a\": 1}"))]
        case "counter://value":
            let value = state.withLock { $0.value }
            return [ToolResource(address: address, mediaType: "text/plain", content: .text("\(value)"))]
        case let note where note.hasPrefix("note://"):
            return [ToolResource(address: note, mediaType: nil, content: .text("note \(note.dropFirst(7))"))]
        default: throw MCPUnknown.resource(address)
        }
    }

    public func watch(_ address: String, for peer: MCPPeer) async throws {
        if address == "secret://value" { throw MCPUnknown.resource(address) }
    }

    // MARK: Prompts

    public func prompts(for peer: MCPPeer) async throws -> [MCPPrompt] {
        [
            MCPPrompt(
                "review", summary: "Reviews code.",
                arguments: [MCPPrompt.Argument("code", isRequired: true), MCPPrompt.Argument("style")])
        ]
    }

    public func prompt(
        _ name: String, _ arguments: [String: String], in context: MCPCallContext
    ) async throws -> MCPFilledPrompt {
        guard name == "review" else { throw MCPUnknown.prompt(name) }
        let text = "Review in a \(arguments["style"] ?? "kind") way: \(arguments["code"] ?? "")"
        return MCPFilledPrompt(summary: "Reviews code.", messages: [MCPMessage(.user, [.text(text)])])
    }

    public func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
    ) async throws -> MCPCompletions {
        guard reference == .prompt("review"), argument == "style" else { return MCPCompletions([]) }
        return MCPCompletions(["kind", "kurt", "strict"].filter { $0.hasPrefix(value) })
    }
}

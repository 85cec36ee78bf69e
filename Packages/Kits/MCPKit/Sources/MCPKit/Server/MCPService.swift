public import Capabilities
public import JSON
import RPCKit
import Synchronization

/// What an MCP server offers to its clients, in both eras.
///
///     struct Clock: MCPService {
///         let identity = MCPIdentity(name: "clock", version: "1")
///         let changes = MCPChanges()
///
///         func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
///             var offered = MCPServerCapabilities()
///             offered.tools = MCPServerCapabilities.Listing()
///             return offered
///         }
///         func tools(for peer: MCPPeer) async throws -> [MCPTool] { [MCPTool(name: "now", summary: "Tells the time")] }
///         func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
///             guard tool == "now" else { throw MCPUnknown.tool(tool) }
///             return MCPResult("noon")
///         }
///     }
///
/// Every function gets the client, so that it can offer each client what that one may have. Calls run at the same time,
/// each in its own task, which is cancelled when the client cancels the call or is gone. If the capabilities have tasks, calls
/// of tools that allow it can become tasks of the protocol, which the client asks for later; nothing changes for the service.
///
/// What a function throws reaches the client: an `RPCError` as it is, `MCPUnknown` with the code of its era, any other
/// error as the failed result of a tool, and as an internal error elsewhere.
public protocol MCPService: Sendable {
    /// What the server says it is.
    var identity: MCPIdentity { get }
    /// Where the service announces what has changed.
    var changes: MCPChanges { get }
    /// How models should use the server.
    func instructions(for peer: MCPPeer) -> String?
    /// What the client is offered. A method of something else does not exist for it.
    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities

    /// All tools that the client may call.
    func tools(for peer: MCPPeer) async throws -> [MCPTool]
    /// One of them; nil if the client has none of this name. HTTP compares headers with the schema of the tool before each
    /// call, so that a service with many tools should find it without making the list.
    func tool(_ name: String, for peer: MCPPeer) async throws -> MCPTool?
    /// Calls a tool. A tool that fails gives a result with `isError`, or throws.
    func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult

    /// All resources that the client may read.
    func resources(for peer: MCPPeer) async throws -> [ToolLink]
    /// All templates of resources.
    func resourceTemplates(for peer: MCPPeer) async throws -> [MCPResourceTemplate]
    /// The contents of a resource.
    func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource]
    /// Throws if the client may not be told when this resource changes.
    func watch(_ address: String, for peer: MCPPeer) async throws
    /// The client no longer wants to be told, or is gone. Called once for each `watch` that succeeded; must not wait.
    func unwatch(_ address: String, for peer: MCPPeer)

    /// All prompts.
    func prompts(for peer: MCPPeer) async throws -> [MCPPrompt]
    /// A prompt with its arguments filled in.
    func prompt(
        _ name: String, _ arguments: [String: String], in context: MCPCallContext
    ) async throws -> MCPFilledPrompt

    /// What the value of an argument may be completed to, given the values of other arguments.
    func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
    ) async throws -> MCPCompletions
}

extension MCPService {
    /// By default nothing is said.
    public func instructions(for peer: MCPPeer) -> String? { nil }
    /// By default there are none.
    public func tools(for peer: MCPPeer) async throws -> [MCPTool] { [] }
    /// By default it is looked for in the list.
    public func tool(_ name: String, for peer: MCPPeer) async throws -> MCPTool? {
        try await tools(for: peer).first { $0.name == name }
    }
    /// By default there are none.
    public func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        throw MCPUnknown.tool(tool)
    }
    /// By default there are none.
    public func resources(for peer: MCPPeer) async throws -> [ToolLink] { [] }
    /// By default there are none.
    public func resourceTemplates(for peer: MCPPeer) async throws -> [MCPResourceTemplate] { [] }
    /// By default there are none.
    public func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource] {
        throw MCPUnknown.resource(address)
    }
    /// By default every resource may be watched.
    public func watch(_ address: String, for peer: MCPPeer) async throws {}
    /// By default nothing was begun.
    public func unwatch(_ address: String, for peer: MCPPeer) {}
    /// By default there are none.
    public func prompts(for peer: MCPPeer) async throws -> [MCPPrompt] { [] }
    /// By default there are none.
    public func prompt(
        _ name: String, _ arguments: [String: String], in context: MCPCallContext
    ) async throws -> MCPFilledPrompt {
        throw MCPUnknown.prompt(name)
    }
    /// By default nothing is completed.
    public func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
    ) async throws -> MCPCompletions {
        MCPCompletions([])
    }
}

/// A client asked for something that a server does not have, or not for this client.
public enum MCPUnknown: Error, Sendable, Hashable {
    /// No tool has this name.
    case tool(String)
    /// No resource has this address.
    case resource(String)
    /// No prompt has this name.
    case prompt(String)

    func error(_ version: MCPVersion) -> RPCError {
        switch self {
        case .tool(let name): RPCError(RPCError.invalidParams, "there is no tool \(PlainText.escape(name))")
        case .prompt(let name): RPCError(RPCError.invalidParams, "there is no prompt \(PlainText.escape(name))")
        case .resource(let address):
            RPCError(
                version.isModern ? RPCError.invalidParams : MCPError.Code.resourceNotFound,
                "there is no resource \(PlainText.escape(address))", data: ["uri": .string(address)])
        }
    }
}

/// Passes the changes of a service on to the clients that want to know of them.
public final class MCPChanges: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: @Sendable (MCPChange) -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Nobody listens yet.
    public init() {}

    /// Tells each client that can hear it. Does not wait for any of them.
    public func announce(_ change: MCPChange) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener(change) }
    }

    /// Calls a function for each change until `remove`; it must not wait.
    func add(_ listener: @escaping @Sendable (MCPChange) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in state.listeners[number] = nil }
    }

    /// The number of those who listen.
    var count: Int { state.withLock { $0.listeners.count } }
}

public import RPCKit

/// Carries the messages of an MCP connection, and learns what was agreed on.
public protocol MCPTransport: RPCTransport {
    /// Whether the server shows that it is gone by ending the connection, as a program does that was started for it.
    var isLasting: Bool { get }

    /// How many bytes of messages for people the server has written so far, such as a program to its standard error.
    var messageCount: Int { get }

    /// What it has written after so many bytes, as far as it is kept.
    func messages(after count: Int) -> [UInt8]

    /// Both sides have agreed on a revision.
    func settle(on version: MCPVersion)

    /// Nothing is agreed on any more: the next message begins anew.
    func forget()

    /// Learns what the tools of the server want to see in the headers of their calls.
    ///
    /// - Parameter tell: is told why a tool cannot be called this way.
    /// - Returns: the tools that can.
    func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool]
}

extension MCPTransport {
    public var messageCount: Int { 0 }
    public func messages(after count: Int) -> [UInt8] { [] }
    public func settle(on version: MCPVersion) {}
    public func forget() {}
    public func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool] { tools }
}

extension StreamTransport: MCPTransport {
    public var isLasting: Bool { true }
}

extension RPCConventions {
    /// Those of both eras.
    public static let mcp = RPCConventions(
        cancellation: Notice("notifications/cancelled", "requestId"),
        progress: Notice("notifications/progress", "progressToken"), progressToken: ["_meta", "progressToken"])
}

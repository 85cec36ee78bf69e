import Capabilities
import MCPKit
import RPCKit

/// A transport whose messages are shown to a person, in both directions.
struct TracedTransport: MCPTransport {
    let inner: any MCPTransport
    let tell: @Sendable (String) -> Void

    /// Enough for everything but contents of files.
    private static let shown = 4_000

    var isLasting: Bool { inner.isLasting }

    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        try await inner.run { [tell] event in
            switch event {
            case .message(let message): tell("< \(Self.text(message))")
            case .malformed(let malformed):
                tell("< (no message) \(PlainText.escape("\(malformed)", limit: Self.shown))")
            case .failed(_, let error): tell("< (failed) \(AnyFailure(error).message)")
            case .waits: break
            }
            receive(event)
        }
    }

    func send(_ message: RPCMessage) throws(RPCFailure) {
        tell("> \(Self.text(message))")
        try inner.send(message)
    }

    func close() { inner.close() }
    func settle(on version: MCPVersion) { inner.settle(on: version) }
    func forget() { inner.forget() }
    func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool] { inner.learn(tools, tell: tell) }

    private static func text(_ message: RPCMessage) -> String {
        PlainText.escape(String(decoding: message.bytes, as: UTF8.self), limit: shown)
    }
}

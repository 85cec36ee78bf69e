import MCPKit
import RPCKit

/// A transport whose messages are shown to others, in both directions.
struct TracedTransport: MCPTransport {
    let inner: any MCPTransport
    let tell: @Sendable (ServerTraffic) -> Void

    var isLasting: Bool { inner.isLasting }
    var messageCount: Int { inner.messageCount }
    func messages(after count: Int) -> [UInt8] { inner.messages(after: count) }

    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        try await inner.run { [tell] event in
            switch event {
            case .message(let message): tell(.received(message))
            case .malformed(let malformed): tell(.malformed(malformed))
            case .failed(_, let error): tell(.failed(error))
            case .waits: break
            }
            receive(event)
        }
    }

    func send(_ message: RPCMessage) throws(RPCFailure) {
        tell(.sent(message))
        try inner.send(message)
    }

    func close() { inner.close() }
    func settle(on version: MCPVersion) { inner.settle(on: version) }
    func forget() { inner.forget() }
    func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool] { inner.learn(tools, tell: tell) }
}

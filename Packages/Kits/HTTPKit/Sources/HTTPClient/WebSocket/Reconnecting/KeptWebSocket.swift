public import HTTPCore

/// A `WebSocket` as something that `ReconnectingConnection` keeps up: its pings and pongs are signs of life too.
public struct KeptWebSocket: KeptConnection {
    public let socket: WebSocket

    public init(_ socket: WebSocket) {
        self.socket = socket
    }

    public func receive() async throws -> WebSocketReader.Input? { try await socket.receiveInput() }

    public func ping() async throws { try await socket.ping() }

    public func close() async { await socket.close(within: .seconds(1)) }
}

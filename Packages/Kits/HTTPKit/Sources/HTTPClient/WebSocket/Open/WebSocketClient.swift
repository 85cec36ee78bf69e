public import Capabilities
import HTTPCore
import LoopKit

/// Opens WebSockets. What is made by one of these shares whom it trusts, its proxies, and one thread.
///
///     let client = WebSocketClient(withoutCaller: .person)
///     let socket = try await client.connect(WebSocketRequest("ws://localhost:8000/events"))
///     try await socket.send("hello")
///     for try await message in socket.messages { print(message.text ?? "") }
public final class WebSocketClient: Sendable {
    private let setup: ConnectionSetup
    private let withoutCaller: Grant
    private let loop = EventLoop()

    /// - Parameter withoutCaller: what may be reached for no action: nothing, unless somebody says so.
    public init(trust: TrustDomain = .system, proxies: ProxySettings = .none, withoutCaller: Grant = .nobody) {
        setup = ConnectionSetup(trust: trust, proxies: proxies)
        self.withoutCaller = withoutCaller
    }

    /// Opens a WebSocket. Throws `HTTPError`; one for an answer other than 101 has its status and words. A cancelled
    /// task ends it at once.
    public func connect(_ request: WebSocketRequest) async throws -> WebSocket {
        let grant = Caller.current?.grant ?? withoutCaller
        defer { setup.trust.tell?() }
        do {
            return try await WebSocketOpening(request, setup, grant, loop).open()
        } catch let error as HTTPError {
            guard let certificate = error.certificate, let settle = setup.trust.settle else { throw error }
            try await settle(certificate)
            return try await WebSocketOpening(request, setup, grant, loop).open()
        }
    }
}

import Capabilities
import Cryptography
import HTTPCore
import HTTPTesting
import Testing

@testable import HTTPClient

@Suite("WebSocket lock", .timeLimit(.minutes(5)))
struct WebSocketLockTests {
    @Test("The lock is released often while a large message is written, plain or encrypted", arguments: [false, true])
    func turns(isSecure: Bool) async throws {
        let certificates = try TestCertificates.shared()
        let trust = TrustDomain(authorities: .bytes(Array(certificates.authority.certificate.pem.utf8)))
        let message = WebSocketMessage.binary([UInt8](repeating: 7, count: 8 << 20))
        let script: ScriptedServer.Script = { connection in
            try connection.openWebSocket()
            try connection.echoMessages()
        }
        try await ScriptedServer.run(tls: isSecure ? try ScriptedTLS(certificates.good) : nil, script) { server in
            let address = "\(isSecure ? "wss" : "ws")://localhost:\(server.port)/"
            let socket = try await WebSocketClient(trust: trust, withoutCaller: .person).connect(
                WebSocketRequest(address))
            #expect(socket.queue(message))
            var left = 8 << 20
            var steps = 0
            while try socket.flushOnce() != .done {
                let unsent = socket.unsentCount
                // The last write before the limit may be 64 KiB; the frame's head is 14 bytes.
                #expect(left - unsent <= 320 << 10)
                left = unsent
                steps += 1
                await Task.yield()
            }
            #expect(steps >= 8 << 20 / (320 << 10))
            #expect(try await socket.receive() == message)
            await socket.close()
        }
    }
}

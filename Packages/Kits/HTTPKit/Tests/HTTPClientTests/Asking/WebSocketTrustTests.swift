import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("WebSocket trust questions", .timeLimit(.minutes(5)))
struct WebSocketTrustTests {
    private static let script: ScriptedServer.Script = { connection in
        try connection.openWebSocket()
        try connection.echoMessages()
    }

    @Test("A refused WebSocket asks once, in the caller's task, and opens after a yes")
    func yes() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        let client = WebSocketClient(trust: try trustee.domain(), withoutCaller: .person)
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Trustee.$person.withValue("anna") {
                for _ in 0..<2 {
                    let socket = try await client.connect(WebSocketRequest("wss://127.0.0.1:\(server.port)/"))
                    try await socket.send("hi")
                    let echo = try await socket.receive()
                    #expect(echo == .text("hi"))
                    await socket.close()
                }
            }
            #expect(trustee.askers == ["anna"] && trustee.told == ["anna", "anna"])
            #expect(server.record.connections.map(\.requests.count) == [0, 1, 1])
        }
    }

    @Test("A WebSocket stays closed after a no or an answer that changes nothing")
    func no() async throws {
        let all = try TestCertificates.shared()
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            let request = try WebSocketRequest("wss://127.0.0.1:\(server.port)/")
            let declining = Trustee { _ in throw Refusal() }
            await #expect(throws: Refusal()) {
                _ = try await WebSocketClient(trust: try declining.domain(), withoutCaller: .person).connect(request)
            }
            let idle = Trustee { _ in false }
            let error = await Lab.failure {
                _ = try await WebSocketClient(trust: try idle.domain(), withoutCaller: .person).connect(request)
            }
            #expect(error?.kind == .certificate && idle.asked.count == 1)
            let record = try await server.until { $0.connections.count == 3 && $0.openNow == 0 }
            #expect(record.bytesReceived == 0)
        }
    }
}

import AuthTrust
import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Certificate questions of a WebSocket", .timeLimit(.minutes(5)))
struct WebSocketAskingTests {
    private static let greeting: ScriptedServer.Script = { connection in
        let request = try connection.receiveHead()
        let answer = try WebSocketHandshake.answer(to: .get, request.headers)
        let lines = answer.map { "\($0.name): \($0.value)\r\n" }.joined()
        try connection.send("HTTP/1.1 101 Switching Protocols\r\n\(lines)\r\n")
        // This is a text message of two letters.
        try connection.send([0x81, 2] + Array("hi".utf8))
        // The client's close frame.
        _ = try connection.receiveAny()
    }

    private func greet(_ client: WebSocketClient, _ port: Int) async throws -> String? {
        let socket = try await client.connect(WebSocketRequest("wss://127.0.0.1:\(port)/"))
        let text = try await socket.receive()?.text
        await socket.close()
        return text
    }

    @Test("A yes opens it; a no or a missing terminal does not")
    func asked() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            let client = WebSocketClient(trust: TrustDomain(bench.trust), withoutCaller: .person)
            try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.greeting) { server in
                let headless = await failure { _ = try await greet(client, server.port) }
                #expect(headless?.code == "auth.certificate-unknown" && headless?.exit == .denied)
                #expect(headless?.details["command"]?.string?.contains("auth trust add") == true)
                let declined = await failure {
                    try await bench.asAction(by: ScriptedPerson(says: false)) {
                        _ = try await greet(client, server.port)
                    }
                }
                #expect(declined?.message.contains("you did not trust the certificate") == true)
                let sawNothing = try await server.sawNothing(in: 2)
                #expect(sawNothing)
                let person = ScriptedPerson(says: true)
                let text = try await bench.asAction(by: person) { try await greet(client, server.port) }
                #expect(text == "hi" && person.questions.count == 1)
                #expect(try await greet(client, server.port) == "hi")
            }
        }
    }

    @Test("After a withdrawal the next WebSocket is refused")
    func withdrawn() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            let client = WebSocketClient(trust: TrustDomain(bench.trust), withoutCaller: .person)
            try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.greeting) { server in
                try await bench.pin(all.selfSigned, port: server.port)
                #expect(try await greet(client, server.port) == "hi")
                #expect(try await bench.pins.remove(ServerAddress(host: "127.0.0.1", port: server.port)))
                let problem = await failure { _ = try await greet(client, server.port) }
                #expect(problem?.code == "auth.certificate-unknown")
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test("Warnings about a pinned certificate are shown")
    func told() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            let client = WebSocketClient(trust: TrustDomain(bench.trust), withoutCaller: .person)
            try await ScriptedServer.run(tls: ScriptedTLS(all.expiredSelfSigned), Self.greeting) { server in
                try await bench.pin(all.expiredSelfSigned, port: server.port)
                try await bench.asAction { for _ in 0..<2 { _ = try await greet(client, server.port) } }
                #expect(
                    bench.notices == [
                        "the certificate of 127.0.0.1:\(server.port) is trusted although it has expired"
                    ])
            }
        }
    }
}

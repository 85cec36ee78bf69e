import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Trust questions of requests", .timeLimit(.minutes(5)))
struct SettleTests {
    private static let script: ScriptedServer.Script = { connection in
        while true {
            let request = try connection.receiveRequest()
            try connection.answer(200, [:], "\(request.method) \(String(decoding: request.body, as: UTF8.self))")
        }
    }

    @Test("A refused request asks in its own task and is sent once more with its body")
    func yes() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let request = try Lab.request(
                    server.port, method: .post, scheme: "https", body: .bytes(Array("body".utf8)))
                let answer = try await Trustee.$person.withValue("anna") { try await client.send(request) }
                #expect(answer.text == "POST body")
                #expect(trustee.asked == ["127.0.0.1:\(server.port)"] && trustee.askers == ["anna"])
                #expect(server.record.connections.map(\.requests.count) == [0, 1])
                // An accepted certificate is not asked about again.
                _ = try await client.send(request)
                #expect(trustee.asked.count == 1 && server.record.requests.count == 2)
            }
        }
    }

    @Test("A refused request also asks when its response is streamed")
    func stream() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let exchange = try await client.open(try Lab.request(server.port, scheme: "https"))
                let body = try await exchange.collect(limit: 100)
                #expect(body == Array("GET ".utf8) && trustee.asked.count == 1)
            }
        }
    }

    @Test("An error from the question fails the request, and the server receives nothing")
    func no() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee { _ in throw Refusal() }
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let request = try Lab.request(server.port, scheme: "https")
                await #expect(throws: Refusal()) { try await client.send(request) }
                let record = try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
                #expect(record.bytesReceived == 0)
            }
        }
    }

    @Test("An answer that changes nothing is not asked for again")
    func unchanged() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee { _ in false }
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                var request = try Lab.request(server.port, scheme: "https")
                request.retry = .standard
                let error = await Lab.failure { _ = try await client.send(request) }
                #expect(error?.kind == .certificate && error?.message == "not accepted")
                #expect(trustee.asked.count == 1 && trustee.judged == 2)
                #expect(server.record.bytesReceived == 0)
            }
        }
    }

    @Test("A trusted server and a server that fails for another reason cause no question")
    func others() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await Lab.client(try trustee.configuration()) { client in
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
                _ = try await client.send(try Lab.request(server.port, scheme: "https"))
            }
            try await RefusingPort.run { port in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(port, scheme: "https")) }
                #expect(error?.kind == .refused)
            }
            #expect(trustee.asked.isEmpty)
        }
    }

    @Test("A redirect to another unknown server asks about that server too")
    func redirect() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.otherSelfSigned), Self.script) { target in
            try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned)) { connection in
                try connection.receiveRequest()
                try connection.answer(302, ["Location": "https://127.0.0.1:\(target.port)/"])
            } during: { server in
                try await Lab.client(try trustee.configuration()) { client in
                    let answer = try await client.send(try Lab.request(server.port, scheme: "https"))
                    #expect(answer.text == "GET ")
                    #expect(trustee.asked == ["127.0.0.1:\(server.port)", "127.0.0.1:\(target.port)"])
                }
            }
        }
    }

    @Test("A body that can be read only once is not sent again, and the request fails with the refusal")
    func streamedBody() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let parts = AsyncThrowingStream<[UInt8], any Error> { continuation in
                    continuation.yield(Array("once".utf8))
                    continuation.finish()
                }
                let request = try Lab.request(
                    server.port, method: .post, scheme: "https", body: .stream(length: 4, parts))
                let error = await Lab.failure { _ = try await client.send(request) }
                #expect(error?.kind == .certificate && trustee.asked.isEmpty)
                #expect(server.record.bytesReceived == 0)
            }
        }
    }

    @Test("A request that is cancelled during the question ends, and nothing is sent")
    func cancelled() async throws {
        let all = try TestCertificates.shared()
        let (stream, asked) = AsyncStream<Void>.makeStream()
        let trustee = Trustee { _ in
            asked.finish()
            for await _ in AsyncStream<Void>(unfolding: { await Self.never() }) {}
            try Task.checkCancellation()
            return true
        }
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let request = try Lab.request(server.port, scheme: "https")
                let task = Task { try await client.send(request).text }
                for await _ in stream {}
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(server.record.bytesReceived == 0)
            }
        }
    }

    /// Returns when the task is cancelled.
    private static func never() async -> Void? {
        let (stream, _) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        return nil
    }
}

import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Trust generations", .timeLimit(.minutes(5)))
struct GenerationTests {
    private static let script: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "hi")
        }
    }

    @Test("A connection is kept within a generation, which is checked before each request")
    func stays() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                for _ in 0..<5 { _ = try await client.send(try Lab.request(server.port, scheme: "https")) }
                #expect(server.record.connections.count == 1 && trustee.looks >= 5 && trustee.judged == 1)
            }
        }
    }

    @Test("The first request after a withdrawal opens a new connection, and its server is judged and refused")
    func withdrawn() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee { _ in throw Refusal() }
        trustee.accept(all.selfSigned.certificate.fingerprint)
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let request = try Lab.request(server.port, scheme: "https")
                for _ in 0..<2 { _ = try await client.send(request) }
                trustee.withdraw()
                await #expect(throws: Refusal()) { try await client.send(request) }
                let record = try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                #expect(record.connections.map(\.requests.count) == [2, 0])
            }
        }
    }

    @Test("A trusted server is judged again after a withdrawal, and requests to it continue")
    func good() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee()
        try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                for count in 1...3 {
                    _ = try await client.send(try Lab.request(server.port, scheme: "https"))
                    #expect(server.record.connections.count == count && trustee.judged == count)
                    trustee.withdraw()
                }
            }
        }
    }

    @Test("Concurrent requests after a withdrawal do not use an earlier connection")
    func storm() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee { _ in throw Refusal() }
        trustee.accept(all.selfSigned.certificate.fingerprint)
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try trustee.configuration()) { client in
                let request = try Lab.request(server.port, scheme: "https")
                func storm() async -> Int {
                    await withTaskGroup(of: Bool.self) { group in
                        for _ in 0..<20 {
                            group.addTask {
                                do { return try await client.send(request).text == "hi" } catch { return false }
                            }
                        }
                        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                    }
                }
                let before = await storm()
                let served = server.record.requests.count
                trustee.withdraw()
                let after = await storm()
                #expect(before == 20 && after == 0 && served == 20)
                #expect(server.record.requests.count == served)
            }
        }
    }

    @Test("Observations are reported after each response, in the task of the request")
    func told() async throws {
        let all = try TestCertificates.shared()
        let trustee = Trustee { _ in throw Refusal() }
        try await Lab.client(try trustee.configuration()) { client in
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
                for person in ["anna", "bert"] {
                    _ = try await Trustee.$person.withValue(person) {
                        try await client.send(try Lab.request(server.port, scheme: "https"))
                    }
                }
            }
            #expect(trustee.told == ["anna", "bert"])
        }
    }
}

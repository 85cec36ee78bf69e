import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

/// Decides as a pin store does: it accepts certificates that the system trusts, then a pinned one.
private final class Pins: Sendable {
    private let pin = Mutex<[UInt8]?>(nil)
    private let judged = Mutex(0)

    var count: Int { judged.withLock { $0 } }

    func set(_ fingerprint: [UInt8]?) { pin.withLock { $0 = fingerprint } }

    func judge(_ certificate: PresentedCertificate) -> TrustJudgement {
        judged.withLock { $0 += 1 }
        if certificate.defects.isEmpty { return .accepted }
        guard let pin = pin.withLock({ $0 }) else {
            return .refused(certificate.defects == [.wrongName] ? "hostMismatch" : "unknown")
        }
        return pin == certificate.fingerprint ? .accepted : .refused("changed")
    }
}

@Suite("Trust decisions of connections")
struct TrustTests {
    private static func configuration(_ pins: Pins) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.standalone
        let authority = try TestCertificates.shared().authority
        configuration.trust = TrustDomain(authorities: .bytes(Array(authority.chainPEM.utf8)), judge: pins.judge)
        return configuration
    }

    private static let script: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "hi")
        }
    }

    /// Rows: the certificate that the server presents, the pin, and the expected refusal.
    @Test(
        "A certificate and a pin together lead to the verdict of the table", .timeLimit(.minutes(5)),
        arguments: [
            ("good", nil, nil), ("selfSigned", nil, "unknown"), ("selfSigned", "selfSigned", nil),
            ("otherSelfSigned", "selfSigned", "changed"), ("wrongName", nil, "hostMismatch"),
            ("nameOnly", nil, "hostMismatch"), ("expiredSelfSigned", nil, "unknown"),
            ("wrongNameSelfSigned", "wrongNameSelfSigned", nil), ("expiredSelfSigned", "expiredSelfSigned", nil),
            ("good", "selfSigned", nil),
        ] as [(String, String?, String?)])
    func table(_ shown: String, _ pinned: String?, _ refusal: String?) async throws {
        let all = try TestCertificates.shared()
        let named = [
            "good": all.good, "selfSigned": all.selfSigned, "otherSelfSigned": all.otherSelfSigned,
            "wrongName": all.wrongName, "nameOnly": all.nameOnly, "expiredSelfSigned": all.expiredSelfSigned,
            "wrongNameSelfSigned": all.wrongNameSelfSigned,
        ]
        let pins = Pins()
        pins.set(pinned.flatMap { named[$0]?.certificate.fingerprint })
        try await ScriptedServer.run(tls: ScriptedTLS(try #require(named[shown])), Self.script) { server in
            try await Lab.client(try Self.configuration(pins)) { client in
                let request = try Lab.request(server.port, scheme: "https")
                if let refusal {
                    let error = await Lab.failure { _ = try await client.send(request) }
                    #expect(
                        error?.kind == .certificate && error?.message.contains(refusal) == true,
                        "\(error?.message ?? "")")
                    #expect(error?.certificate?.fingerprint == named[shown]?.certificate.fingerprint)
                    let record = try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
                    #expect(record.bytesReceived == 0)
                } else {
                    for _ in 0..<3 {
                        let answer = try await client.send(request)
                        #expect(answer.text == "hi")
                    }
                    #expect(server.record.connections.count == 1)
                }
                #expect(pins.count == 1)
            }
        }
    }

    @Test("A live connection is not reused after its pin was withdrawn", .timeLimit(.minutes(5)))
    func liveConnection() async throws {
        let all = try TestCertificates.shared()
        let pins = Pins()
        pins.set(all.selfSigned.certificate.fingerprint)
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try Self.configuration(pins)) { client in
                let request = try Lab.request(server.port, scheme: "https")
                for _ in 0..<2 { _ = try await client.send(request) }
                #expect(server.record.connections.count == 1 && pins.count == 1)
                pins.set(nil)
                client.trustChanged()
                let error = await Lab.failure { _ = try await client.send(request) }
                #expect(error?.kind == .certificate && pins.count == 2)
                #expect(server.record.requests.count == 2)
                // The old pool is idle now, so it closes its connection.
                try await server.until { $0.openNow == 0 }
            }
        }
    }

    @Test("Two clients with different trust do not share a connection", .timeLimit(.minutes(5)))
    func otherClient() async throws {
        let all = try TestCertificates.shared()
        let (pins, none) = (Pins(), Pins())
        pins.set(all.selfSigned.certificate.fingerprint)
        try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
            try await Lab.client(try Self.configuration(pins)) { trusting in
                try await Lab.client(try Self.configuration(none)) { doubting in
                    let request = try Lab.request(server.port, scheme: "https")
                    for _ in 0..<3 {
                        _ = try await trusting.send(request)
                        let error = await Lab.failure { _ = try await doubting.send(request) }
                        #expect(error?.kind == .certificate)
                    }
                    #expect(none.count == 3 && pins.count == 1 && server.record.requests.count == 3)
                }
            }
        }
    }

    @Test(
        "A server is judged on each connection, even one that offers to resume a session", .timeLimit(.minutes(5)),
        arguments: ["-tls1_2", "-tls1_3"])
    func session(_ version: String) async throws {
        let all = try TestCertificates.shared()
        let pins = Pins()
        pins.set(all.selfSigned.certificate.fingerprint)
        // This server closes after each response and offers to resume sessions.
        try await OpenSSLServer.run(all.selfSigned, [version]) { port in
            try await Lab.client(try Self.configuration(pins)) { client in
                let request = try Lab.request(port, scheme: "https")
                for count in 1...3 {
                    let answer = try await client.send(request)
                    #expect(pins.count == count)
                    #expect(!answer.text.contains("Reused, TLS"))
                    #expect(answer.text.contains("New, TLS"))
                }
                pins.set(nil)
                let error = await Lab.failure { _ = try await client.send(request) }
                #expect(error?.kind == .certificate && pins.count == 4)
            }
        }
    }

    @Test("A pin also applies when its server is requested under another name", .timeLimit(.minutes(5)))
    func otherName() async throws {
        let all = try TestCertificates.shared()
        let pins = Pins()
        pins.set(all.wrongNameSelfSigned.certificate.fingerprint)
        try await ScriptedServer.run(tls: ScriptedTLS(all.wrongNameSelfSigned), Self.script) { server in
            try await Lab.client(try Self.configuration(pins)) { client in
                for host in ["127.0.0.1", "localhost"] {
                    let answer = try await client.send(try Lab.request(server.port, scheme: "https", host: host))
                    #expect(answer.text == "hi")
                }
                #expect(pins.count == 2)
            }
        }
    }

    @Test("A redirect to another host is judged under that host's name", .timeLimit(.minutes(5)))
    func redirect() async throws {
        let all = try TestCertificates.shared()
        let seen = Mutex<[String]>([])
        var configuration = try Lab.trusting()
        configuration.trust.judge = { certificate in
            seen.withLock { $0.append("\(certificate.host):\(certificate.port)") }
            return certificate.defects.isEmpty ? .accepted : .refused("refused \(certificate.host)")
        }
        try await ScriptedServer.run(tls: ScriptedTLS(all.nameOnly), Self.script) { other in
            try await ScriptedServer.run(tls: ScriptedTLS(all.good)) { connection in
                while true {
                    let host = try connection.receiveRequest().target.dropFirst()
                    try connection.answer(302, ["Location": "https://\(host):\(other.port)/"])
                }
            } during: { server in
                try await Lab.client(configuration) { client in
                    let answer = try await client.send(try Lab.request(server.port, "/localhost", scheme: "https"))
                    #expect(answer.text == "hi")
                    let error = await Lab.failure {
                        _ = try await client.send(try Lab.request(server.port, "/127.0.0.1", scheme: "https"))
                    }
                    #expect(error?.kind == .certificate && error?.message.contains("refused 127.0.0.1") == true)
                    #expect(
                        seen.withLock { $0 } == [
                            "127.0.0.1:\(server.port)", "localhost:\(other.port)", "127.0.0.1:\(other.port)",
                        ])
                    #expect(other.record.requests.count == 1)
                }
            }
        }
    }

    @Test("Running requests finish after a trust change, and later ones are judged again", .timeLimit(.minutes(5)))
    func running() async throws {
        let all = try TestCertificates.shared()
        let pins = Pins()
        try await ScriptedServer.run(tls: ScriptedTLS(all.good)) { connection in
            try connection.receiveRequest()
            if connection.number == 0 {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
                // The pause lets the other connection be served before the second half is sent.
                try connection.pause(.milliseconds(300))
                try connection.send("-last")
            } else {
                try connection.answer(200, [:], "new")
            }
        } during: { server in
            try await Lab.client(try Self.configuration(pins)) { client in
                let request = try Lab.request(server.port, scheme: "https")
                let exchange = try await client.open(request)
                client.trustChanged()
                let answer = try await client.send(request)
                #expect(answer.text == "new" && pins.count == 2)
                let body = try await exchange.collect(limit: 100)
                #expect(body == Array("first-last".utf8))
            }
        }
    }
}

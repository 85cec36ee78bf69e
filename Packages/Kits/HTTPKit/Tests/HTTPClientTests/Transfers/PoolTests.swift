import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Connection pool")
struct PoolTests {
    /// Responds to every request with its target.
    private static let echo: ScriptedServer.Script = { connection in
        while true {
            let request = try connection.receiveHead()
            try connection.answer(200, [:], request.target)
        }
    }

    @Test("500 sequential requests use one connection", .timeLimit(.minutes(5)))
    func reuse() async throws {
        try await ScriptedServer.run(Self.echo) { server in
            try await Lab.client { client in
                for number in 0..<500 {
                    let answer = try await client.send(try Lab.request(server.port, "/\(number)"))
                    #expect(answer.text == "/\(number)")
                    #expect(answer.isReused == (number > 0))
                }
                #expect(server.record.connections.count == 1)
            }
        }
    }

    /// Runs so many servers for the length of `body`.
    private static func servers(
        _ count: Int, _ others: [ScriptedServer] = [],
        _ body: @escaping @Sendable ([ScriptedServer]) async throws -> Void
    ) async throws {
        guard others.count < count else { return try await body(others) }
        try await ScriptedServer.run(echo) { try await servers(count, others + [$0], body) }
    }

    @Test("The connections to many servers that are asked in turn are kept", .timeLimit(.minutes(1)))
    func manyServers() async throws {
        try await Self.servers(6) { servers in
            try await Lab.client { client in
                for round in 0..<3 {
                    for server in servers {
                        let answer = try await client.send(try Lab.request(server.port, "/"))
                        #expect(answer.isReused == (round > 0))
                    }
                }
            }
        }
    }

    @Test(
        "90 concurrent requests over HTTP/2 use one connection, and cancelling one stream stops only that stream",
        .timeLimit(.minutes(5)))
    func multiplex() async throws {
        let certificates = try TestCertificates.shared()
        try await Nginx.run(tls: certificates.good) { nginx in
            try await Lab.trustingClient { client in
                let base = "https://127.0.0.1:\(nginx.tlsPort)"
                let stopped = try await client.open(HTTPRequest(.get, try HTTPURL("\(base)/large")))
                #expect(stopped.version == .http2 && !stopped.isReused)
                let url = try HTTPURL("\(base)/hello")
                try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                    for _ in 0..<90 { group.addTask { try await client.send(HTTPRequest(.get, url)) } }
                    for try await answer in group {
                        #expect(answer.text == "hello" && answer.version == .http2 && answer.isReused)
                    }
                }
                var body = stopped.body.makeAsyncIterator()
                var count = 0
                while count < 128 << 20 { count += try await body.next()?.count ?? 0 }
                #expect(count >= 128 << 20)
            }
        }
    }

    @Test("A trust change drops the connections while running requests continue", .timeLimit(.minutes(5)))
    func generations() async throws {
        try await ScriptedServer.run { connection in
            let request = try connection.receiveHead()
            guard request.target == "/long" else { return try connection.answer(200, [:], "short") }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
            try connection.receive(1)
        } during: { server in
            try await Lab.client { client in
                let long = try await client.open(try Lab.request(server.port, "/long"))
                for _ in 0..<3 {
                    client.trustChanged()
                    let answer = try await client.send(try Lab.request(server.port))
                    #expect(!answer.isReused)
                }
                var body = long.body.makeAsyncIterator()
                #expect(try await body.next() == Array("ha".utf8))
                long.cancel()
                try await server.until { $0.connections.first?.isOpen == false }
            }
        }
    }

    // MARK: The three holes that trust can have with libcurl.

    /// Trusts one fingerprint, which can be withdrawn.
    private final class Pins: Sendable {
        private let pin: Mutex<[UInt8]?>
        private let asked = Mutex(0)

        init(_ pin: [UInt8]?) { self.pin = Mutex(pin) }

        var timesAsked: Int { asked.withLock { $0 } }

        func withdraw() { pin.withLock { $0 = nil } }

        func judge(_ certificate: PresentedCertificate) -> TrustJudgement {
            asked.withLock { $0 += 1 }
            return certificate.fingerprint == pin.withLock { $0 } ? .accepted : .refused("not the pinned one")
        }
    }

    private func client(_ pins: Pins) -> HTTPClient {
        var configuration = HTTPClient.Configuration.standalone
        configuration.trust = TrustDomain(judge: pins.judge)
        return HTTPClient(configuration)
    }

    @Test("A connection made under a pin is not reused after the pin was withdrawn", .timeLimit(.minutes(5)))
    func liveConnection() async throws {
        let identity = try TestCertificates.shared().selfSigned
        try await ScriptedServer.run(tls: try ScriptedTLS(identity), Self.echo) { server in
            let pins = Pins(identity.certificate.fingerprint)
            let client = client(pins)
            for number in 0..<2 {
                let answer = try await client.send(try Lab.request(server.port, scheme: "https"))
                #expect(answer.status == .ok && answer.isReused == (number == 1))
            }
            #expect(pins.timesAsked == 1)
            pins.withdraw()
            client.trustChanged()
            let error = await Lab.failure { _ = try await client.send(try Lab.request(server.port, scheme: "https")) }
            #expect(error?.kind == .certificate && error?.message == "not the pinned one")
            #expect(
                error?.mayHaveBeenSent == false && error?.certificate?.fingerprint == identity.certificate.fingerprint)
            #expect(server.record.requests.count == 2)
            await client.close()
        }
    }

    @Test("A server must present its certificate again despite an earlier session", .timeLimit(.minutes(5)))
    func sessions() async throws {
        let certificates = try TestCertificates.shared()
        // nginx offers session resumption and tickets; each request opens a new connection.
        try await Nginx.run(tls: certificates.selfSigned) { nginx in
            let pins = Pins(certificates.selfSigned.certificate.fingerprint)
            let client = client(pins)
            for number in 1...3 {
                _ = try await client.send(try Lab.request(nginx.tlsPort, "/hello", scheme: "https"))
                #expect(pins.timesAsked == number)
                client.trustChanged()
            }
            pins.withdraw()
            let error = await Lab.failure {
                _ = try await client.send(try Lab.request(nginx.tlsPort, "/hello", scheme: "https"))
            }
            #expect(error?.kind == .certificate)
            await client.close()
        }
    }

    @Test(
        "Hole 3: a pinned certificate with another name is accepted, because the pin covers the certificate",
        .timeLimit(.minutes(5)))
    func otherName() async throws {
        let identity = try TestCertificates.shared().wrongNameSelfSigned
        try await ScriptedServer.run(tls: try ScriptedTLS(identity), Self.echo) { server in
            let client = client(Pins(identity.certificate.fingerprint))
            let answer = try await client.send(try Lab.request(server.port, "/x", scheme: "https"))
            #expect(answer.text == "/x")
            await client.close()
        }
    }

    @Test("Two clients with different trust do not share a connection", .timeLimit(.minutes(5)))
    func domains() async throws {
        let identity = try TestCertificates.shared().selfSigned
        try await ScriptedServer.run(tls: try ScriptedTLS(identity), Self.echo) { server in
            let trusting = client(Pins(identity.certificate.fingerprint))
            let doubting = client(Pins(nil))
            _ = try await trusting.send(try Lab.request(server.port, scheme: "https"))
            let error = await Lab.failure { _ = try await doubting.send(try Lab.request(server.port, scheme: "https")) }
            #expect(error?.kind == .certificate)
            await trusting.close()
            await doubting.close()
        }
    }
}

import AuthTrust
import Capabilities
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import ProcessKit
import StorageKit
import Testing

@Suite("Trust withdrawal", .timeLimit(.minutes(5)))
struct WithdrawalTests {
    /// The ways to withdraw a pin.
    enum Hand: String, CaseIterable {
        case sameStore, otherHandle, otherProcess, otherCertificate
    }

    private func withdraw(_ hand: Hand, _ bench: Bench, _ port: Int) async throws {
        let server = ServerAddress(host: "127.0.0.1", port: port)
        switch hand {
        case .sameStore: #expect(try await bench.pins.remove(server))
        case .otherHandle:
            let database = Bench.database(bench.folder)
            #expect(try await PinStore(database: database).remove(server))
            await database.close()
        case .otherProcess:
            let sql = "DELETE FROM pins; UPDATE withdrawals SET count = count + 1"
            let done = try await Launcher.standalone.run(
                Command("sqlite3", [bench.path, sql], environment: ["PATH": "/usr/bin:/bin"]),
                timeout: .seconds(20))
            #expect(done.status == .exited(0))
        case .otherCertificate: try await bench.pin(TestCertificates.shared().otherSelfSigned, port: port)
        }
    }

    @Test("The old connection is closed and gets no request", arguments: Hand.allCases)
    func liveConnection(_ hand: Hand) async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                try await bench.pin(all.selfSigned, port: server.port)
                for _ in 0..<3 { _ = try await bench.get(server.port) }
                #expect(server.record.connections.count == 1)
                try await withdraw(hand, bench, server.port)
                let problem = await failure { _ = try await bench.get(server.port) }
                let isChanged = hand == .otherCertificate
                #expect(problem?.code == (isChanged ? "auth.certificate-changed" : "auth.certificate-unknown"))
                let record = try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                #expect(record.connections.map(\.requests.count) == [3, 0])
                #expect(record.connections[1].bytesReceived == 0)
            }
        }
    }

    @Test("A running request is finished, and later ones are refused")
    func running() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned)) { connection in
                try connection.receiveRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
                try connection.receiveRequest()
            } during: { server in
                try await bench.pin(all.selfSigned, port: server.port)
                let exchange = try await bench.client.open(Bench.request(server.port))
                #expect(try await bench.pins.remove(ServerAddress(host: "127.0.0.1", port: server.port)))
                let problem = await failure { _ = try await bench.get(server.port) }
                #expect(problem?.code == "auth.certificate-unknown")
                // The stream is unchanged: its server has sent no more and keeps it open.
                #expect(server.record.connections.first?.isOpen == true)
                #expect(exchange.status == .ok)
                exchange.cancel()
                try await server.until { $0.openNow == 0 }
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test("A new pin for another server keeps the connections")
    func unrelated() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                try await bench.pin(all.selfSigned, port: server.port)
                _ = try await bench.get(server.port)
                let before = bench.trust.generation
                try await bench.pin(all.good, host: "other.example", port: 443)
                #expect(try await !bench.pins.remove(ServerAddress(host: "none.example", port: 443)))
                _ = try await bench.get(server.port)
                #expect(bench.trust.generation == before && server.record.connections.count == 1)
            }
        }
    }

    @Test("A pin that is restored after a withdrawal counts again, on a new connection")
    func givenBack() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                for count in 1...3 {
                    try await bench.pin(all.selfSigned, port: server.port)
                    _ = try await bench.get(server.port)
                    #expect(server.record.connections.count == count)
                    try await withdraw(.otherHandle, bench, server.port)
                }
            }
        }
    }

    @Test("Unreadable pins accept nothing, and the old connection is not used")
    func unreadable() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                try await bench.pin(all.selfSigned, port: server.port)
                _ = try await bench.get(server.port)
                await bench.database.close()
                #expect(bench.trust.generation == -1)
                let problem = await failure { _ = try await bench.get(server.port) }
                #expect(problem != nil)
                let shown = PresentedCertificate.of(all.selfSigned, port: server.port, [.selfSigned])
                guard case .refused(let words) = bench.trust.judge(shown) else {
                    Issue.record("it was accepted")
                    return
                }
                #expect(words.hasPrefix("the pinned certificates cannot be read: "))
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test("Servers that the system trusts do not create the database")
    func nothingOpened() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.good) { server in
                for _ in 0..<3 { _ = try await bench.asAction { try await bench.get(server.port) } }
                #expect(server.record.connections.count == 1)
            }
            #expect(bench.trust.generation == 0)
            #expect(!Files.exists(bench.path))
            #expect(try Files.list(bench.folder).map(\.name).sorted() == ["authority.key", "authority.pem"])
        }
    }
}

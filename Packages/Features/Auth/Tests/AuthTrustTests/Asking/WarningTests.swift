import AuthTrust
import Capabilities
import Cryptography
import HTTPClient
import HTTPTesting
import Testing

@Suite("Warnings about a pinned certificate", .timeLimit(.minutes(5)))
struct WarningTests {
    @Test("Each server is reported once, for any number of requests and clients")
    func once() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.expired) { old in
                try await Servers.run(all.wrongName) { other in
                    try await bench.pin(all.expired, port: old.port)
                    try await bench.pin(all.wrongName, port: other.port)
                    try await bench.asAction {
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for port in Array(repeating: [old.port, other.port], count: 10).joined() {
                                group.addTask { _ = try await bench.get(port) }
                            }
                            try await group.waitForAll()
                        }
                        // This is another client of the same store.
                        let client = HTTPClient(Bench.configuration(bench.trust))
                        _ = try await client.send(Bench.request(old.port))
                        await client.close()
                    }
                    #expect(
                        bench.notices.sorted()
                            == [
                                "the certificate of 127.0.0.1:\(old.port) is trusted although it has expired",
                                "the certificate of 127.0.0.1:\(other.port) is trusted although it was issued for "
                                    + "another name",
                            ].sorted())
                }
            }
        }
    }

    @Test("A warning from outside an action is shown in the next one")
    func later() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.expired) { server in
                try await bench.pin(all.expired, port: server.port)
                _ = try await bench.get(server.port)
                #expect(bench.notices.isEmpty)
                try await bench.asAction { _ = try await bench.get(server.port) }
                #expect(bench.notices.count == 1)
            }
        }
    }

    @Test("Two warnings share one sentence, and what the pin covers is not a warning")
    func both() async throws {
        let all = try TestCertificates.shared()
        var draft = CertificateDraft(
            commonName: "old", notBefore: all.expired.certificate.notBefore, notAfter: all.expired.certificate.notAfter)
        draft.names = ["elsewhere.example"]
        let identity = try draft.selfSigned()
        try await Bench.run { bench in
            try await Servers.run(identity) { server in
                try await bench.pin(identity, port: server.port)
                try await bench.asAction { _ = try await bench.get(server.port) }
                let notice = try #require(bench.notices.first)
                #expect(notice.contains("it has expired") && notice.contains("it was issued for another name"))
                #expect(notice.contains(", and ") && !notice.contains("self-signed"))
            }
        }
    }
}

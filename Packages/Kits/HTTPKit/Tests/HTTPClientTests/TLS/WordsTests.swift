import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("TLS error messages")
struct WordsTests {
    @Test("A server that speaks plain http at an https address is reported", .timeLimit(.minutes(5)))
    func plain() async throws {
        try await ScriptedServer.run { connection in
            _ = try connection.receiveAny()
            try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        } during: { server in
            try await Lab.trustingClient { client in
                let error = await Lab.failure {
                    _ = try await client.send(try Lab.request(server.port, scheme: "https"))
                }
                #expect(error?.kind == .tls && error?.mayHaveBeenSent == false)
                #expect(error?.message.contains("it may use http: check the URL") == true, "\(error?.message ?? "")")
                #expect(error?.message.contains("OpenSSL") == false)
            }
        }
    }

    @Test("A TLS version that is too old is reported", .timeLimit(.minutes(5)))
    func old() async throws {
        let options = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
        try await OpenSSLServer.run(try TestCertificates.shared().good, options) { port in
            try await Lab.trustingClient { client in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(port, scheme: "https")) }
                #expect(error?.kind == .tls)
                #expect(error?.message.contains("TLS is too old") == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test("A required client certificate is reported", .timeLimit(.minutes(5)), arguments: ["-tls1_3", "-tls1_2"])
    func wanted(_ version: String) async throws {
        try await OpenSSLServer.run(try TestCertificates.shared().good, ["-Verify", "1", version]) { port in
            try await Lab.trustingClient { client in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(port, scheme: "https")) }
                #expect(error?.kind == .tls)
                #expect(error?.message.contains("auth.certificate") == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test("Damaged or mismatched certificate files are reported as a usage error", .timeLimit(.minutes(5)))
    func files() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let own = try all.client.write(into: folder, as: "own")
            let other = try all.good.write(into: folder, as: "other")
            let nonsense = "\(folder)/nonsense"
            try Files.writeAtomically(Array("no PEM\n".utf8), to: nonsense)
            try await OpenSSLServer.run(all.good) { port in
                for (certificate, key) in [(own.chain, other.key), (nonsense, own.key), (own.chain, nonsense)] {
                    var configuration = try Lab.trusting()
                    configuration.trust.identity = ClientIdentity(certificate: certificate, key: key)
                    try await Lab.client(configuration) { client in
                        let error = await Lab.failure {
                            _ = try await client.send(try Lab.request(port, scheme: "https"))
                        }
                        #expect(error?.exit == .usage && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
                        #expect(error?.message.contains("auth.certificate") == true, "\(error?.message ?? "")")
                    }
                }
                var configuration = HTTPClient.Configuration.standalone
                configuration.trust = TrustDomain(authorities: .file(nonsense))
                try await Lab.client(configuration) { client in
                    let error = await Lab.failure { _ = try await client.send(try Lab.request(port, scheme: "https")) }
                    #expect(error?.exit == .usage, "\(error?.message ?? "")")
                    #expect(error?.message.contains("no PEM certificate") == true, "\(error?.message ?? "")")
                }
            }
        }
    }
}

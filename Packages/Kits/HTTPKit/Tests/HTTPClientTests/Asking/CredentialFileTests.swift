import Capabilities
import CoreTesting
import Cryptography
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import ProcessKit
import Testing

@Suite("Certificate files", .timeLimit(.minutes(5)))
struct CredentialFileTests {
    private static let script: ScriptedServer.Script = { connection in
        try connection.receiveRequest()
        try connection.answer(200, [:], "hi")
    }

    private func configuration(
        _ authorities: TrustDomain.Authorities, _ identity: ClientIdentity? = nil
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.standalone
        configuration.trust = TrustDomain(authorities: authorities, identity: identity)
        return configuration
    }

    private func answer(_ port: Int, _ configuration: HTTPClient.Configuration) async throws -> String {
        try await Lab.client(configuration) { client in
            try await client.send(try Lab.request(port, scheme: "https")).text
        }
    }

    @Test("An authority from a file is trusted, alone, among others or beside the system's authorities")
    func authorities() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let file = try all.authority.write(into: folder, as: "authority").chain
            let other = try all.unknownIssuer.write(into: folder, as: "other").chain
            let both = "\(folder)/both.pem"
            try Files.writeAtomically(
                Array("# two of them\n\(all.selfSigned.chainPEM)\n\(all.authority.chainPEM)".utf8), to: both)
            try await ScriptedServer.run(tls: ScriptedTLS(all.viaIntermediate), Self.script) { server in
                for authorities in [
                    TrustDomain.Authorities.systemAnd(file: file), .file(file), .systemAnd(file: both), .file(both),
                ] {
                    let text = try await answer(server.port, configuration(authorities))
                    #expect(text == "hi")
                }
                for authorities in [TrustDomain.Authorities.system, .systemAnd(file: other), .file(other)] {
                    let error = await Lab.failure { _ = try await answer(server.port, configuration(authorities)) }
                    #expect(error?.kind == .certificate && error?.certificate?.defects == [.unknownIssuer])
                }
                #expect(server.record.requests.count == 4)
            }
        }
    }

    @Test("A self-signed certificate given as an authority is trusted")
    func itself() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let file = try all.selfSigned.write(into: folder, as: "server").chain
            try await ScriptedServer.run(tls: ScriptedTLS(all.selfSigned), Self.script) { server in
                let text = try await answer(server.port, configuration(.file(file)))
                #expect(text == "hi")
            }
        }
    }

    @Test("Missing files and files that are not PEM are reported before anything is sent")
    func broken() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let file = try all.authority.write(into: folder, as: "authority").chain
            let client = try all.client.write(into: folder, as: "client")
            let nonsense = "\(folder)/nonsense.pem"
            try Files.writeAtomically(Array("no certificate".utf8), to: nonsense)
            let missing = "\(folder)/missing.pem"
            let rows: [(HTTPClient.Configuration, HTTPError.Kind, String)] = [
                (configuration(.file(missing)), .invalid, missing),
                (configuration(.systemAnd(file: missing)), .invalid, missing),
                (configuration(.file(nonsense)), .invalid, "PEM"),
                (configuration(.file(file), ClientIdentity(certificate: missing, key: client.key)), .invalid, missing),
                (
                    configuration(.file(file), ClientIdentity(certificate: client.chain, key: missing)), .invalid,
                    missing
                ),
                (configuration(.file(file), ClientIdentity(certificate: nonsense, key: client.key)), .invalid, "PEM"),
                (configuration(.file(file), ClientIdentity(certificate: client.chain, key: nonsense)), .invalid, "PEM"),
                // The key belongs to another certificate.
                (configuration(.file(file), ClientIdentity(certificate: file, key: client.key)), .invalid, "PEM"),
            ]
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
                for (configuration, kind, words) in rows {
                    let error = await Lab.failure { _ = try await answer(server.port, configuration) }
                    #expect(error?.kind == kind, "\(error?.message ?? "")")
                    #expect(words.isEmpty || error?.message.contains(words) == true)
                    #expect(error?.mayHaveBeenSent == false)
                }
                #expect(server.record.requests.isEmpty)
            }
        }
    }

    @Test("An encrypted key opens with its passphrase, and a missing passphrase does not cause a prompt")
    func encryptedKey() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let files = try all.client.write(into: folder, as: "client")
            let encrypted = "\(folder)/encrypted.key"
            let made = try await Launcher.standalone.run(
                Command(
                    "openssl",
                    ["pkey", "-in", files.key, "-aes256", "-passout", "pass:correct horse", "-out", encrypted],
                    environment: ["PATH": "/usr/bin:/bin"]), timeout: .seconds(30))
            try #require(made.status == .exited(0))
            let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
            try await ScriptedServer.run(tls: tls, Self.script) { server in
                func configuration(_ passphrase: String?) throws -> HTTPClient.Configuration {
                    var configuration = try Lab.trusting()
                    configuration.trust.identity = ClientIdentity(
                        certificate: files.chain, key: encrypted, passphrase: passphrase.map { Secret($0) })
                    return configuration
                }
                for passphrase in [nil, "", "wrong", "correct"] {
                    let error = await Lab.failure { _ = try await answer(server.port, configuration(passphrase)) }
                    #expect(error?.kind == .invalid && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
                    #expect(error?.message.contains("correct") == false)
                }
                let text = try await answer(server.port, configuration("correct horse"))
                #expect(text == "hi" && server.record.requests.count == 1)
            }
        }
    }
}

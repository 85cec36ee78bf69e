import Capabilities
import CoreTesting
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Certificate defects")
struct DefectTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let identity: @Sendable (TestCertificates) -> Identity
        var host = "127.0.0.1"
        let defects: Set<CertificateDefect>
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "good, by address", identity: { $0.good }, defects: []),
        Row(name: "good, by name", identity: { $0.good }, host: "localhost", defects: []),
        Row(name: "via an intermediate", identity: { $0.viaIntermediate }, defects: []),
        Row(name: "self-signed", identity: { $0.selfSigned }, defects: [.selfSigned]),
        Row(name: "unknown issuer", identity: { $0.unknownIssuer }, defects: [.unknownIssuer]),
        Row(name: "missing intermediate", identity: { $0.missingIntermediate }, defects: [.unknownIssuer]),
        Row(name: "wrong name", identity: { $0.wrongName }, defects: [.wrongName]),
        Row(name: "a name and not the address", identity: { $0.nameOnly }, defects: [.wrongName]),
        Row(name: "the name", identity: { $0.nameOnly }, host: "localhost", defects: []),
        Row(name: "expired", identity: { $0.expired }, defects: [.expired]),
        Row(name: "expired intermediate", identity: { $0.viaExpiredIntermediate }, defects: [.expired]),
        Row(name: "not yet valid", identity: { $0.notYetValid }, defects: [.notYetValid]),
        Row(name: "expired and self-signed", identity: { $0.expiredSelfSigned }, defects: [.selfSigned, .expired]),
        Row(
            name: "wrong name and self-signed", identity: { $0.wrongNameSelfSigned },
            defects: [.selfSigned, .wrongName]),
    ]

    @Test("Each certificate is reported with exactly its defects", .timeLimit(.minutes(5)), arguments: rows)
    func defects(_ row: Row) async throws {
        let all = try TestCertificates.shared()
        let identity = row.identity(all)
        try await ScriptedServer.run(tls: ScriptedTLS(identity)) { connection in
            try connection.receiveRequest()
            try connection.answer(200, [:], "hi")
        } during: { server in
            try await Lab.trustingClient { client in
                let request = try Lab.request(server.port, scheme: "https", host: row.host)
                guard !row.defects.isEmpty else {
                    let answer = try await client.send(request)
                    return #expect(answer.text == "hi")
                }
                let error = try #require(await Lab.failure { _ = try await client.send(request) })
                #expect(error.kind == .certificate && error.exit == .denied && !error.mayHaveBeenSent)
                let certificate = try #require(error.certificate)
                #expect(Set(certificate.defects) == row.defects, "\(certificate.defects)")
                #expect(certificate.host == row.host && certificate.port == server.port)
                #expect(certificate.fingerprint == identity.certificate.fingerprint)
                #expect(certificate.keyFingerprint == identity.certificate.keyFingerprint)
                #expect(certificate.encoded == identity.certificate.encoded)
                #expect(
                    certificate.names.sorted()
                        == (identity.certificate.dnsNames + identity.certificate.addresses).sorted())
                #expect(certificate.notAfter == identity.certificate.notAfter)
                for defect in row.defects { #expect(error.message.contains(defect.description), "\(error.message)") }
                let record = try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
                #expect(record.requests.isEmpty && record.bytesReceived == 0)
            }
        }
    }

    @Test("A short key is reported as a separate defect", .timeLimit(.minutes(5)))
    func weakKey() async throws {
        let all = try TestCertificates.shared()
        try await OpenSSLServer.run(all.weakKey, ["-cipher", "DEFAULT:@SECLEVEL=0"]) { port in
            try await Lab.trustingClient { client in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(port, scheme: "https")) }
                #expect(error?.kind == .certificate, "\(error?.message ?? "")")
                #expect(
                    error?.certificate?.defects.contains(.weakKey(bits: 1024)) == true,
                    "\(error?.certificate?.defects ?? [])")
                #expect(error?.certificate?.defects.contains(.selfSigned) == false)
            }
        }
    }

    @Test("A server that offers only TLS 1.1 is refused", .timeLimit(.minutes(5)))
    func oldVersion() async throws {
        let all = try TestCertificates.shared()
        for (options, isOld) in [(["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], true), (["-tls1_2"], false)] {
            try await OpenSSLServer.run(all.good, options) { port in
                try await Lab.trustingClient { client in
                    let request = try Lab.request(port, scheme: "https")
                    guard isOld else {
                        let answer = try await client.send(request)
                        return #expect(answer.status == .ok)
                    }
                    let error = await Lab.failure { _ = try await client.send(request) }
                    #expect(error?.kind == .tls && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
                }
            }
        }
    }

    @Test("The system's authorities refuse our certificates, and a plain server fails TLS", .timeLimit(.minutes(5)))
    func strangers() async throws {
        let all = try TestCertificates.shared()
        try await ScriptedServer.run(tls: ScriptedTLS(all.good)) {
            try $0.receiveRequest()
        } during: { server in
            try await Lab.client { client in
                let error = await Lab.failure {
                    _ = try await client.send(try Lab.request(server.port, scheme: "https"))
                }
                #expect(error?.certificate?.defects == [.unknownIssuer], "\(error?.message ?? "")")
                #expect(server.record.bytesReceived == 0)
            }
        }
        try await ScriptedServer.run { connection in
            try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        } during: { server in
            try await Lab.trustingClient { client in
                let error = await Lab.failure {
                    _ = try await client.send(try Lab.request(server.port, scheme: "https"))
                }
                #expect(error?.kind == .tls, "\(error?.message ?? "")")
            }
        }
    }

    @Test("A client presents its certificate when the server demands one", .timeLimit(.minutes(5)))
    func clientCertificate() async throws {
        let all = try TestCertificates.shared()
        let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
        try await TemporaryDirectory.run { folder in
            let files = try all.client.write(into: folder, as: "client")
            let stranger = try all.selfSigned.write(into: folder, as: "stranger")
            try await ScriptedServer.run(tls: tls) { connection in
                try connection.receiveRequest()
                try connection.answer(200, [:], "you")
            } during: { server in
                let request = try Lab.request(server.port, scheme: "https")
                let rows = [(files, true), (stranger, false), (nil, false)] as [((chain: String, key: String)?, Bool)]
                for (identity, isLetIn) in rows {
                    var configuration = try Lab.trusting()
                    configuration.trust.identity = identity.map { ClientIdentity(certificate: $0.chain, key: $0.key) }
                    try await Lab.client(configuration) { client in
                        guard !isLetIn else {
                            let answer = try await client.send(request)
                            return #expect(answer.text == "you")
                        }
                        let error = await Lab.failure { _ = try await client.send(request) }
                        #expect([.tls, .reset, .cut].contains(error?.kind), "\(error?.message ?? "")")
                    }
                }
                let record = try await server.until { $0.connections.count == 3 && $0.openNow == 0 }
                #expect(record.requests.count == 1)
            }
        }
    }
}

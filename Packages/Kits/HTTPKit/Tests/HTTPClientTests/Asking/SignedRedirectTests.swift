import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Credentials after redirects")
struct SignedRedirectTests {
    /// Signs addresses below one path and refuses others.
    private final class Signer: Authenticator {
        struct Elsewhere: Error {}

        private let signed = Mutex<[String]>([])
        var addresses: [String] { signed.withLock { $0 } }

        func sign(_ request: inout RequestHead, for server: ServerID) async throws {
            let path = try HTTPURL(request.url).path
            signed.withLock { $0.append(path) }
            guard path.hasPrefix("/api/") else { throw Elsewhere() }
            request.headers.append(("Authorization", Secret("Bearer for \(path)")))
        }

        func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
    }

    private static func run(
        to location: @escaping @Sendable (Int) -> String,
        _ body: (HTTPClient, ScriptedServer, Signer) async throws -> Void
    ) async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                if request.target == "/api/first" {
                    let port = Int(request.headers["Host"]?.split(separator: ":").last ?? "") ?? 0
                    try connection.answer(307, ["Location": location(port)])
                } else {
                    try connection.answer(200, [:], "there")
                }
            }
        } during: { server in
            let signer = Signer()
            try await Lab.client { try await body($0, server, signer) }
        }
    }

    @Test("Each address on the same server is signed separately", .timeLimit(.minutes(5)), arguments: [true, false])
    func signed(_ isWhole: Bool) async throws {
        try await Self.run(to: { _ in "/api/second" }) { client, server, signer in
            let request = try Lab.request(server.port, "/api/first")
            let by = RequestSigner(signer, for: ServerID("lab"))
            if isWhole {
                #expect(try await client.send(request, signedBy: by).text == "there")
            } else {
                let exchange = try await client.open(request, signedBy: by)
                #expect(try await exchange.collect(limit: 100) == Array("there".utf8))
            }
            let sent = server.record.requests.map { $0.headers["Authorization"] }
            #expect(sent == ["Bearer for /api/first", "Bearer for /api/second"])
        }
    }

    @Test("An address on the same server for which the signer has no credential gets none", .timeLimit(.minutes(5)))
    func refused() async throws {
        try await Self.run(to: { _ in "/other" }) { client, server, signer in
            let request = try Lab.request(server.port, "/api/first")
            await #expect(throws: Signer.Elsewhere.self) {
                _ = try await client.send(request, signedBy: RequestSigner(signer, for: ServerID("lab")))
            }
            #expect(server.record.requests.map(\.target) == ["/api/first"])
        }
    }

    @Test("A redirect to another server is followed without a credential", .timeLimit(.minutes(5)))
    func foreign() async throws {
        try await Self.run(to: { "http://localhost:\($0)/other" }) { client, server, signer in
            let request = try Lab.request(server.port, "/api/first")
            let answer = try await client.send(request, signedBy: RequestSigner(signer, for: ServerID("lab")))
            #expect(answer.text == "there" && signer.addresses == ["/api/first"])
            #expect(server.record.requests.last?.headers["Authorization"] == nil)
        }
    }
}

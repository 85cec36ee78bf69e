import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Refused HTTP/2 streams")
struct RefusedStreamTests {
    private static func run(
        _ mode: String, _ body: (HTTPClient, PythonPeer) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let files = try TestCertificates.shared().good.write(into: folder, as: "server")
            try await PythonPeer.run(file: PythonPeer.path("http2.py"), [files.chain, files.key, mode]) { peer in
                try await Lab.trustingClient { try await body($0, peer) }
            }
        }
    }

    private static func post(_ peer: PythonPeer, _ text: String) throws -> HTTPRequest {
        var request = try Lab.request(peer.port, method: .post, scheme: "https", body: .text(text))
        request.retry = RetryPolicy(attempts: 2, base: .milliseconds(1))
        return request
    }

    @Test("A POST whose stream was refused is processed once", .timeLimit(.minutes(5)))
    func refused() async throws {
        try await Self.run("refuse") { client, peer in
            let answer = try await client.send(try Self.post(peer, "only once"))
            #expect(answer.text == "only once" && answer.version == .http2)
            #expect(try await peer.nextLine() == "only once")
        }
    }

    @Test("A POST after the server's GOAWAY is processed once, over a new connection", .timeLimit(.minutes(5)))
    func farewell() async throws {
        try await Self.run("goaway") { client, peer in
            let first = try await client.send(try Self.post(peer, "first"))
            #expect(first.text == "first")
            let second = try await client.send(try Self.post(peer, "second"))
            #expect(second.text == "second")
            #expect(try await peer.nextLine() == "first")
            #expect(try await peer.nextLine() == "second")
        }
    }

    @Test("A POST whose stream broke in another way is not retried", .timeLimit(.minutes(5)))
    func broken() async throws {
        try await Self.run("reset") { client, peer in
            let error = await Lab.failure { _ = try await client.send(try Self.post(peer, "perhaps")) }
            #expect(error?.kind == .reset && error?.mayHaveBeenSent == true, "\(error?.message ?? "")")
            // The next line belongs to the next request: the first was not sent again.
            _ = try await client.send(try Self.post(peer, "next"))
            #expect(try await peer.nextLine() == "next")
        }
    }
}

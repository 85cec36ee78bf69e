import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Truncated responses")
struct EarlyEndTests {
    /// The bytes that a server sends before it leaves, and the expected error.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let sent: String
        let kinds: [HTTPError.Kind]
        let words: String
        var testDescription: String { name }

        init(_ name: String, _ sent: String, _ kinds: [HTTPError.Kind], _ words: String) {
            self.name = name
            self.sent = sent
            self.kinds = kinds
            self.words = words
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\n"
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    static let rows: [Row] = [
        Row("nothing", "", [.cut], "closed the connection without a response"),
        Row("half a status line", "HTTP/1.1 2", [.cut, .badAnswer], ""),
        Row("half a head", head + "Content-Le", [.cut, .badAnswer], ""),
        Row("a head without its end", head + "Content-Length: 5\r\n", [.cut, .badAnswer], ""),
        Row("no body", head + "Content-Length: 5\r\n\r\n", [.cut], "ended early"),
        Row("half a body", head + "Content-Length: 10\r\n\r\nhalf", [.cut], "ended early"),
        Row("half a chunk size", chunked + "1", [.cut], "ended early"),
        Row("half a chunk", chunked + "8\r\nhalf", [.cut], "ended early"),
        Row("a chunk without its end", chunked + "4\r\nhalf", [.cut], "ended early"),
        Row("no last chunk", chunked + "4\r\nhalf\r\n", [.cut], "ended early"),
        Row("half a last chunk", chunked + "4\r\nhalf\r\n0\r\n", [.cut], "ended early"),
        Row("half a trailer", chunked + "4\r\nhalf\r\n0\r\nX-Tra", [.cut], "ended early"),
    ]

    @Test("A connection that closes in any state of the response is an error", .timeLimit(.minutes(5)), arguments: rows)
    func closed(_ row: Row) async throws {
        try await expect(row, kinds: row.kinds) { connection in
            try connection.receiveHead()
            try connection.send(row.sent)
        }
    }

    @Test("A connection that resets in any state of the response is an error", .timeLimit(.minutes(5)), arguments: rows)
    func reset(_ row: Row) async throws {
        try await expect(row, kinds: [.reset, .cut], hasWords: false) { connection in
            try connection.receiveHead()
            try connection.send(row.sent)
            connection.reset()
        }
    }

    private func expect(
        _ row: Row, kinds: [HTTPError.Kind], hasWords: Bool = true, _ script: @escaping ScriptedServer.Script
    ) async throws {
        try await ScriptedServer.run(script) { server in
            try await Lab.client { client in
                for isWhole in [true, false] {
                    let request = try Lab.request(server.port)
                    let error = await Lab.failure {
                        if isWhole {
                            _ = try await client.send(request)
                        } else {
                            _ = try await client.open(request).collect(limit: 1000)
                        }
                    }
                    let found = try #require(error)
                    #expect(kinds.contains(found.kind), "\(found.kind): \(found.message)")
                    #expect(found.mayHaveBeenSent)
                    #expect(found.message.contains("127.0.0.1:\(server.port)"), "\(found.message)")
                    if hasWords { #expect(found.message.contains(row.words), "\(found.message)") }
                }
                let record = try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                #expect(record.requests.count == 2)
            }
        }
    }

    @Test(
        "A retry sends the request again after any of these faults and returns the next response",
        .timeLimit(.minutes(5)), arguments: rows)
    func repeated(_ row: Row) async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            guard connection.number > 0 else { return try connection.send(row.sent) }
            try connection.answer(200, [:], "whole")
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.retry = RetryPolicy(attempts: 2, base: .milliseconds(1))
                request.retry.kinds.insert(.badAnswer)
                let answer = try await client.send(request)
                #expect(answer.text == "whole" && answer.attempts == 2)
                #expect(server.record.requests.count == 2)
            }
        }
    }

    @Test(
        "A TLS connection that ends without close_notify truncates the response, one with close_notify completes it",
        .timeLimit(.minutes(5)))
    func withoutFarewell() async throws {
        let tls = try ScriptedTLS(TestCertificates.shared().good)
        try await ScriptedServer.run(tls: tls) { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nis this all?")
            if connection.number == 1 { connection.cut() }
        } during: { server in
            try await Lab.trustingClient { client in
                let request = try Lab.request(server.port, scheme: "https")
                let answer = try await client.send(request)
                #expect(answer.text == "is this all?")
                let error = await Lab.failure { _ = try await client.send(request) }
                #expect(error?.kind == .cut, "\(error?.message ?? "")")
                #expect(error?.message.contains("ended early") == true)
            }
        }
    }
}

import HTTPCore
import JSON
import Testing

/// HTTPKit's own tests cover every form. This is a short list through the whole program, with a request to smuggle.
@Suite("Request smuggling to a gateway", .timeLimit(.minutes(5)))
struct SmugglingAttackTests {
    private static let body = #"{"name":"smuggled"}"#
    private static let hidden = GatewayClient.raw(
        "POST", "/v1/projects", ["Content-Type: application/json"], body: body)

    private static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    /// The head of a completion request with these lines, and the bytes after it.
    private static func post(_ lines: [String], _ rest: String) -> String {
        let head = [
            "POST /v1/chat/completions HTTP/1.1", "Host: localhost", "Authorization: Bearer \(GatewayHome.everything)",
            "Content-Type: application/json",
        ]
        return (head + lines).joined(separator: "\r\n") + "\r\n\r\n" + rest
    }

    private static var forms: [(name: String, text: String)] {
        let chunked = "Transfer-Encoding: chunked"
        return [
            ("a length and chunks", post(["Content-Length: 6", chunked], "0\r\n\r\nX" + hidden)),
            ("chunks and a length", post([chunked, "Content-Length: 6"], "0\r\n\r\n" + hidden)),
            ("two lengths", post(["Content-Length: 0", "Content-Length: 400"], hidden)),
            ("a list of lengths", post(["Content-Length: 0, 400"], hidden)),
            ("a length with a sign", post(["Content-Length: +0"], hidden)),
            ("a length in other digits", post(["Content-Length: 0x0"], hidden)),
            ("an encoding that nobody knows", post(["Transfer-Encoding: xchunked"], "0\r\n\r\n" + hidden)),
            ("two encodings", post([chunked, "Transfer-Encoding: identity"], "0\r\n\r\n" + hidden)),
            ("an encoding in a folded line", post(["X: a", " Transfer-Encoding: chunked"], "0\r\n\r\n" + hidden)),
            ("a space before the colon", post(["Transfer-Encoding : chunked"], "0\r\n\r\n" + hidden)),
            ("a vertical tab before the encoding", post(["Transfer-Encoding:\u{B}chunked"], "0\r\n\r\n" + hidden)),
            ("a bare line feed in a value", post(["X: a\nContent-Length: 0"], hidden)),
            ("a bare carriage return in a value", post(["X: a\rContent-Length: 0"], hidden)),
            ("a NUL in a name", post(["X\u{0}: a"], hidden)),
            ("a line break in an extension", post([chunked], "0;a\nb\r\n\r\n" + hidden)),
            ("an endless extension", post([chunked], "0;" + String(repeating: "a", count: 100_000))),
            ("a size with a sign", post([chunked], "+0\r\n\r\n" + hidden)),
            ("a size that overflows", post([chunked], "10000000000000000\r\n" + hidden)),
            ("a chunk that is longer than it says", post([chunked], "1\r\nXX\r\n0\r\n\r\n" + hidden)),
            ("a chunk with bare line feeds", post([chunked], "0\n\n" + hidden)),
            ("a length among the trailers", post([chunked], "0\r\nContent-Length : 5\r\n\r\n" + hidden)),
            (
                "chunks in HTTP/1.0",
                post([chunked], "0\r\n\r\n" + hidden).replacing("HTTP/1.1\r\nH", with: "HTTP/1.0\r\nH")
            ),
            ("two hosts", post(["Host: evil.example", "Content-Length: 0"], hidden)),
            ("a length that is not all there", post(["Content-Length: 9999999"], hidden)),
        ]
    }

    @Test("A smuggled request is never executed: the gateway answers once, or waits for the rest")
    func forms() async throws {
        try await GatewayClient.with { gateway in
            for (name, text) in Self.forms {
                let connection = try gateway.connect()
                try await connection.send(text)
                // An incomplete request waits; a request hidden in it must not be answered meanwhile.
                if name.hasPrefix("a length that is not") {
                    try await gateway.json(.get, "/v1/models")
                } else {
                    let answer = try await connection.receiveAll()
                    #expect([400, 413, 431, 501].contains(answer.answerStatus), "\(name): \(answer.prefix(300))")
                    #expect(
                        answer.answers == 1 && answer.contains("Connection: close"), "\(name): \(answer.prefix(300))")
                }
                connection.close()
            }
            let projects = try await gateway.json(.get, "/v1/projects")
            #expect(projects["pagination"]?["total_items"] == 0, "\(projects.text())")
        }
    }

    @Test("Two pipelined requests are two requests, and a chunk extension is only an extension")
    func pipelined() async throws {
        try await GatewayClient.with { gateway in
            let question = #"{"messages":[{"role":"user","content":"repeat: one"}]}"#
            let pieces =
                "7;name=value;x=\"y\"\r\n" + question.prefix(7) + "\r\n" + Self.chunk(String(question.dropFirst(7)))
            let connection = try gateway.connect()
            try await connection.send(
                Self.post(["Transfer-Encoding: chunked"], pieces + "0\r\nX: y\r\n\r\n" + Self.hidden))
            let answer = try await connection.receiveAll()
            #expect(answer.answerStatus == 200 && answer.answers == 2, "\(answer)")
            #expect(answer.contains("one") && answer.contains("smuggled"))
            #expect(try await gateway.json(.get, "/v1/projects")["pagination"]?["total_items"] == 1)
        }
    }
}

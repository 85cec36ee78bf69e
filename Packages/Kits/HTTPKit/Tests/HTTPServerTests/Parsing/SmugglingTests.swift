import HTTPCore
import Testing

@testable import HTTPServer

/// Requests that two programs could read differently. The parser must refuse each and read nothing after it.
@Suite struct SmugglingTests {
    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        var status = 400

        init(_ name: String, _ text: String, _ status: Int = 400) {
            (testDescription, self.text, self.status) = (name, text, status)
        }
    }

    private static func post(_ lines: String..., body: String = "0\r\n\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n")
        -> String
    {
        "POST / HTTP/1.1\r\nHost: a\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    static let forms = [
        Form("length and encoding", post("Content-Length: 5", "Transfer-Encoding: chunked")),
        Form("encoding and length", post("Transfer-Encoding: chunked", "Content-Length: 5")),
        Form("two equal lengths", post("Content-Length: 5", "Content-Length: 5")),
        Form("two different lengths", post("Content-Length: 5", "Content-Length: 50")),
        Form("a list of lengths", post("Content-Length: 5, 5")),
        Form("a length with a sign", post("Content-Length: +5")),
        Form("a negative length", post("Content-Length: -5")),
        Form("a length in hexadecimal", post("Content-Length: 0x5")),
        Form("a length with a space", post("Content-Length: 5 5")),
        Form("an empty length", post("Content-Length:")),
        Form("a length that overflows", post("Content-Length: 99999999999999999999"), 413),
        Form("a length in other digits", post("Content-Length: ٥")),
        Form("two encodings", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")),
        Form("two encodings, one unknown", post("Transfer-Encoding: chunked", "Transfer-Encoding: identity")),
        Form("a list of encodings", post("Transfer-Encoding: gzip, chunked"), 501),
        Form("chunked that is not last", post("Transfer-Encoding: chunked, identity"), 501),
        Form("chunked twice in a list", post("Transfer-Encoding: chunked, chunked"), 501),
        Form("chunked in quotes", post("Transfer-Encoding: \"chunked\""), 501),
        Form("a misspelled encoding", post("Transfer-Encoding: xchunked"), 501),
        Form("an empty encoding", post("Transfer-Encoding:"), 501),
        Form("a vertical tab before the encoding", post("Transfer-Encoding: \u{0B}chunked")),
        Form("a space before the colon", post("Transfer-Encoding : chunked")),
        Form("a tab before the colon", post("Content-Length\t: 5")),
        Form("a space before the name", post(" Content-Length: 5")),
        Form("a folded value", post("X: a", " Transfer-Encoding: chunked")),
        Form("a folded value with a tab", post("X: a", "\tTransfer-Encoding: chunked")),
        Form("a NUL in a value", post("X: a\0b")),
        Form("a NUL in a name", post("X\0: a")),
        Form("a carriage return in a value", post("X: a\rTransfer-Encoding: chunked")),
        Form("a bare line feed in a value", post("X: a\nTransfer-Encoding: chunked")),
        Form("a line without a colon", post("Transfer-Encoding chunked")),
        Form("an empty name", post(": chunked")),
        Form("a name that is no token", post("Content(Length): 5")),
        Form("a name that is not ASCII", post("Cöntent-Length: 5")),
        Form("bare line feeds everywhere", "GET / HTTP/1.1\nHost: a\n\n"),
        Form("a head that ends in a bare line feed", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        Form("chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Form("no host", "GET / HTTP/1.1\r\n\r\n"),
        Form("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Form("a host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
        Form("a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        Form("a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
        Form("a user in a whole URL", "GET http://x@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("two spaces in the first line", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("a tab in the first line", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("a third word", "GET / x HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("no version", "GET /\r\nHost: a\r\n\r\n"),
        Form("a version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n"),
        Form("a space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        Form("a later version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
        Form("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        Form("a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("bytes that are not ASCII in the path", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("a path without a slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("a star for another method", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("a tunnel", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Form("another expectation", post("Expect: 200-ok"), 417),
        Form("a chunk size with a sign", post("Transfer-Encoding: chunked", body: "+5\r\nhello\r\n0\r\n\r\n")),
        Form("a chunk size in 0x", post("Transfer-Encoding: chunked", body: "0x5\r\nhello\r\n0\r\n\r\n")),
        Form("a space after a chunk size", post("Transfer-Encoding: chunked", body: "5 \r\nhello\r\n0\r\n\r\n")),
        Form("a space before a chunk size", post("Transfer-Encoding: chunked", body: " 5\r\nhello\r\n0\r\n\r\n")),
        Form("an empty chunk size", post("Transfer-Encoding: chunked", body: "\r\nhello\r\n0\r\n\r\n")),
        Form("a chunk size that overflows", post("Transfer-Encoding: chunked", body: "FFFFFFFFFFFFFFFFF\r\n"), 413),
        Form("a bare line feed after a chunk size", post("Transfer-Encoding: chunked", body: "5\nhello\r\n0\r\n\r\n")),
        Form("a bare line feed after a chunk", post("Transfer-Encoding: chunked", body: "5\r\nhello\n0\r\n\r\n")),
        Form("a chunk that is too long", post("Transfer-Encoding: chunked", body: "5\r\nhello!\r\n0\r\n\r\n")),
        Form("a chunk that is too short", post("Transfer-Encoding: chunked", body: "6\r\nhello\r\n0\r\n\r\n")),
        Form(
            "a bare line feed in an extension", post("Transfer-Encoding: chunked", body: "5;a\nb\r\nhello\r\n0\r\n\r\n")
        ),
        Form(
            "a carriage return in an extension",
            post("Transfer-Encoding: chunked", body: "5;a\rb\r\nhello\r\n0\r\n\r\n")),
        Form(
            "an endless extension", post("Transfer-Encoding: chunked", body: "5;" + String(repeating: "a", count: 999))),
        Form("a malformed trailer", post("Transfer-Encoding: chunked", body: "0\r\nContent-Length : 5\r\n\r\n")),
        Form(
            "endless trailers",
            post(
                "Transfer-Encoding: chunked", body: "0\r\n" + String(repeating: "a: b\r\n", count: 2000)), 431),
        Form("too many headers", "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a: b\r\n", count: 101), 431),
        Form("an address that is too long", "GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\n", 414),
        Form("a head that is too large", post("X: " + String(repeating: "a", count: 17000)), 431),
    ]

    @Test("An ambiguous request is refused", arguments: forms)
    func refused(_ form: Form) {
        let parsed = Parsed(form.text)
        #expect(parsed.refusal == form.status)
        #expect(!parsed.requests.contains { $0.contains("evil") })
        #expect(Parsed(Array(form.text.utf8).map { [$0] }) == parsed)
    }

    @Test(
        "A server closes the connection after an ambiguous request and does not answer a request hidden in it",
        .timeLimit(.minutes(5)))
    func closes() async throws {
        let routes = [
            Route(.get, "/evil", "evil", "What must not be reached") { _ in "reached" },
            Route(.post, "/", "post", "Reads a body", .upload("Bytes")) { _, body in
                "\(try await body.bytes().count) bytes"
            },
        ]
        try await withServer(routes, { $0.hosts = ["a"] }) { server in
            for form in Self.forms {
                let answer = try await server.exchange(form.text)
                #expect(answer.status == form.status, "\(form.testDescription)")
                #expect(answer.contains("Connection: close"))
                #expect(!answer.contains("reached"))
                #expect(answer.occurrences(of: "\r\nDate: ") == 1, "\(form.testDescription)")
            }
        }
    }
}

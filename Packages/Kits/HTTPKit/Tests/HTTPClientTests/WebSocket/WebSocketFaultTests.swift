import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("WebSocket faults of the server", .timeLimit(.minutes(5)))
struct WebSocketFaultTests {
    private static let zeros = [UInt8](repeating: 0, count: 130)

    /// The bytes that the server sends after the handshake, the expected error, and the close code it is sent.
    private static let breaches: [(bytes: [UInt8], kind: HTTPError.Kind, code: Int)] = [
        ([0xC1, 0], .badAnswer, 1002), ([0xA1, 0], .badAnswer, 1002), ([0x91, 0], .badAnswer, 1002),
        ([0xC1, 3, 1, 2, 3], .badAnswer, 1002), ([0x83, 0], .badAnswer, 1002), ([0x84, 0], .badAnswer, 1002),
        ([0x87, 0], .badAnswer, 1002), ([0x8B, 0], .badAnswer, 1002), ([0x8F, 0], .badAnswer, 1002),
        ([0x81, 0x80, 1, 2, 3, 4], .badAnswer, 1002), ([0x89, 0x80, 1, 2, 3, 4], .badAnswer, 1002),
        ([0x80, 0], .badAnswer, 1002), ([0x00, 0], .badAnswer, 1002), ([0x01, 0, 0x81, 0], .badAnswer, 1002),
        ([0x02, 1, 1, 0x02, 1, 1], .badAnswer, 1002), ([0x09, 0], .badAnswer, 1002), ([0x0A, 0], .badAnswer, 1002),
        ([0x08, 0], .badAnswer, 1002), ([0x89, 126, 0, 126] + zeros.prefix(126), .badAnswer, 1002),
        ([0x88, 126, 0, 126] + zeros.prefix(126), .badAnswer, 1002), ([0x82, 126, 0, 125] + zeros, .badAnswer, 1002),
        ([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 130] + zeros, .badAnswer, 1002),
        ([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .badAnswer, 1002), ([0x88, 1, 3], .badAnswer, 1002),
        ([0x88, 2, 0x03, 0xED], .badAnswer, 1002), ([0x88, 2, 0x03, 0xEE], .badAnswer, 1002),
        ([0x88, 2, 0x00, 0x00], .badAnswer, 1002), ([0x88, 2, 0x13, 0x88], .badAnswer, 1002),
        ([0x88, 3, 0x03, 0xE8, 0xFF], .badAnswer, 1007), ([0x81, 1, 0xFF], .badAnswer, 1007),
        ([0x81, 2, 0xC0, 0x80], .badAnswer, 1007), ([0x81, 1, 0xC3], .badAnswer, 1007),
        ([0x01, 1, 0xC3, 0x80, 1, 0x41], .badAnswer, 1007), ([0x81, 3, 0xED, 0xA0, 0x80], .badAnswer, 1007),
        ([0x82, 127, 0, 0, 0, 0, 1, 0, 0, 1], .tooLarge, 1009), ([0x82, 127, 0x7F] + zeros.prefix(7), .tooLarge, 1009),
    ]

    @Test(
        "Each protocol violation is an error, and the server gets its close code in a masked frame",
        arguments: ["", "&slow"])
    func breaches(speed: String) async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            for (id, row) in Self.breaches.enumerated() {
                let socket = try await peer.frames(row.bytes, id: id, speed)
                let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
                #expect(error?.kind == row.kind, "\(hex(row.bytes))")
                // The error is permanent: a later read throws it again.
                let again = await #expect(throws: HTTPError.self) { try await socket.receive() }
                #expect(again?.message == error?.message)
                let log = try await peer.log(id)
                #expect(log["code"]?.int == row.code, "\(hex(row.bytes))")
                #expect(log["masked"]?.bool == true)
                #expect(socket.closeReason == nil)
                if error?.kind == row.kind, log["code"]?.int == row.code { tally.pass() }
            }
        }
        tally.report("breaches \(speed)")
    }

    @Test(
        "An end or a reset at any position in a frame is an error after the complete messages",
        arguments: ["close", "reset"])
    func ends(then: String) async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            let whole: [UInt8] = [0x81, 2, 0x68, 0x69]
            let next: [UInt8] = [0x82, 126, 0, 200] + Self.zeros
            for count in [0, 1, 2, 3, 4, 5, 100] {
                let socket = try await peer.frames(whole + next.prefix(count), id: count, "&then=\(then)")
                #expect(try await socket.receive()?.text == "hi")
                // The server waits for a byte before it resets, so that the client has read the first message.
                if then == "reset" { try await socket.ping() }
                let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
                #expect(error?.kind == (then == "close" ? .cut : .reset))
                if error != nil { tally.pass() }
            }
        }
        tally.report("ended by \(then)")
    }

    /// The server's response instead of a valid 101, and the expected error.
    private static let answers: [(text: String, then: String, kind: HTTPError.Kind, status: Int?, words: String)] = [
        (head("200 OK", "Content-Length: 2") + "hi", "", .status, 200, "200"),
        (head("404 Not Found", "Content-Length: 0"), "", .status, 404, "404"),
        (
            head("403 Forbidden", "Content-Length: 22", "Content-Type: application/json")
                + "{\"detail\":\"no access\"}",
            "", .status, 403, "no access"
        ),
        (
            head("401 Unauthorized", "Content-Type: text/plain") + "sign in first", "close", .status, 401,
            "sign in first"
        ),
        (
            head("503 Service Unavailable", "Transfer-Encoding: chunked", "Content-Type: text/plain", "Retry-After: 7")
                + "4\r\nbusy\r\n5\r\n, now\r\n0\r\n\r\n", "close", .status, 503, "busy, now"
        ),
        (head("301 Moved", "Location: /other", "Content-Length: 0"), "", .status, 301, "301"),
        (head("101 Yes", "Upgrade: websocket", "Connection: Upgrade"), "", .badAnswer, 101, "key"),
        (agreement("Sec-WebSocket-Accept: AAAA"), "", .badAnswer, 101, "key"),
        (agreement("Sec-WebSocket-Accept: ACCEPT", "Sec-WebSocket-Accept: ACCEPT"), "", .badAnswer, 101, "key"),
        (
            agreement("Sec-WebSocket-Accept: ACCEPT", "Sec-WebSocket-Extensions: permessage-deflate"), "", .badAnswer,
            101, "extension"
        ),
        (agreement("Sec-WebSocket-Accept: ACCEPT", "Sec-WebSocket-Protocol: x"), "", .badAnswer, 101, "subprotocol"),
        (
            head("101 Yes", "Upgrade: h2c", "Connection: Upgrade", "Sec-WebSocket-Accept: ACCEPT"), "", .badAnswer, 101,
            "did not switch to WebSocket"
        ),
        (
            head("101 Yes", "Upgrade: websocket", "Connection: close", "Sec-WebSocket-Accept: ACCEPT"), "", .badAnswer,
            101, "did not switch to WebSocket"
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("HTTP/2 101\r\n\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("HTTP/.\r\n\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("HTTP/1.1\r\n\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("\r\n\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("HTTP/1.1 101 a\r\nHTTP/. 101 b\r\n\r\n", "", .badAnswer, nil, "not send a valid HTTP response"),
        ("", "close", .cut, nil, "without a response"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: web", "close", .cut, nil, "without a response"),
    ]

    private static func head(_ status: String, _ lines: String...) -> String {
        (["HTTP/1.1 \(status)"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private static func agreement(_ lines: String...) -> String {
        (["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"] + lines)
            .joined(separator: "\r\n") + "\r\n\r\n"
    }

    @Test("A response that does not open a WebSocket is an error with its status and message")
    func answers() async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            for (id, row) in Self.answers.enumerated() {
                let address = "/answer?id=\(id)&text=\(escaped(row.text))&then=\(row.then)"
                let error = await #expect(throws: HTTPError.self, "\(row.text)") {
                    try await peer.connect(address, isRaw: true)
                }
                #expect(error?.kind == row.kind, "\(row.text)")
                #expect(error?.status?.code == row.status, "\(row.text)")
                #expect(error?.message.contains(row.words) == true, "\(error?.message ?? "")")
                if row.status == 503 { #expect(error?.retryAfter == .seconds(7)) }
                // The connection is closed, and nothing else was sent on it.
                if row.then == "" {
                    let rest = try await peer.log(id)["rest"]?.string
                    #expect(rest == "")
                }
                if error?.kind == row.kind { tally.pass() }
            }
        }
        tally.report("refusals")
    }

    @Test("Interim responses are skipped, and frames that arrive with the head are read")
    func early() async throws {
        try await WebSocketPeer.run { peer in
            let text =
                Self.head("103 Early Hints", "Link: </a>") + Self.agreement("Sec-WebSocket-Accept: ACCEPT")
                + "\u{81}\u{02}hi\u{88}\u{00}"
            // Latin-1 keeps the two bytes above 127 as they are.
            let bytes = text.unicodeScalars.map { UInt8($0.value) }
            // The text is escaped twice: once for the address, once for the peer.
            let escapes = escaped(bytes.map { "%" + hex([$0]) }.joined())
            let socket = try await peer.connect("/answer?id=1&text=\(escapes)", isRaw: true)
            #expect(try await socket.receive()?.text == "hi")
            #expect(try await socket.receive() == nil)
            #expect(socket.closeReason == WebSocketClose(nil))
        }
    }

    @Test("An endless head is refused at its limit")
    func endless() async throws {
        try await WebSocketPeer.run { peer in
            let error = await #expect(throws: HTTPError.self) { try await peer.connect("/endless?id=1", isRaw: true) }
            #expect(error?.kind == .headTooLarge)
            #expect(error?.message.contains("65536") == true)
        }
    }

    @Test("A message beyond the limit is refused, and one at the limit is accepted")
    func limit() async throws {
        try await WebSocketPeer.run { peer in
            var request = try WebSocketRequest("ws://127.0.0.1:\(peer.port)/echo?fragments=3")
            request.limits = WebSocketLimits(message: 10_000)
            let socket = try await peer.client.connect(request)
            try await socket.send(.binary(.init(repeating: 1, count: 10_000)))
            #expect(try await socket.receive()?.bytes.count == 10_000)
            try await socket.send(.binary(.init(repeating: 1, count: 10_001)))
            let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
            #expect(error?.kind == .tooLarge)
        }
    }

    @Test("An invalid request is refused before it is sent")
    func invalid() async throws {
        let client = WebSocketClient(withoutCaller: .person)
        for text in ["ftp://a/", "ws://", "ws://user:pass@localhost/", "localhost"] {
            #expect(throws: HTTPError.self) { try WebSocketRequest(text) }
        }
        let request = try WebSocketRequest("ws://127.0.0.1:1/", headers: ["X-A": "b\r\nX-C: d"])
        let error = await #expect(throws: HTTPError.self) { try await client.connect(request) }
        #expect(error?.kind == .invalid)
        #expect(error?.mayHaveBeenSent == false)
    }
}

import HTTPCore
import Testing

@Suite("WebSocket handshake")
struct WebSocketHandshakeTests {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    @Test("The accept value for the key of RFC 6455, section 1.3, is the one given there")
    func accept() {
        #expect(WebSocketHandshake.accept(for: Self.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("A key is 16 random bytes in base64, and the other side accepts it")
    func keys() throws {
        var generator = SystemRandomNumberGenerator()
        var seen: Set<String> = []
        for _ in 0..<50 {
            let key = WebSocketHandshake.makeKey(using: &generator)
            #expect(seen.insert(key).inserted)
            let request = WebSocketHandshake.request(key: key, subprotocols: ["b", "a"], origin: "http://localhost")
            let answer = try WebSocketHandshake.answer(to: .get, request, supported: ["a", "b"])
            #expect(try WebSocketHandshake.subprotocol(in: answer, key: key, offered: ["b", "a"]) == "b")
        }
    }

    @Test("A response that does not open a WebSocket is refused as malformed")
    func answers() throws {
        let good: HTTPHeaders = [
            "upgrade": "WebSocket", "connection": "keep-alive, UPGRADE",
            "sec-websocket-accept": " s3pPLMBiTxaQ9kYGzzhZRbK+xOo= ",
        ]
        #expect(try WebSocketHandshake.subprotocol(in: good, key: Self.key, offered: ["a"]) == nil)
        let changes: [(String, String?)] = [
            ("Upgrade", nil), ("Upgrade", "h2c"), ("Connection", "close"), ("Connection", nil),
            ("Sec-WebSocket-Accept", nil), ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOO="),
            ("Sec-WebSocket-Accept", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            ("Sec-WebSocket-Extensions", "permessage-deflate"), ("Sec-WebSocket-Protocol", "b"),
            ("Sec-WebSocket-Protocol", "a, a"),
        ]
        for (name, value) in changes {
            var bad = good
            bad[name] = value
            let error = #expect(throws: HTTPError.self) {
                try WebSocketHandshake.subprotocol(in: bad, key: Self.key, offered: ["a"])
            }
            #expect(error?.kind == .badAnswer)
        }
        var twice = good
        twice.append("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(throws: HTTPError.self) {
            try WebSocketHandshake.subprotocol(in: twice, key: Self.key, offered: [])
        }
    }

    @Test("A request that does not open a WebSocket is refused with a matching status")
    func requests() throws {
        let good = WebSocketHandshake.request(key: Self.key)
        let answer = try WebSocketHandshake.answer(to: .get, good)
        #expect(answer["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(answer["Sec-WebSocket-Protocol"] == nil)
        let changes: [(String, String?, Int)] = [
            ("Upgrade", nil, 426), ("Connection", "close", 426), ("Sec-WebSocket-Version", "8", 426),
            ("Sec-WebSocket-Version", nil, 426), ("Sec-WebSocket-Key", nil, 400), ("Sec-WebSocket-Key", "short==", 400),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=a", 400),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25$ZQ==", 400),
        ]
        for (name, value, status) in changes {
            var bad = good
            bad[name] = value
            let refusal = #expect(throws: WebSocketHandshake.Refusal.self) {
                try WebSocketHandshake.answer(to: .get, bad)
            }
            #expect(refusal?.status.code == status)
            if name == "Sec-WebSocket-Version" { #expect(refusal?.headers["Sec-WebSocket-Version"] == "13") }
        }
        #expect(throws: WebSocketHandshake.Refusal.self) { try WebSocketHandshake.answer(to: .post, good) }
    }
}

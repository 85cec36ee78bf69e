import HTTPCore
import HTTPServer
import HTTPTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketTests {
    static func routes(_ signals: Signals) -> [Route] {
        [
            Route(.get, "/echo", "echo", "Gives messages back") { _ in
                HTTPAnswer.upgrade(protocols: ["chat.v2", "chat.v1"], limits: WebSocketLimits(message: 4 << 20)) {
                    socket in
                    defer { signals.send("ended") }
                    if let name = socket.subprotocol { try await socket.send("protocol \(name)") }
                    while let message = try await socket.next() { try await socket.send(message) }
                }
            },
            Route(.get, "/count", "count", "Counts down and closes") { _ in
                HTTPAnswer.upgrade { socket in
                    for number in [3, 2, 1] { try await socket.send("\(number)") }
                }
            },
            Route(.get, "/fails", "fails", "Fails") { _ in
                HTTPAnswer.upgrade { _ in throw RequestProblem.conflict("no") }
            },
            Route(.get, "/bye", "bye", "Closes with a reason") { _ in
                HTTPAnswer.upgrade { socket in
                    try await socket.close(.policyViolation, reason: "enough")
                    while try await socket.next() != nil {}
                }
            },
            Route(.get, "/wait", "wait", "Waits") { _ in
                HTTPAnswer.upgrade { _ in
                    signals.send("begun")
                    do { try await Task.sleep(for: .seconds(3600)) } catch { signals.send("cancelled") }
                }
            },
        ]
    }

    @Test("The Python websockets package exchanges all sizes, types, fragments, pings and closes with the server")
    func conversation() async throws {
        let program = """
            import asyncio, os, sys, websockets
            from websockets.exceptions import ConnectionClosed, InvalidStatus
            base = "ws://127.0.0.1:" + sys.argv[1]

            async def main():
                passed = 0
                async with websockets.connect(base + "/echo", max_size=None, subprotocols=["chat.v1", "other"]) as ws:
                    assert ws.subprotocol == "chat.v1" and await ws.recv() == "protocol chat.v1"
                async with websockets.connect(base + "/echo", max_size=None, compression="deflate") as ws:
                    assert not ws.protocol.extensions
                    for size in [0, 1, 125, 126, 127, 65535, 65536, 100000, 1 << 20, 4 << 20]:
                        for message in ["x" * size, os.urandom(size), "€" * (size // 3)]:
                            await ws.send(message)
                            assert await ws.recv() == message, size
                            passed += 1
                    for parts in [["a", "b", "c"], ["", "", ""], ["€" * 1000] * 50, [b"1", b"2"]]:
                        await ws.send(parts)
                        assert await ws.recv() == type(parts[0])().join(parts)
                        passed += 1
                    for payload in [b"", b"hello", b"x" * 125]:
                        await (await ws.ping(payload))
                        passed += 1
                    for _ in range(100): await ws.send("many")
                    for _ in range(100): assert await ws.recv() == "many"
                    passed += 1
                for code in [1000, 1001, 3000, 4999]:
                    ws = await websockets.connect(base + "/echo")
                    await ws.close(code, "bye")
                    assert ws.close_code == code, ws.close_code
                    passed += 1
                async with websockets.connect(base + "/count") as ws:
                    assert [m async for m in ws] == ["3", "2", "1"] and ws.close_code == 1000
                    passed += 1
                async with websockets.connect(base + "/fails") as ws:
                    try: await ws.recv()
                    except ConnectionClosed: assert ws.close_code == 1011
                    passed += 1
                async with websockets.connect(base + "/bye") as ws:
                    try: await ws.recv()
                    except ConnectionClosed: assert (ws.close_code, ws.close_reason) == (1008, "enough")
                    passed += 1
                async with websockets.connect(base + "/echo") as ws:
                    try:
                        await ws.send("x" * ((4 << 20) + 1))
                        await ws.recv()
                    except ConnectionClosed: assert ws.close_code == 1009, ws.close_code
                    passed += 1
                for origin, status in [("http://evil.example", 403), ("null", 403)]:
                    try: await websockets.connect(base + "/echo", origin=origin)
                    except InvalidStatus as error: assert error.response.status_code == status
                    else: raise AssertionError(origin)
                    passed += 1
                print(passed)

            asyncio.run(main())
            """
        let signals = Signals()
        try await withServer(Self.routes(signals)) { server in
            let words = try await PythonPeer.output(source: program, ["\(server.port)"])
            #expect(words == "48\n")
        }
    }

    @Test("A request that is not a valid WebSocket request is refused with the required headers")
    func refused() async throws {
        try await withServer(Self.routes(Signals())) { server in
            let plain = try await server.get("/echo")
            #expect(plain.status == 426 && plain.contains("Upgrade: websocket\r\n"))
            let old = try await server.get(
                "/echo", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 8",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
            #expect(old.status == 426 && old.contains("Sec-WebSocket-Version: 13\r\n"))
            let key = try await server.get(
                "/echo", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: x")
            #expect(key.status == 400)
        }
    }

    private func open(_ server: TestServer, _ path: String, early: [UInt8] = []) async throws -> RawClient {
        let client = try server.client()
        let request =
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        try await client.send(Array(request.utf8) + early)
        return client
    }

    @Test("Frames that arrive with the request are read, and the accept value is that of RFC 6455")
    func early() async throws {
        try await withServer(Self.routes(Signals())) { server in
            var frame: [UInt8] = []
            WebSocketFrame(.text, Array("early".utf8)).append(to: &frame, mask: 0x1234_5678)
            let client = try await open(server, "/echo", early: frame)
            let answer = try await client.receive(until: "early")
            #expect(answer.status == 101 && answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(!answer.contains("Content-Length"))
            client.close()
        }
    }

    @Test("A client that violates the protocol gets a close code and is dropped")
    func violation() async throws {
        let signals = Signals()
        try await withServer(Self.routes(signals)) { server in
            var frame: [UInt8] = []
            WebSocketFrame(.text, Array("unmasked".utf8)).append(to: &frame, mask: nil)
            let client = try await open(server, "/echo", early: frame)
            var bytes: [UInt8] = []
            while let more = try await client.receive() { bytes += more }
            // The close frame has the code 1002.
            #expect(bytes.indices.contains { bytes[$0...].starts(with: [0x03, 0xEA]) })
            await signals.wait(for: "ended")
        }
    }

    @Test("A silent client gets a ping and is dropped when it does not respond")
    func silent() async throws {
        let signals = Signals()
        try await withServer(Self.routes(signals), { $0.limits.heartbeat = .milliseconds(50) }) { server in
            let client = try await open(server, "/echo")
            var bytes: [UInt8] = []
            while let more = try await client.receive() { bytes += more }
            #expect(bytes.indices.contains { bytes[$0...].starts(with: [0x89, 0x00]) })
            await signals.wait(for: "ended")
        }
    }

    @Test("A client that vanishes cancels the handler")
    func vanished() async throws {
        let signals = Signals()
        try await withServer(Self.routes(signals)) { server in
            let client = try await open(server, "/wait")
            await signals.wait(for: "begun")
            client.close()
            await signals.wait(for: "cancelled")
        }
    }
}

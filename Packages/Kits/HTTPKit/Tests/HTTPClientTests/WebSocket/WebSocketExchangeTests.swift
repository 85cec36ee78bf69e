import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("WebSocket exchanges with the Python websockets package", .timeLimit(.minutes(5)))
struct WebSocketExchangeTests {
    @Test("Messages of all sizes and both types come back unchanged, however the server fragments them")
    func sizes() async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            for fragments in ["", "?fragments=2", "?fragments=7", "?fragments=5&ping"] {
                let socket = try await peer.connect("/echo\(fragments)")
                for size in [0, 1, 2, 125, 126, 127, 1_000, 4_095, 65_535, 65_536, 65_537, 1_000_000] {
                    let text = String(String(repeating: "añ漢😀x", count: size / 5 + 1).unicodeScalars.prefix(size))
                    for message in [
                        WebSocketMessage.text(text), .binary((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }),
                    ] {
                        try await socket.send(message)
                        let answer = try await socket.receive()
                        #expect(answer == message, "\(size) bytes, \(fragments)")
                        if answer == message { tally.pass() }
                    }
                }
                await socket.close()
                #expect(socket.closeReason?.code == .normal)
            }
        }
        tally.report("echo")
    }

    @Test("The server's close codes and reasons arrive and end the messages")
    func serverCloses() async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4000, 4999] {
                for reason in ["", "bye", "größe 漢 😀", String(repeating: "r", count: 123)] {
                    let socket = try await peer.connect("/close?code=\(code)&reason=\(escaped(reason))")
                    var count = 0
                    for try await _ in socket.messages { count += 1 }
                    let expected = WebSocketClose(WebSocketCloseCode(rawValue: UInt16(code)), reason)
                    #expect(count == 0)
                    #expect(socket.closeReason == expected)
                    if socket.closeReason == expected { tally.pass() }
                    let error = await #expect(throws: HTTPError.self) { try await socket.send("late") }
                    #expect(error?.kind == .closed)
                    await socket.close()
                }
            }
        }
        tally.report("closed by the server")
    }

    @Test("The client's close codes and reasons arrive at the server once")
    func clientCloses() async throws {
        let tally = Tally()
        try await WebSocketPeer.run { peer in
            for (index, code) in [1000, 1001, 1003, 1008, 1011, 3000, 3500, 4000, 4321, 4999].enumerated() {
                for (place, reason) in ["", "leaving 漢"].enumerated() {
                    let id = index * 2 + place
                    let socket = try await peer.connect("/tell?id=\(id)")
                    try await socket.send("before")
                    await socket.close(WebSocketCloseCode(rawValue: UInt16(code)), reason: reason)
                    await socket.close(.protocolError)
                    #expect(socket.closeReason?.code?.rawValue == UInt16(code))
                    let log = try await peer.log(id)
                    #expect(log["code"]?.int == code)
                    #expect(log["reason"]?.string == reason)
                    if log["code"]?.int == code { tally.pass() }
                }
            }
        }
        tally.report("closed by the client")
    }

    @Test("A socket answers pings while it waits for a message, and its own pings come back as pongs")
    func pings() async throws {
        try await WebSocketPeer.run { peer in
            let socket = try await peer.connect("/ping")
            #expect(try await socket.receive()?.text == "ponged")
            await socket.close()

            let other = try await peer.connect("/echo")
            try await other.ping([1, 2, 3])
            #expect(try await other.receiveInput() == .pong([1, 2, 3]))
            await other.close()
        }
    }

    @Test("A request carries host, headers, origin and subprotocols, and the first common subprotocol is used")
    func request() async throws {
        try await WebSocketPeer.run { peer in
            let request = try WebSocketRequest(
                "WS://127.0.0.1:\(peer.port)/head?a=1&b=%20", headers: ["X-Token": "secret", "Upgrade": "h2c"],
                subprotocols: ["other", "chat.v1"], origin: "https://app.example")
            let socket = try await peer.client.connect(request)
            #expect(socket.subprotocol == "chat.v1")
            let head = try JSON(parsing: try #require(try await socket.receive()).bytes)
            #expect(head["path"]?.string == "/head?a=1&b=%20")
            var found: [String: String] = [:]
            for field in head["headers"]?.array ?? [] {
                let name = field[0]?.string?.lowercased() ?? ""
                #expect(found[name] == nil, "\(name) is sent once")
                found[name] = field[1]?.string
            }
            #expect(found["host"] == "127.0.0.1:\(peer.port)")
            #expect(found["x-token"] == "secret")
            #expect(found["origin"] == "https://app.example")
            #expect(found["upgrade"] == "websocket")
            #expect(found["sec-websocket-protocol"] == "other, chat.v1")
            #expect(found["sec-websocket-extensions"] == nil)
            await socket.close()
        }
    }

    @Test("Messages that many tasks send at once arrive whole")
    func manySenders() async throws {
        try await WebSocketPeer.run { peer in
            let socket = try await peer.connect("/echo")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in 0..<20 {
                    group.addTask {
                        for index in 0..<20 {
                            try await socket.send(.binary([UInt8](repeating: UInt8(sender), count: 1 + index * 500)))
                        }
                    }
                }
                var counts = [Int](repeating: 0, count: 20)
                for _ in 0..<400 {
                    let bytes = try #require(try await socket.receive()).bytes
                    counts[Int(bytes[0])] += 1
                    #expect(bytes.allSatisfy { $0 == bytes[0] })
                }
                #expect(counts == .init(repeating: 20, count: 20))
                try await group.waitForAll()
            }
            await socket.close()
        }
    }

    @Test("A socket reads only on demand, so a fast server has to wait")
    func backPressure() async throws {
        try await WebSocketPeer.run { peer in
            let socket = try await peer.connect("/flood?id=1")
            // The peer logs its count once it could not send for a second.
            let sent = try #require(try await peer.log(1)["sent"]?.int)
            #expect(sent < 32 << 20)
            var received = 0
            while received < sent { received += try #require(try await socket.receive()).bytes.count }
            #expect(received >= sent)
        }
    }

    @Test("A server that reads nothing makes the sender wait, and cancelling ends the wait at once")
    func deafServer() async throws {
        try await WebSocketPeer.run { peer in
            let socket = try await peer.connect("/deaf")
            let sending = Task {
                var count = 0
                while true {
                    try await socket.send(.binary([UInt8](repeating: 1, count: 1 << 20)))
                    count += 1
                }
            }
            // A second sender waits for its turn and gives up.
            let second = Task { try await socket.send("second") }
            second.cancel()
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
            _ = await second.result
            await socket.close(within: .milliseconds(50))
        }
    }

    @Test("A cancelled wait for a message loses no message")
    func cancelledReceive() async throws {
        try await WebSocketPeer.run { peer in
            let socket = try await peer.connect("/echo")
            for round in 0..<50 {
                let waiting = Task { try await socket.receive() }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                try await socket.send("\(round)")
                #expect(try await socket.receive()?.text == "\(round)")
            }
            await socket.close()
        }
    }
}

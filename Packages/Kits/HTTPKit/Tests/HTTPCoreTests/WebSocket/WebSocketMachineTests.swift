import Testing

@testable import HTTPCore

@Suite("WebSocket machine", .timeLimit(.minutes(5)))
struct WebSocketMachineTests {
    /// A client and a server machine, connected by hand.
    struct Pair {
        var client = WebSocketMachine(role: .client, makeMask: { 0x0102_0304 })
        var server = WebSocketMachine(role: .server)

        mutating func deliver() {
            let (up, down) = (client.takeOutput(), server.takeOutput())
            unsafe up.withUnsafeBytes { unsafe server.append($0) }
            unsafe down.withUnsafeBytes { unsafe client.append($0) }
        }
    }

    @Test("Messages are delivered in order in both directions")
    func messages() throws {
        var pair = Pair()
        for index in 0..<10 {
            #expect(pair.client.send(.text("\(index)")) == true)
            #expect(pair.server.send(.binary([UInt8(index)])) == true)
        }
        pair.deliver()
        for index in 0..<10 {
            #expect(try pair.server.next() == .message(.text("\(index)")))
            #expect(try pair.client.next() == .message(.binary([UInt8(index)])))
        }
        #expect(try pair.server.next() == nil)
        #expect(!pair.server.hasOutput)
    }

    @Test("A ping is answered with its payload, and of several pings only the last")
    func pings() throws {
        var pair = Pair()
        #expect(pair.server.ping([1, 2]) == true)
        #expect(pair.server.ping([3]) == true)
        pair.deliver()
        #expect(try pair.client.next() == .ping([1, 2]))
        #expect(try pair.client.next() == .ping([3]))
        #expect(pair.client.hasOutput)
        pair.deliver()
        #expect(try pair.server.next() == .pong([3]))
        #expect(try pair.server.next() == nil)
        #expect(pair.server.ping([UInt8](repeating: 0, count: 126)) == false)
    }

    @Test("A close is answered with its code, and nothing is sent after it")
    func close() throws {
        var pair = Pair()
        pair.client.close(WebSocketClose(.goingAway, "leaving"))
        #expect(pair.client.phase == .closing)
        #expect(pair.client.send(.text("late")) == false)
        #expect(pair.client.ping() == false)
        // Messages that the peer sent before it saw the close still arrive.
        #expect(pair.server.send(.text("before")) == true)
        pair.deliver()
        #expect(try pair.server.next() == .close(WebSocketClose(.goingAway, "leaving")))
        #expect(pair.server.phase == .closed(WebSocketClose(.goingAway, "leaving")))
        #expect(pair.server.send(.text("late")) == false)
        #expect(try pair.client.next() == .message(.text("before")))
        #expect(!pair.client.isOver)
        pair.deliver()
        #expect(try pair.client.next() == .close(WebSocketClose(.goingAway)))
        #expect(pair.client.isOver)
        pair.client.close(WebSocketClose(.normal))
        #expect(!pair.client.hasOutput)
    }

    @Test("Both sides may close at once, and a close without a code carries none")
    func bothClose() throws {
        var pair = Pair()
        pair.client.close(WebSocketClose(nil, "not sent without a code"))
        pair.server.close(WebSocketClose(.normal))
        pair.deliver()
        #expect(try pair.client.next() == .close(WebSocketClose(.normal)))
        #expect(try pair.server.next() == .close(WebSocketClose(nil)))
        #expect(!pair.client.hasOutput && !pair.server.hasOutput)
        #expect(pair.client.isOver && pair.server.isOver)
    }

    @Test("A peer that breaks a rule gets the close code and the reason")
    func violation() throws {
        var client = WebSocketMachine(role: .client, makeMask: { 0 })
        #expect(client.send(.text("a")) == true)
        let wrong: [UInt8] = [0x81, 1, 0x42, 0xC1, 0]
        unsafe wrong.withUnsafeBytes { unsafe client.append($0) }
        #expect(try client.next() == .message(.text("B")))
        let violation = #expect(throws: WebSocketViolation.self) { try client.next() }
        #expect(client.phase == violation.map(WebSocketMachine.Phase.failed))
        #expect(try client.next() == nil)
        let output = client.takeOutput()
        let reading = read(output, as: .server)
        #expect(reading.inputs.count == 2)
        #expect(reading.inputs.last == .close(WebSocketClose(.protocolError, violation?.message ?? "")))
    }

    @Test("A close reason is cut between characters at 123 bytes, and a forbidden code is left out")
    func reasons() throws {
        var pair = Pair()
        pair.client.close(WebSocketClose(.normal, String(repeating: "ü", count: 80)))
        pair.deliver()
        #expect(try pair.server.next() == .close(WebSocketClose(.normal, String(repeating: "ü", count: 61))))
        pair = Pair()
        pair.client.close(WebSocketClose(WebSocketCloseCode(rawValue: 1006), "no"))
        pair.deliver()
        #expect(try pair.server.next() == .close(WebSocketClose(nil)))
    }

    @Test("A pong is not sent after a close")
    func noPongAfterClose() throws {
        var pair = Pair()
        #expect(pair.server.ping([9]) == true)
        pair.deliver()
        #expect(try pair.client.next() == .ping([9]))
        pair.client.close(WebSocketClose(.normal))
        pair.deliver()
        #expect(try pair.server.next() == .close(WebSocketClose(.normal)))
    }
}

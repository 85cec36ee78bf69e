import HTTPCore
import HTTPServer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventStreamTests {
    @Test("Events arrive at once, with the headers that proxies need")
    func events() async throws {
        let signals = Signals()
        let routes = [
            Route(.get, "/events", "events", "Events") { _ in
                HTTPAnswer.events { events in
                    try await events.send(data: "after \(events.lastEventID ?? "nothing")")
                    try await events.send(ServerSentEvent(type: "tick", text: "two\nlines", lastEventID: "7"))
                    await signals.wait(for: "go on")
                    try await events.send(data: "[DONE]")
                }
            }
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            try await client.send("GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 6\r\n\r\n")
            let first = try await client.receive(until: "lines")
            #expect(
                first.contains("Content-Type: text/event-stream\r\n") && first.contains("Cache-Control: no-cache\r\n"))
            #expect(first.contains("X-Accel-Buffering: no\r\n") && first.contains("data: after 6\n\n"))
            #expect(first.contains("data: two\ndata: lines\n\n") && first.contains("id: 7\n"))
            signals.send("go on")
            #expect(try await client.receive(until: "0\r\n\r\n").contains("data: [DONE]\n\n"))
            #expect(
                try await {
                    signals.send("go on")
                    return try await Curl.run("-N", "\(server.url)/events")
                }().hasSuffix("data: [DONE]\n\n"))
            client.close()
        }
    }

    @Test("A silent stream gets comments between its events")
    func heartbeat() async throws {
        let routes = [
            Route(.get, "/silent", "silent", "Silent") { _ in
                HTTPAnswer.events { events in
                    try await events.send(data: "first")
                    try await Task.sleep(for: .seconds(3600))
                }
            }
        ]
        try await withServer(routes, { $0.limits.heartbeat = .milliseconds(100) }) { server in
            let client = try server.client()
            try await client.send("GET /silent HTTP/1.1\r\nHost: localhost\r\n\r\n")
            var text = ""
            while text.occurrences(of: "\r\n:\n\n\r\n") < 3 {
                text += String(decoding: try #require(try await client.receive()), as: UTF8.self)
            }
            #expect(text.contains("data: first\n\n"))
            client.close()
        }
    }

    @Test("A client of an event stream that reads nothing is dropped once the socket is full")
    func stuck() async throws {
        let signals = Signals()
        let routes = [
            Route(.get, "/stuck", "stuck", "Fills the socket") { _ in
                HTTPAnswer.events { events in
                    do {
                        while true { try await events.send(data: String(repeating: "x", count: 10_000)) }
                    } catch {
                        signals.send("dropped")
                        throw error
                    }
                }
            }
        ]
        try await withServer(
            routes,
            { limits in
                limits.limits.heartbeat = .milliseconds(100)
                limits.limits.stall = .milliseconds(300)
            }
        ) { server in
            let client = try server.client()
            try await client.send("GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await signals.wait(for: "dropped")
            client.close()
        }
    }

    @Test("Events that several tasks send to one client stay whole")
    func concurrent() async throws {
        let routes = [
            Route(.get, "/many", "many", "Many senders") { _ in
                HTTPAnswer.events { events in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for sender in 0..<8 {
                            group.addTask {
                                for number in 0..<200 {
                                    try await events.send(
                                        data: "\(sender)-\(number) " + String(repeating: "\(sender)", count: 500))
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        ]
        try await withServer(routes) { server in
            let text = try await Curl.run("-N", "\(server.url)/many")
            let events = text.split(separator: "\n").filter { !$0.isEmpty }
            #expect(events.count == 1600)
            for event in events {
                let words = event.split(separator: " ")
                #expect(words.count == 3 && words[2] == String(repeating: String(words[1].prefix(1)), count: 500))
            }
        }
    }

    @Test("Offered events do not wait for a slow client, and all of them arrive")
    func offered() async throws {
        let signals = Signals()
        let count = Mutex(0)
        let routes = [
            Route(.get, "/offered", "offered", "As many events as fit, and some more") { _ in
                HTTPAnswer.events { events in
                    var more = 10
                    while more > 0 {
                        let number = count.withLock { count in
                            count += 1
                            return count
                        }
                        var writer = EventWriter()
                        try writer.event("\(number) " + String(repeating: "x", count: 10_000))
                        if !(try events.offer(written: writer.take())) { more -= 1 }
                    }
                    signals.send("full")
                    try await events.flushed()
                    signals.send("flushed")
                }
            }
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            try await client.send("GET /offered HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            await signals.wait(for: "full")
            let text = try await client.receiveAll()
            await signals.wait(for: "flushed")
            let numbers = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("data: ") }.map {
                $0.split(separator: " ")[1]
            }
            #expect(numbers.count > 10)
            #expect(numbers == (1...count.withLock { $0 }).map { Substring("\($0)") })
            client.close()
        }
    }

    @Test("Offering an event to a disconnected client fails")
    func offeredInVain() async throws {
        let signals = Signals()
        let routes = [
            Route(.get, "/gone", "gone", "Events for nobody") { _ in
                HTTPAnswer.events { events in
                    do {
                        while true {
                            _ = try events.offer(written: Array("data: still there\n\n".utf8))
                            await Task.yield()
                        }
                    } catch {
                        signals.send(error is ClientGone ? "gone" : "\(error)")
                        throw error
                    }
                }
            }
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            try await client.send("GET /gone HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await client.receive(until: "still there")
            client.reset()
            await signals.wait(for: "gone")
        }
    }
}

import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Event stream of a response")
struct EventStreamTests {
    @Test("Events arrive one by one with their types and ids", .timeLimit(.minutes(5)))
    func oneByOne() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.beginEvents()
            for number in 0..<50 {
                try connection.send("id: \(number)\nevent: step\ndata: \(number)\n\n")
                // The pause sends each event in a separate packet.
                _ = try connection.pause(.milliseconds(1))
            }
        } during: { server in
            try await Lab.client { client in
                let exchange = try await client.open(try Lab.request(server.port))
                var events = exchange.events().makeAsyncIterator()
                for number in 0..<50 {
                    let event = try #require(try await events.next())
                    #expect(event == ServerSentEvent(type: "step", text: "\(number)", lastEventID: "\(number)"))
                }
                let end = try await events.next()
                #expect(end == nil)
                #expect(events.lastEventID == "49")
            }
        }
    }

    @Test("A stream is a span of its own, with how many events it had and how it ended", .timeLimit(.minutes(5)))
    func span() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: ha")
        } during: { server in
            let sink = RecordingSpanSink()
            let tracer = Tracer(sinks: [sink]) { Timestamp(microseconds: 0) }
            var configuration = HTTPClient.Configuration.standalone
            configuration.tracer = tracer
            try await Lab.client(configuration) { client in
                await tracer.span("outer", of: "lab") { _ in
                    _ = await Lab.failure {
                        let exchange = try await client.open(try Lab.request(server.port, "/v1/messages"))
                        for try await _ in exchange.events().batches {}
                    }
                }
            }
            let stream = try #require(sink.spans.first { $0.name == "stream" })
            #expect(stream.parent == sink.spans.last?.context.span && sink.spans.last?.name == "outer")
            #expect(stream.attributes["martlet.stream.events"] == 3 && stream.failure == "http.cut")
            #expect(stream.attributes["url.template"] == "/v1/messages")
        }
    }

    @Test("An event is delivered before the server sends anything more", .timeLimit(.minutes(5)))
    func prompt() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.beginEvents()
            try connection.send("data: first\r\n\r")
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                let exchange = try await client.open(try Lab.request(server.port))
                var events = exchange.events().makeAsyncIterator()
                let event = try await events.next()
                #expect(event?.text == "first")
                exchange.cancel()
                try await server.until { $0.openNow == 0 }
                #expect(server.record.connections.first?.peerLeft == true)
            }
        }
    }

    @Test(
        "Batches contain the same events, and a truncated stream throws after the earlier events",
        .timeLimit(.minutes(5)))
    func batches() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            let events = (0..<2000).map { "data: \($0)\n\n" }.joined()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n\(events)data: half")
        } during: { server in
            try await Lab.client { client in
                for isBatched in [true, false] {
                    let exchange = try await client.open(try Lab.request(server.port))
                    var texts: [String] = []
                    let error = await Lab.failure {
                        if isBatched {
                            for try await batch in exchange.events().batches {
                                #expect(!batch.isEmpty)
                                texts += batch.map(\.text)
                            }
                        } else {
                            for try await event in exchange.events() { texts.append(event.text) }
                        }
                    }
                    #expect(error?.kind == .cut && texts == (0..<2000).map(String.init))
                }
            }
        }
    }

    @Test("An event beyond the limit ends the stream and the connection", .timeLimit(.minutes(5)))
    func limit() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.beginEvents()
            try connection.send("data: small\n\ndata: ")
            try connection.sendEndlessly([UInt8](repeating: UInt8(ascii: "x"), count: 4096))
        } during: { server in
            try await Lab.client { client in
                var texts: [String] = []
                let error = await Lab.failure {
                    let exchange = try await client.open(try Lab.request(server.port))
                    for try await event in exchange.events(limits: EventLimits(line: 1 << 20)) {
                        texts.append(event.text)
                    }
                }
                #expect(error?.kind == .tooLarge && texts == ["small"])
                #expect(error?.message.contains("a line is larger than the limit of 1048576 bytes") == true)
                let record = try await server.until { $0.openNow == 0 }
                #expect(record.bytesSent < 16 << 20)
            }
        }
    }
}

import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Streamed answers", .timeLimit(.minutes(5)))
struct StreamTests {
    @Test("An answer is passed on as it arrives, with the model and the usage")
    func plain() async throws {
        try await Fixture.run {
            try $0.stream(Stream.hello)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == "Hello")
            #expect(answer.finish == .stop)
            #expect(answer.usage == Usage(inputTokens: 9, outputTokens: 2))
            #expect(answer.start.model == "small-1")
            #expect(fixture.heard.text == "Hello")
            #expect(fixture.heard.events.contains(.usage(answer.usage)))
            let request = try #require(fixture.server.record.requests.first)
            #expect(request.target == "/v1/chat/completions")
            #expect(request.headers["Authorization"] == "Bearer \(Fixture.key)")
            #expect(request.json["stream"] == true)
        }
    }

    @Test("A single JSON text is read as a complete reply")
    func wholeInstead() async throws {
        try await Fixture.run {
            try $0.reply(Stream.whole)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == "Hello")
            #expect(fixture.heard.text == "Hello")
            #expect(answer.usage.outputTokens == 2)
        }
    }

    @Test(
        "A stream with another media type is read too",
        arguments: ["text/plain", "application/json", "application/octet-stream"])
    func otherType(type: String) async throws {
        try await Fixture.run {
            try $0.reply(": hi\n\n" + Stream.hello, type: type)
        } _: { fixture in
            try await fixture.expectHello()
        }
    }

    @Test("An answer without streaming is requested and read as a whole")
    func unstreamed() async throws {
        try await Fixture.run {
            try $0.reply(Stream.whole)
        } _: { fixture in
            var request = ChatRequest.hello
            request.streams = false
            try await fixture.expectHello(request)
            #expect(fixture.server.record.requests.first?.json["stream"] == nil)
        }
    }

    @Test("Pieces that arrive together are merged")
    func coalesced() async throws {
        let pieces = (0..<500).map { Stream.text("\($0) ") }.joined()
        try await Fixture.run {
            try $0.stream(Stream.first + pieces + Stream.end)
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == fixture.heard.text)
            let count = fixture.heard.events.count { if case .text = $0 { true } else { false } }
            #expect(count < 250)
        }
    }

    @Test("The end does not wait for a server that keeps the connection open")
    func lingering() async throws {
        try await Fixture.run {
            try $0.stream(Stream.hello)
            try $0.stall()
        } _: { fixture in
            let start = ContinuousClock.now
            try await fixture.expectHello()
            #expect(ContinuousClock.now - start < .seconds(20))
            try await fixture.server.until { $0.connections.first?.peerLeft == true }
        }
    }

    @Test("The connection is reused for the next question")
    func reused() async throws {
        try await Fixture.run { connection in
            while true {
                try connection.receiveRequest()
                let body = Stream.hello
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        } _: { fixture in
            for _ in 0..<3 { _ = try await fixture.heard.ask(fixture.provider()) }
            #expect(fixture.server.record.connections.count == 1)
            #expect(fixture.server.record.requests.count == 3)
        }
    }

    @Test("A request with parts that the server does not accept is refused")
    func unsupported() async throws {
        try await Fixture.run(as: "gateway", path: "") {
            try $0.stream(Stream.hello)
        } _: { fixture in
            var request = ChatRequest.hello
            request.tools = [ToolDescription(name: "t", summary: "s", input: [:], effect: .reads)]
            let error = await #expect(throws: ChatError.self) {
                try await fixture.heard.ask(fixture.provider(), request)
            }
            #expect(error?.kind == .unsupported)
            #expect(fixture.server.record.requests.isEmpty)
        }
    }
}

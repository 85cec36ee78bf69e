import Capabilities
import ChatProviders
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Retries before any output", .timeLimit(.minutes(5)))
struct RetryTests {
    @Test("A question is asked again after the stream broke, with growing waits")
    func again() async throws {
        try await Fixture.run { connection in
            guard connection.number > 0 else { return try connection.stream(Stream.first) }
            try connection.stream(Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept.count == 1)
            #expect(fixture.clock.slept.allSatisfy { (.seconds(1)...(.milliseconds(1100))).contains($0) })
            #expect(fixture.heard.notices.count == 1)
            #expect(fixture.heard.notices.first?.hasSuffix("trying again in 1s") == true)
        }
    }

    @Test("A question is not asked again if the client retries itself", arguments: [429, 503, 529, nil])
    func once(status: Int?) async throws {
        try await Fixture.run { connection in
            guard let status else { return try connection.stream(Stream.first) }
            try connection.reply(status, Stream.error("busy"))
        } _: { fixture in
            var request = ChatRequest.hello
            request.repeats = false
            await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider(), request) }
            #expect(fixture.server.record.requests.count == 1 && fixture.clock.slept.isEmpty)
        }
    }

    @Test("A question is asked without streaming after the stream broke twice", arguments: [true, false])
    func fallsBack(hasHead: Bool) async throws {
        try await Fixture.run { connection in
            try connection.receiveRequest()
            guard connection.number < 2 else {
                return try connection.answer(
                    200, ["Content-Type": "application/json", "Connection": "close"], Stream.whole)
            }
            if hasHead { try connection.begin() }
            connection.reset()
        } _: { fixture in
            let answer = try await fixture.heard.ask(fixture.provider())
            #expect(answer.message.text == "Hello")
            #expect(fixture.server.record.requests.map { $0.json["stream"] } == [true, true, nil])
            #expect(fixture.heard.notices.last?.contains("complete") == true)
        }
    }

    @Test(
        "A question is asked without streaming at once when the server refuses to stream",
        arguments: [400, 404, 405, 415, 501])
    func cannotStream(status: Int) async throws {
        try await Fixture.run { connection in
            guard connection.number > 0 else {
                return try connection.reply(status, Stream.error("Streaming is not supported by this engine"))
            }
            try connection.reply(Stream.whole)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept.isEmpty)
            #expect(fixture.server.record.requests.map { $0.json["stream"] } == [true, nil])
        }
    }

    @Test("A retry waits as long as the server asks")
    func retryAfter() async throws {
        try await Fixture.run { connection in
            guard connection.number > 0 else {
                return try connection.reply(429, Stream.error("slow down"), headers: "Retry-After: 7\r\n")
            }
            try connection.stream(Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept == [.seconds(7)])
        }
    }

    @Test("A retry sends nothing before the wait is over")
    func reallyWaits() async throws {
        let clock = TestClock()
        try await Fixture.run { setup in
            setup.clock = clock
        } _: { connection in
            guard connection.number > 0 else {
                return try connection.reply(429, Stream.error("slow down"), headers: "Retry-After: 7\r\n")
            }
            try connection.stream(Stream.hello)
        } _: { fixture in
            let provider = try await fixture.provider()
            let task = Task { try await fixture.heard.ask(provider) }
            await clock.waitForSleeper(in: task)
            clock.advance(by: .milliseconds(6999))
            #expect(fixture.server.record.requests.count == 1)
            clock.advance(by: .milliseconds(1))
            let text = try await task.value.message.text
            #expect(text == "Hello")
        }
    }

    @Test("A question is not asked again when the server asks for too long a wait")
    func tooLong() async throws {
        try await Fixture.run {
            try $0.reply(429, Stream.error("slow down"), headers: "Retry-After: 3600\r\n")
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.kind == .rateLimited)
            #expect(error?.retryAfter == .seconds(3600))
            #expect(error?.message.contains("try again in 1h") == true)
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("A question is given up after three retries", arguments: [429, 502, 503, 504, 529])
    func givesUp(status: Int) async throws {
        try await Fixture.run {
            try $0.reply(status, Stream.error("busy"))
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.status == status)
            #expect(error?.mayRetry == true)
            #expect(fixture.server.record.requests.count == 4)
            let least: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
            #expect(zip(fixture.clock.slept, least).allSatisfy { $0 >= $1 && $0 <= $1 * 1.1 })
            #expect(fixture.clock.slept.count == 3)
        }
    }

    @Test("A question is not asked again when that would not help", arguments: [400, 401, 403, 404, 413, 422, 500])
    func final(status: Int) async throws {
        try await Fixture.run {
            try $0.reply(status, Stream.error("no"))
        } _: { fixture in
            let error = await #expect(throws: ChatError.self) { try await fixture.heard.ask(fixture.provider()) }
            #expect(error?.status == status)
            #expect(fixture.server.record.requests.count { $0.method == "POST" } == 1)
            #expect(fixture.clock.slept.isEmpty)
        }
    }

    @Test("A question is asked again when an overloaded server says so inside a stream")
    func overloadedInside() async throws {
        try await Fixture.run { connection in
            guard connection.number > 0 else {
                return try connection.stream(
                    Stream.first + "data: \(Stream.error("Provider overloaded", code: "503"))\n\n" + Stream.done)
            }
            try connection.stream(Stream.hello)
        } _: { fixture in
            try await fixture.expectHello()
            #expect(fixture.clock.slept.count == 1)
        }
    }

    @Test("A question is asked again after a stalled stream, and a stop ends the wait")
    func stopWhileWaiting() async throws {
        let clock = TestClock()
        try await Fixture.run { setup in
            setup.clock = clock
            setup.limits.idle = .milliseconds(200)
        } _: { connection in
            try connection.stream(Stream.first)
            try connection.stall()
        } _: { fixture in
            let provider = try await fixture.provider()
            let task = Task { try await fixture.heard.ask(provider) }
            await clock.waitForSleeper(in: task)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(fixture.server.record.requests.count == 1)
        }
    }

    @Test("A question uses the other name after a server refused one, from then on")
    func otherName() async throws {
        try await Fixture.run { connection in
            guard connection.number > 0 else {
                return try connection.reply(
                    400,
                    Stream.error(
                        "Unsupported parameter: 'max_completion_tokens' is not supported. Use 'max_tokens' instead."))
            }
            try connection.stream(Stream.hello)
        } _: { fixture in
            var request = ChatRequest.hello
            request.options.maxTokens = 100
            for _ in 0..<2 {
                try await fixture.expectHello(request)
            }
            let requests = fixture.server.record.requests
            #expect(requests.map { $0.json["max_tokens"] } == [nil, 100, 100])
            #expect(requests.map { $0.json["max_completion_tokens"] } == [100, nil, nil])
        }
    }
}

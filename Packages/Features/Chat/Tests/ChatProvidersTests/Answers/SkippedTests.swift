import Capabilities
import ChatProviders
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Unknown server events", .timeLimit(.minutes(5)))
struct SkippedTests {
    /// Asks a provider of that kind, whose server sends this, and returns the span of the question.
    private func span(
        _ stream: String, as id: String = "openai", isolation: isolated (any Actor)? = #isolation
    ) async throws -> TraceSpan {
        let sink = RecordingSpanSink()
        try await Fixture.run(as: id) { setup in
            setup.tracer = Tracer(sinks: [sink], now: setup.now)
        } _: {
            try $0.stream(stream)
        } _: { fixture in
            try await fixture.expectHello()
        }
        return try #require(sink.spans.first { $0.name.hasPrefix("chat ") })
    }

    @Test("Unknown events are skipped and counted in the trace, and known ones are not")
    func openAI() async throws {
        let strange =
            "event: weather\ndata: sunny\n\n" + #"data: {"object":"mood","level":7}"# + "\n\n"
            + #"data: {"object":"mood","level":8}"# + "\n\n" + #"data: {"heartbeat":1}"# + "\n\n"
        let span = try await span(Stream.first + strange + Stream.text("Hello") + Stream.end)
        #expect(span.attributes["martlet.skipped_events"] == ["mood 2", "weather 1", "{heartbeat} 1"])
        #expect(
            span.attributes["gen_ai.provider.name"] == "openai"
                && span.attributes["gen_ai.response.finish_reasons"] == ["stop"])
        #expect(span.attributes["gen_ai.usage.input_tokens"] == 9)
        // The events of the stream are counted, and how long the first was waited for is known.
        let sent = (Stream.first + strange + Stream.text("Hello") + Stream.end).split(separator: "data: ").count
        // The last one only says that it is the last, and need not be read.
        let counted = try #require(span.attributes["martlet.stream.events"]?.int)
        #expect((sent - 1...sent).contains(counted))
        #expect(span.attributes["gen_ai.response.time_to_first_chunk"]?.double.map { $0 > 0 } == true)
        let plain = try await self.span(Stream.hello)
        #expect(plain.attributes["martlet.skipped_events"] == nil)
    }

    @Test("Unknown parts are found among and inside the events of Anthropic")
    func anthropic() async throws {
        let strange =
            "event: content_block_start\n"
            + #"data: {"type":"content_block_start","index":7,"content_block":{"type":"hologram"}}"#
            + "\n\nevent: mood\ndata: {\"type\":\"mood\"}\n\nevent: message_delta"
        let stream = VendorTests.claude.replacing("event: message_delta", with: strange)
        let span = try await span(stream, as: "anthropic")
        #expect(span.attributes["martlet.skipped_events"] == ["content_block_start hologram 1", "mood 1"])
        let plain = try await self.span(VendorTests.claude, as: "anthropic")
        #expect(plain.attributes["martlet.skipped_events"] == nil)
    }

    @Test("Endless unknown events use no memory and do not control the terminal")
    func flood() async throws {
        var strange = ""
        for number in 0..<1000 { strange += "event: \u{1B}[2Jkind-\(number)\ndata: {}\n\n" }
        let span = try await span(Stream.first + strange + Stream.text("Hello") + Stream.end)
        let names = span.attributes["martlet.skipped_events"]?.array?.compactMap(\.string) ?? []
        #expect(names.count == 16)
        #expect(names.allSatisfy { !$0.contains("\u{1B}") && $0.contains("kind-") })
    }

    @Test("A failure is reported in the span beside the skipped events")
    func failing() async throws {
        let sink = RecordingSpanSink()
        try await Fixture.run { setup in
            setup.tracer = Tracer(sinks: [sink], now: setup.now)
        } _: {
            try $0.stream(Stream.first + "event: mood\ndata: {}\n\n" + Stream.text("Hel"))
        } _: { fixture in
            let provider = try await fixture.provider()
            await #expect(throws: ChatError.self) { try await fixture.heard.ask(provider) }
        }
        let span = try #require(sink.spans.first { $0.name.hasPrefix("chat ") })
        #expect(span.failure == "chat.stream-lost" && span.attributes["martlet.skipped_events"] == ["mood 1"])
    }
}

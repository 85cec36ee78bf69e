import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Redaction of spans")
struct RedactedTraceTests {
    private struct Broken: Failure {
        let code = "demo.broken"
        let message = "the key hunter2hunter2 was refused"
    }

    @Test("Attributes given at the start, noted later or nested contain no secrets")
    func clean() async throws {
        let redactor = Redactor()
        let sink = RecordingSpanSink(without: redactor)
        let tracer = Tracer(sinks: [sink], now: { Timestamp(microseconds: 0) })
        await tracer.span("outer", of: "demo") { span in
            span.set("url", "https://a.example/?token=abc")
            span.set("n", 1)
            // A secret registered while the span runs must be removed when the span is delivered.
            redactor.learn(Secret("hunter2hunter2"))
            span.set("words", .strings(["a", "it said hunter2hunter2"]))
            await tracer.span("inner", of: "demo") { inner in
                inner.set("key", "hunter2hunter2")
                inner.happened("it said hunter2hunter2", [SpanAttribute("key", "hunter2hunter2")])
            }
        }
        await #expect(throws: Broken.self) {
            try await tracer.span("failed", of: "demo") { span in
                span.set("header", "Bearer abcDEF123456")
                throw Broken()
            }
        }
        #expect(sink.spans.map(\.name) == ["inner", "outer", "failed"])
        let clean: [JSONObject] = [
            ["key": "‹redacted›"],
            ["url": "https://a.example/?token=‹redacted›", "n": 1, "words": ["a", "it said ‹redacted›"]],
            ["header": "Bearer ‹redacted›"],
        ]
        #expect(sink.spans.map(\.attributes) == clean)
        #expect(sink.spans[2].failure == "demo.broken")
        #expect(sink.spans[0].events.map(\.name) == ["it said ‹redacted›"])
        #expect(sink.spans[0].events.map(\.attributes) == [["key": "‹redacted›"]])
    }
}

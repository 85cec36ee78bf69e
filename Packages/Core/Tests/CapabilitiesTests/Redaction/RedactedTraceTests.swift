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
        let sink = RecordingSpanSink()
        let redactor = Redactor()
        let tracer = Tracer(sinks: [sink], now: { Timestamp(microseconds: 0) }, redactor: redactor)
        await tracer.span(
            "outer", feature: "demo", attributes: ["url": "https://a.example/?token=abc", "n": 1]
        ) { notes in
            // A secret registered while the span runs must be removed when the span is delivered.
            redactor.learn(Secret("hunter2hunter2"))
            notes.note("words", ["a", "it said hunter2hunter2"])
            await tracer.span("inner", feature: "demo", attributes: ["key": "hunter2hunter2"]) {}
        }
        await #expect(throws: Broken.self) {
            try await tracer.span("failed", feature: "demo", attributes: ["header": "Bearer abcDEF123456"]) {
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
    }
}

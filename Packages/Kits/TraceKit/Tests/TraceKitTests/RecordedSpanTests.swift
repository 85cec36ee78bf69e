import Capabilities
import JSON
import Synchronization
import Testing
import TraceKit

/// From a span that a tracer recorded to what others read.
@Suite("a recorded span")
struct RecordedSpanTests {
    private final class Kept: SpanSink {
        let spans = Mutex<[TraceSpan]>([])
        func record(_ span: SpanRecord) { spans.withLock { $0.append(span.copy(without: Redactor())) } }
    }

    @Test(
        "says in each form that its parent is one of another program, and how it failed",
        arguments: OTLPEncoding.allCases)
    func remote(encoding: OTLPEncoding) async throws {
        struct Refused: Failure {
            let code = "test.refused"
            let message = "refused"
        }
        let kept = Kept()
        let tracer = Tracer(sinks: [kept], now: { Timestamp(microseconds: 9) })
        let outer = try #require(
            TraceContext(
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "vendor=1"))
        await #expect(throws: Refused.self) {
            try await TraceContext.$current.withValue(outer) {
                try await tracer.span("work", .server, of: "test") { span in
                    span.set("a", 1.5)
                    span.happened("retry", [SpanAttribute("n", 2)])
                    throw Refused()
                }
            }
        }
        let span = try #require(kept.spans.withLock { $0.first })
        var (line, body): ([UInt8], [UInt8]) = ([], [])
        SpanLine.write(span, into: &line)
        OTLPRequest(resource: TraceResource()).write([span], as: encoding, into: &body)
        let received = try ReceivedSpans(parsing: body, as: encoding).groups.first?.spans.first
        for again in [try SpanLine.read(line), try #require(received)] {
            #expect(again.isParentRemote && again.parent == outer.span && again.context.trace == outer.trace)
            #expect(again.context.state == "vendor=1" && again.kind == .server && again.failure == "test.refused")
            #expect(again.attributes == ["a": 1.5] && again.events.first?.attributes == ["n": 2])
            #expect(again.facts == span.facts)
        }
    }

    @Test("has ids that are never zero")
    func ids() {
        #expect(TraceID(words: (0, 0)) == nil && SpanID(word: 0) == nil)
        #expect(TraceID(words: (1, 0))?.words.0 == 1 && SpanID(word: 5)?.word == 5)
    }
}

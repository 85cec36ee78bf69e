import Capabilities
import JSON
import Testing

@Suite("Tracer")
struct TracerTests {
    private let sink = SpanList()
    private let clock = Ticks()

    private func tracer(_ sinks: [any SpanSink]) -> Tracer {
        Tracer(sinks: sinks) { [clock] in clock.next() }
    }

    @Test("A nested span has the trace of the outer one, and its span as parent")
    func nesting() async throws {
        let tracer = tracer([sink])
        await tracer.span("outer", feature: "demo", attributes: ["n": 1]) {
            await tracer.span("inner", feature: "demo") {}
            await tracer.span("second", feature: "other") {}
        }
        #expect(sink.spans.map(\.name) == ["inner", "second", "outer"])
        let (inner, second, outer) = (sink.spans[0], sink.spans[1], sink.spans[2])
        #expect(outer.parent == nil)
        #expect(inner.parent == outer.context.span)
        #expect(second.parent == outer.context.span)
        #expect(Set([inner, second, outer].map(\.context.trace)).count == 1)
        #expect(Set([inner, second, outer].map(\.context.span)).count == 3)
        #expect(outer.attributes == ["n": 1])
        #expect(second.feature == "other")
    }

    @Test("Spans have the times of their start and end")
    func times() async {
        let tracer = tracer([sink])
        await tracer.span("outer", feature: "demo") {
            await tracer.span("inner", feature: "demo") {}
        }
        #expect(sink.spans.map(\.start.microseconds) == [2, 1])
        #expect(sink.spans.map(\.end.microseconds) == [3, 4])
    }

    @Test("Work sees the context of its span, which ends with it")
    func context() async {
        let seen = await tracer([sink]).span("work", feature: "demo") { TraceContext.current }
        #expect(seen == sink.spans.first?.context)
        #expect(TraceContext.current == nil)
    }

    @Test("A trace from outside is continued with its sampling")
    func continued() async throws {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let outside = try #require(TraceContext(traceparent: header))
        await TraceContext.$current.withValue(outside) { await tracer([sink]).span("work", feature: "demo") {} }
        let span = try #require(sink.spans.first)
        #expect(span.context.trace == outside.trace)
        #expect(span.parent == outside.span)
        #expect(!span.context.isSampled)
    }

    @Test("A failed span has the code of the error, which is passed on")
    func failures() async {
        let tracer = tracer([sink])
        await #expect(throws: DemoFailure.self) { try await tracer.span("a", feature: "demo") { throw DemoFailure() } }
        await #expect(throws: CancellationError.self) {
            try await tracer.span("b", feature: "demo") { throw CancellationError() }
        }
        await #expect(throws: ValueError.self) { try await tracer.span("c", feature: "demo") { throw ValueError("x") } }
        await tracer.span("d", feature: "demo") {}
        #expect(sink.spans.map(\.failure) == ["demo.failed", "cancelled", "unexpected", nil])
    }

    @Test("Spans reach every sink")
    func sinks() async {
        let other = SpanList()
        await tracer([sink, other]).span("work", feature: "demo") {}
        #expect(sink.spans.map(\.context) == other.spans.map(\.context))
        #expect(other.spans.count == 1)
    }

    @Test("Without a sink there are no spans")
    func noSink() async {
        let seen = await tracer([]).span("work", feature: "demo") { TraceContext.current }
        #expect(seen == nil)
        #expect(clock.next().microseconds == 1)
    }

    @Test("Work stays on its actor")
    func isolation() async {
        let counter = Counter()
        await counter.count(in: tracer([sink]))
        #expect(await counter.value == 1)
    }
}

/// Changes its state inside a span, which compiles and runs only on its own actor.
private actor Counter {
    private(set) var value = 0

    func count(in tracer: Tracer) async {
        await tracer.span("count", feature: "demo") { value += 1 }
    }
}

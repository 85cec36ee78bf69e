import Capabilities
import JSON
import Testing

@Suite("Spans around work")
struct TracerTests {
    private let sink = SpanList()
    private let clock = Ticks()

    private func tracer(_ sinks: [any SpanSink]) -> Tracer {
        Tracer(sinks: sinks) { [clock] in clock.next() }
    }

    @Test("nest: the inner one has the outer one's trace, and its span as parent")
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

    @Test("have the times of their begin and end")
    func times() async {
        let tracer = tracer([sink])
        await tracer.span("outer", feature: "demo") {
            await tracer.span("inner", feature: "demo") {}
        }
        #expect(sink.spans.map(\.start.microseconds) == [2, 1])
        #expect(sink.spans.map(\.end.microseconds) == [3, 4])
    }

    @Test("show their context to the work, and take it back after")
    func context() async {
        let seen = await tracer([sink]).span("work", feature: "demo") { TraceContext.current }
        #expect(seen == sink.spans.first?.context)
        #expect(TraceContext.current == nil)
    }

    @Test("go on with a trace that came from outside, and with its sampling")
    func continued() async throws {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let outside = try #require(TraceContext(traceparent: header))
        await TraceContext.$current.withValue(outside) { await tracer([sink]).span("work", feature: "demo") {} }
        let span = try #require(sink.spans.first)
        #expect(span.context.trace == outside.trace)
        #expect(span.parent == outside.span)
        #expect(!span.context.isSampled)
    }

    @Test("carry the code of the error that ended them, and pass it on")
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

    @Test("reach every sink")
    func sinks() async {
        let other = SpanList()
        await tracer([sink, other]).span("work", feature: "demo") {}
        #expect(sink.spans.map(\.context) == other.spans.map(\.context))
        #expect(other.spans.count == 1)
    }

    @Test("do not exist where nobody takes them")
    func noSink() async {
        let seen = await tracer([]).span("work", feature: "demo") { TraceContext.current }
        #expect(seen == nil)
        #expect(clock.next().microseconds == 1)
    }

    @Test("leave the work on its actor")
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

import Capabilities
import JSON
import Synchronization
import Testing

@Suite("Tracer")
struct TracerTests {
    private let sink = SpanList()
    private let ticks = ManualTicks()

    private func tracer(_ sinks: [any SpanSink], _ sampling: TraceSampling = TraceSampling()) -> Tracer {
        Tracer(sinks: sinks, now: { Timestamp(microseconds: 7) }, sampling: sampling) { [ticks] in ticks.now }
    }

    @Test("A nested span has the trace of the outer one, and its span as parent, also in other tasks")
    func nesting() async throws {
        let tracer = tracer([sink])
        await tracer.span("outer", of: "demo") { span in
            span.set("n", 1)
            await tracer.span("inner", .client, of: "demo") { _ in }
            await withTaskGroup { group in
                group.addTask { await tracer.span("child", of: "other") { _ in } }
            }
            await Task { await tracer.span("task", of: "demo") { _ in } }.value
        }
        #expect(sink.spans.map(\.name) == ["inner", "child", "task", "outer"])
        let (inner, child, task, outer) = (sink.spans[0], sink.spans[1], sink.spans[2], sink.spans[3])
        #expect(outer.parent == nil && [inner, child, task].allSatisfy { $0.parent == outer.context.span })
        #expect(Set(sink.spans.map(\.context.trace)).count == 1)
        #expect(Set(sink.spans.map(\.context.span)).count == 4)
        #expect(outer.attributes == ["n": 1] && child.feature == "other")
        #expect(inner.kind == .client && outer.kind == .internal)
    }

    @Test("A span lasts as long as its work, whatever the time of day is set to")
    func times() async {
        let day = Ticks()
        let tracer = Tracer(sinks: [sink], now: { Timestamp(microseconds: 1_000 - day.next().microseconds) }) {
            [ticks] in ticks.now
        }
        await tracer.span("outer", of: "demo") { _ in
            ticks.advance(by: 3_000)
            await tracer.span("inner", of: "demo") { span in
                ticks.advance(by: 2_000)
                span.happened("half", [SpanAttribute("n", 1)])
                ticks.advance(by: 2_000)
            }
        }
        #expect(sink.spans.map(\.start.microseconds) == [998, 999])
        #expect(sink.spans.map(\.duration) == [.microseconds(4), .microseconds(7)])
        #expect(sink.spans.map(\.end.microseconds) == [1_002, 1_006])
        let event = sink.spans.first?.events.first
        #expect(event?.name == "half" && event?.time.microseconds == 1_000 && event?.attributes == ["n": 1])
    }

    @Test("Kits record within the span around their work, and nothing outside of one or in muted work")
    func current() async {
        await Tracer.current.span("nothing", of: "kit") { #expect(!$0.isRecording) }
        await TraceContext.$current.withValue(TraceContext(traceparent: "00-\(Self.trace)-00f067aa0ba902b7-01")) {
            await Tracer.current.span("foreign", of: "kit") { #expect(!$0.isRecording) }
        }
        await tracer([sink]).span("work", of: "demo") { _ in
            await Tracer.current.span("inner", of: "kit") { $0.happened("half", after: .microseconds(5)) }
            await Tracer.muted { await Tracer.current.span("muted", of: "kit") { #expect(!$0.isRecording) } }
        }
        // Nothing is begun for what only counts.
        await tracer([CountingSink()]).span("work", of: "demo") { _ in
            await Tracer.current.span("inner", of: "kit") { #expect(!$0.isRecording) }
        }
        #expect(sink.spans.map(\.name) == ["inner", "work"])
        #expect(sink.spans.first?.parent == sink.spans.last?.context.span)
        #expect(sink.spans.first?.events.first?.time.microseconds == 12)
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test("Of work that is done often, only what fails or takes long is recorded")
    func often() async {
        await tracer([sink]).span("work", of: "demo") { _ in
            let tracer = Tracer.current
            for (name, time, failure) in [("quick", 1, nil), ("slow", 11, nil), ("failed", 1, "kit.failed")] {
                guard let span = tracer.begin(name, .client, of: "kit") else { continue }
                ticks.advance(by: Int64(time) * 1_000)
                tracer.end(span, failure: failure, ifLongerThan: .microseconds(10))
            }
        }
        #expect(sink.spans.map(\.name) == ["slow", "failed", "work"])
    }

    @Test("A question is a span that lasts until its answer, which it does not have")
    func question() async throws {
        let answers = HeadlessInteraction(answers: ["demo.name": "Ursula", "demo.key": "hunter22"])
        try await tracer([sink]).span("work", of: "demo") { _ in
            #expect(try await answers.text("demo.name", "Your name?") == "Ursula")
            _ = try await answers.secret("demo.key", "Your key?")
            await #expect(throws: InteractionError.self) { try await answers.confirm("demo.sure", "Sure?") }
        }
        #expect(sink.spans.map(\.name) == ["question demo.name", "question demo.key", "question demo.sure", "work"])
        #expect(sink.spans.map { $0.attributes["martlet.question.kind"] } == ["text", "secret", "confirm", nil])
        #expect(sink.spans.map(\.failure) == [nil, nil, "interaction.unanswered", nil])
        let shown = sink.spans.map { "\($0)" }.joined()
        #expect(!shown.contains("Ursula") && !shown.contains("hunter22"))
    }

    @Test("Work sees the context of its span, which ends with it")
    func context() async {
        let seen = await tracer([sink]).span("work", of: "demo") { _ in TraceContext.current }
        #expect(seen != nil && seen == sink.spans.first?.context)
        #expect(TraceContext.current == nil)
    }

    @Test("A trace from outside is continued with its sampling and its state")
    func continued() async throws {
        for flag in ["00", "01"] {
            let sink = SpanList()
            let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\(flag)"
            let outside = try #require(TraceContext(traceparent: header, tracestate: "a=1,b=2"))
            let tracer = tracer([sink])
            await TraceContext.$current.withValue(outside) {
                await tracer.span("work", of: "demo") { span in
                    #expect(TraceContext.current?.state == "a=1,b=2")
                    // What fails is recorded in any case.
                    span.fail("demo.failed")
                }
            }
            let span = try #require(sink.spans.first)
            #expect(span.context.trace == outside.trace && span.parent == outside.span)
            #expect(span.context.isSampled == (flag == "01"))
        }
    }

    @Test("A failed span has the code of the error, which is passed on")
    func failures() async {
        let tracer = tracer([sink])
        await #expect(throws: DemoFailure.self) {
            try await tracer.span("a", of: "demo") { _ in throw DemoFailure() }
        }
        await #expect(throws: CancellationError.self) {
            try await tracer.span("b", of: "demo") { _ in throw CancellationError() }
        }
        await #expect(throws: ValueError.self) {
            try await tracer.span("c", of: "demo") { _ in throw ValueError("x") }
        }
        await tracer.span("d", of: "demo") { $0.fail("tool_error") }
        await tracer.span("e", of: "demo") { _ in }
        #expect(sink.spans.map(\.failure) == ["demo.failed", "cancelled", "unexpected", "tool_error", nil])
    }

    @Test("Spans reach every sink")
    func sinks() async {
        let other = SpanList()
        await tracer([sink, other]).span("work", of: "demo") { _ in }
        #expect(sink.spans.map(\.context) == other.spans.map(\.context))
        #expect(other.spans.count == 1)
    }

    @Test("Without a sink there are no spans, and nothing is found out for them")
    func noSink() async {
        let tracer = tracer([])
        await tracer.span(
            {
                Issue.record("the name was made")
                return "work"
            }(), of: "demo"
        ) { span in
            #expect(TraceContext.current == nil && !span.isRecording)
            span.set(
                "n",
                {
                    Issue.record("the value was made")
                    return SpanValue.int(1)
                }())
        }
        #expect(tracer.begin("work", .server, of: "demo") == nil)
    }

    @Test("Of muted work nothing is recorded, in tasks of it neither, and what comes after it is")
    func muted() async {
        let tracer = tracer([sink])
        await tracer.span("outer", of: "demo") { _ in
            await Tracer.muted {
                #expect(TraceContext.current == nil && tracer.begin("GET", .server, of: "demo") == nil)
                await tracer.span("inner", of: "demo") { #expect(!$0.isRecording) }
                await withTaskGroup { group in
                    group.addTask { await tracer.span("child", of: "demo") { _ in } }
                }
            }
            await tracer.span("after", of: "demo") { _ in }
        }
        #expect(sink.spans.map(\.name) == ["after", "outer"])
    }

    @Test("Work stays on its actor")
    func isolation() async {
        let counter = Counter()
        await counter.count(in: tracer([sink]))
        #expect(await counter.value == 1)
    }

    @Test("A span that ends elsewhere is recorded once")
    func manual() throws {
        let tracer = tracer([sink])
        let outside = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        let span = try #require(tracer.begin("GET", .server, of: "http", under: outside))
        span.rename("GET /v1")
        tracer.end(span, failure: nil)
        tracer.end(span, failure: "late")
        span.set("late", true)
        span.rename("late")
        #expect(sink.spans.count == 1 && sink.spans[0].name == "GET /v1" && sink.spans[0].failure == nil)
        #expect(sink.spans[0].parent == outside?.span && span["late"] == nil)
    }

    @Test("The last value for a name counts, and too many facts are counted and left out")
    func attributes() async throws {
        await tracer([sink]).span("work", of: "demo") { span in
            for number in 0..<20 {
                span.set("a", .int(number))
                span.set("b", .string("\(number)"))
            }
            span.set("c", .strings(["x", "y"]))
            span.set("d", 1.5)
            span.set("e", false)
            span.set("f", SpanValue?.none)
            for (number, key) in Self.keys.enumerated() { span.set(key, .int(number)) }
            for number in 0..<200 { span.happened("\(number)") }
        }
        let span = try #require(sink.spans.first)
        #expect(span.attributes["a"] == 19 && span.attributes["b"] == "19" && span.attributes["c"] == ["x", "y"])
        #expect(span.attributes["d"] == 1.5 && span.attributes["e"] == false && span.attributes["f"] == nil)
        for (number, key) in Self.keys.enumerated() { #expect(span.attributes[key.description] == .int(number)) }
        #expect(span.events.count == 128 && span.dropped == 72)
    }

    private static let keys: [SpanKey] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"]

    // MARK: Sampling

    @Test("Of a trace that is not recorded nothing is, unless something in it fails or it is slow")
    func held() async throws {
        for (fails, takes, isKept) in [(false, 1, false), (true, 1, true), (false, 10, true), (false, 5, false)] {
            let sink = SpanList()
            let counter = CountingSink()
            let tracer = tracer([sink, counter], TraceSampling(ratio: 0, slow: .microseconds(5)))
            await tracer.span("root", of: "demo") { _ in
                await tracer.span("inner", of: "demo") { if fails { $0.fail("demo.failed") } }
                #expect(sink.spans.isEmpty && TraceContext.current?.isSampled == false)
                ticks.advance(by: Int64(takes) * 1_000)
            }
            #expect(sink.spans.map(\.name) == (isKept ? ["inner", "root"] : []))
            #expect(counter.count == 2)
        }
    }

    @Test("Work that goes on after the end of its trace follows what was decided", arguments: [true, false])
    func late(fails: Bool) async throws {
        let tracer = tracer([sink], TraceSampling(ratio: 0))
        let context = await tracer.span("root", of: "demo") { span in
            if fails { span.fail("demo.failed") }
            return TraceContext.current
        }
        await TraceContext.$current.withValue(context) { await tracer.span("late", of: "demo") { _ in } }
        #expect(sink.spans.map(\.name) == (fails ? ["root", "late"] : []))
        // What fails later is recorded in any case, such as a turn that goes on after its request.
        await TraceContext.$current.withValue(context) { await tracer.span("broken", of: "demo") { $0.fail("x") } }
        #expect(sink.spans.last?.name == "broken")
    }

    @Test("Of an endless trace that is not recorded a limited part waits")
    func limit() async {
        let tracer = tracer([sink], TraceSampling(ratio: 0))
        await tracer.span("root", of: "demo") { root in
            for _ in 0..<5_000 { await tracer.span("inner", of: "demo") { _ in } }
            root.fail("demo.failed")
        }
        #expect(sink.spans.count <= 1_001 && sink.spans.count > 500 && sink.spans.last?.name == "root")
    }

    @Test("About the wished part of the traces is recorded, and each as a whole", arguments: [0.1, 0.5, 0.9])
    func ratio(_ ratio: Double) async {
        let tracer = tracer([sink], TraceSampling(ratio: ratio))
        for _ in 0..<2_000 {
            await tracer.span("root", of: "demo") { _ in await tracer.span("inner", of: "demo") { _ in } }
        }
        let roots = sink.spans.count { $0.name == "root" }
        #expect(abs(Double(roots) / 2_000 - ratio) < 0.06 && sink.spans.count == 2 * roots)
    }

    @Test("Ids are never the same, however many threads make them")
    func ids() async {
        let tracer = tracer([sink])
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { await tracer.span("work", of: "demo") { _ in } } }
            }
        }
        #expect(Set(sink.spans.map(\.context.span)).count == 8_000)
        #expect(Set(sink.spans.map(\.context.trace)).count == 8_000)
    }
}

/// Changes its state inside a span, which compiles and runs only on its own actor.
private actor Counter {
    private(set) var value = 0

    func count(in tracer: Tracer) async {
        await tracer.span("count", of: "demo") { _ in value += 1 }
    }
}

/// Counts every span.
private final class CountingSink: SpanSink {
    private let spans = Mutex(0)

    var countsAll: Bool { true }
    var count: Int { spans.withLock { $0 } }
    func record(_ span: SpanRecord) { spans.withLock { $0 += 1 } }
}

/// Nanoseconds that pass when the test says so.
private final class ManualTicks: Sendable {
    private let time = Mutex<Int64>(1_000)

    var now: Int64 { time.withLock { $0 } }
    func advance(by nanoseconds: Int64) { time.withLock { $0 += nanoseconds } }
}

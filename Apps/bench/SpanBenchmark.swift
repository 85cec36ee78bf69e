import Capabilities
import Synchronization

/// What it costs to record a span with a few facts up to the ring of its sink, and what it costs where nobody records, compared
/// with the OpenTelemetry SDK of Python.
enum SpanBenchmark {
    private static let rounds = 200_000

    static func run() async throws -> [Figure] {
        let ring = Ring()
        let on = Tracer(sinks: [ring], now: Timestamp.now)
        let off = Tracer(sinks: [], now: Timestamp.now)
        var counter = 0
        let recorded = await best { counter &+= await work(on, counter) }
        let unrecorded = await best { counter &+= await work(off, counter) }
        let bare = await best { counter &+= await body(counter) }
        guard ring.count == 5 * rounds else { throw BenchmarkError("\(ring.count) spans were recorded") }
        let program = """
            import time
            from opentelemetry.sdk.trace import TracerProvider, SpanProcessor
            class Ring(SpanProcessor):
                def __init__(self): self.spans, self.count = [None] * 1024, 0
                def on_end(self, span):
                    self.spans[self.count % 1024] = span
                    self.count += 1
            provider = TracerProvider()
            provider.add_span_processor(Ring())
            tracer = provider.get_tracer("bench")
            best = 9e9
            for _ in range(5):
                start = time.perf_counter()
                for n in range(20000):
                    with tracer.start_as_current_span("work") as span:
                        span.set_attribute("http.request.method", "GET")
                        span.set_attribute("http.response.status_code", n)
                best = min(best, time.perf_counter() - start)
            print(best / 20000)
            """
        let answer = try await Peers.output(Peers.python, ["-c", program])
        guard let theirs = Double(answer.filter { !$0.isWhitespace }) else {
            throw BenchmarkError("opentelemetry-sdk is not in .build/peers; 'make setup' installs it")
        }
        return [
            Figure("a recorded span with two facts", recorded * 1e9, "ns", .atMost(400)),
            Figure("a span that nobody records, above calling the work", (unrecorded - bare) * 1e9, "ns", .atMost(5)),
            Figure("OpenTelemetry for Python / ours", theirs / recorded, "ratio", .atLeast(20)),
            Figure("OpenTelemetry for Python", theirs * 1e6, "us"),
        ]
    }

    private static func work(_ tracer: Tracer, _ number: Int) async -> Int {
        await tracer.span("work", of: "bench") { span in
            span.set(.httpMethod, "GET")
            span.set(.httpStatus, .int(number))
            return await body(number)
        }
    }

    @inline(never)
    private static func body(_ number: Int) async -> Int { number | 1 }

    /// The seconds of one call, in the best of five runs.
    private static func best(_ call: () async -> Void) async -> Double {
        var best = Double.infinity
        for _ in 0..<5 {
            let start = ContinuousClock.now
            for _ in 0..<rounds { await call() }
            best = min(best, (.now - start) / .seconds(1) / Double(rounds))
        }
        return best
    }

    /// Keeps the newest spans.
    private final class Ring: SpanSink {
        private let state = Mutex((spans: [SpanRecord?](repeating: nil, count: 1_024), count: 0))

        var count: Int { state.withLock { $0.count } }

        func record(_ span: SpanRecord) {
            state.withLock { state in
                state.spans[state.count % 1_024] = span
                state.count += 1
            }
        }
    }
}

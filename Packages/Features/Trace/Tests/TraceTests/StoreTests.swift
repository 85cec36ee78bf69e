import Capabilities
import CoreTesting
import FileKit
import JSON
import Testing
import TraceStore

@Suite("Traces in the database", .timeLimit(.minutes(5)))
struct StoreTests {
    /// Records three traces: a quick one, one that fails inside, and one that takes long.
    private func filled(_ budget: TraceStore.Budget = TraceStore.Budget(), _ body: (StoreLab) async throws -> Void)
        async throws
    {
        try await StoreLab.run(budget) { (lab) async throws in
            let spool = lab.spool("martlet")
            let tracer = lab.tracer(spool)
            await tracer.span("quick", of: "demo") { _ in }
            await tracer.span("outer", of: "demo") { _ in
                await tracer.span("chat model_x", .client, of: "demo") { $0.fail("chat.stopped") }
            }
            let other = lab.spool("other")
            let slow = lab.tracer(other)
            await slow.span("100% slow", of: "demo") { _ in
                await slow.span("inner", of: "demo") { _ in _ = lab.time.now() }
            }
            await spool.close()
            await other.close()
            try await body(lab)
        }
    }

    private func names(_ lab: StoreLab, _ change: (inout TraceQuery) -> Void) async throws -> [String?] {
        var query = TraceQuery()
        change(&query)
        return try await lab.store.traces(query).traces.map(\.name)
    }

    @Test("They are selected by program, failure, text and time, the newest first")
    func selects() async throws {
        try await filled { (lab) async throws in
            #expect(try await names(lab) { _ in } == ["100% slow", "outer", "quick"])
            #expect(try await names(lab) { $0.hasFailed = true } == ["outer"])
            #expect(try await names(lab) { $0.service = "other" } == ["100% slow"])
            #expect(try await names(lab) { $0.text = "model_" } == ["outer"])
            // What has a meaning in a pattern is only text.
            #expect(try await names(lab) { $0.text = "100%" } == ["100% slow"])
            #expect(try await names(lab) { $0.text = "%w" } == [])
            #expect(try await names(lab) { $0.text = "' OR 1 --" } == [])
            let began = try await lab.store.traces(TraceQuery()).traces.map(\.began)
            #expect(try await names(lab) { $0.since = began[1] } == ["100% slow", "outer"])
            #expect(try await names(lab) { $0.until = began[1] } == ["quick"])
            #expect(try await names(lab) { $0.limit = 1 } == ["100% slow"])
            #expect(
                try await names(lab) {
                    $0.limit = 1
                    $0.offset = 1
                } == ["outer"])
            let counts = try await lab.store.traces(TraceQuery()).traces.map { [$0.spans, $0.failures] }
            #expect(counts == [[2, 0], [2, 1], [1, 0]])
            // What failed inside of a trace did not end it.
            #expect(try await lab.store.traces(TraceQuery()).traces.allSatisfy { $0.failure == nil })
        }
    }

    @Test("One is found by the beginning of its id")
    func finds() async throws {
        try await filled { (lab) async throws in
            let ids = try await lab.store.traces(TraceQuery()).traces.map(\.id)
            for id in ids {
                #expect(try await lab.store.trace(beginning: id) == id)
                #expect(try await lab.store.trace(beginning: id.uppercased().prefix(20).description) == id)
                let spans = try await lab.store.spans(of: id, limit: 100)
                #expect(spans.allSatisfy { $0.span.context.trace.description == id })
            }
            for (word, code) in [
                ("", "trace.not-an-id"), ("z1", "trace.not-an-id"), ("a", "trace.not-an-id"),
                (String(repeating: "a", count: 33), "trace.not-an-id"),
                (String(repeating: "0", count: 32), "trace.unknown"),
            ] {
                let error = await #expect(throws: TraceError.self) { try await lab.store.trace(beginning: word) }
                #expect(error?.code == code, "\(word)")
            }
        }
    }

    @Test("Old traces are removed, and the oldest of too many")
    func budget() async throws {
        var budget = TraceStore.Budget()
        budget.time = .seconds(1_000)
        try await filled(budget) { (lab) async throws in
            #expect(try await names(lab) { _ in }.count == 3)
            lab.time.advance(by: 2_000)
            let spool = lab.spool("later")
            await lab.tracer(spool).span("new", of: "demo") { _ in }
            await spool.close()
            try await lab.store.takeSpools()
            #expect(try await names(lab) { _ in } == ["new"])
        }
        budget = TraceStore.Budget()
        budget.bytes = 1
        try await filled(budget) { (lab) async throws in
            #expect(try await names(lab) { _ in } == [])
        }
    }

    @Test("All are removed, or those before a time")
    func clears() async throws {
        try await filled { (lab) async throws in
            let began = try await lab.store.traces(TraceQuery()).traces.map(\.began)
            #expect(try await lab.store.clear(before: began[1]) == 1)
            #expect(try await names(lab) { _ in } == ["100% slow", "outer"])
            #expect(try await lab.store.clear(before: nil) == 2)
            #expect(try await lab.names() == [])
        }
    }

    @Test("The spans of long and short traces are passed on in order, each once")
    func pages() async throws {
        try await StoreLab.run { (lab) async throws in
            for (trace, count) in [(1, 3), (2, 4_500), (3, 1), (4, 2_000), (5, 2)] {
                let spans = try (1...count).map { number in
                    let (trace, span) = (TraceID(words: (0, UInt64(trace))), SpanID(word: UInt64(number)))
                    return TraceSpan(
                        name: "\(number)", feature: "x",
                        context: TraceContext(trace: try #require(trace), span: try #require(span)), parent: nil,
                        start: Timestamp(microseconds: Int64(number / 7)), duration: .seconds(1))
                }
                _ = try await lab.store.add(received: [(["service.name": .string("\(trace)")], spans)])
            }
            var seen: [String: Int] = [:]
            try await lab.store.forEachSpan(TraceQuery()) { stored in
                let program = stored.resource["service.name"]?.string ?? ""
                seen[program, default: 0] += 1
                #expect(stored.span.name == "\(seen[program] ?? 0)")
            }
            #expect(seen == ["1": 3, "2": 4_500, "3": 1, "4": 2_000, "5": 2])
        }
    }
}

import Capabilities
import CoreTesting
import FileKit
import JSON
import Registry
import Testing
import TraceKit
import TraceStore

@testable import Trace

@Suite("What changed between two traces", .timeLimit(.minutes(5)))
struct ComparisonTests {
    private let start = Timestamp(microseconds: 1_800_000_000_000_000)

    /// A turn with calls of a model that ran side by side, each with the time after which it began and how long it took.
    private func trace(_ number: Int, calls: [(after: Int, took: Int)], other: String) throws -> [TraceSpan] {
        var turn = SampleSpan(trace: number, id: 1, name: "turn", start: start)
        turn.duration = .seconds(10)
        var spans = [try turn.span]
        for (place, call) in calls.enumerated() {
            var sample = SampleSpan(
                trace: number, id: place + 2, parent: 1, name: "chat", start: start + .seconds(call.after))
            sample.duration = .seconds(call.took)
            sample.attributes = ["gen_ai.usage.output_tokens": 50, "martlet.cost_usd": 0.25]
            if call.took > 20 { sample.failure = "chat.stopped" }
            spans.append(try sample.span)
        }
        var last = SampleSpan(trace: number, id: 99, parent: 1, name: other, start: start + .seconds(9))
        last.duration = .milliseconds(500)
        return spans + [try last.span]
    }

    @Test("Kinds of work are told with what changed, the largest change of time first, and what only one has")
    func compares() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self], folder: folder)
            // Two seconds of the second call are within the first, and the long one ends after the turn.
            let first = try trace(1, calls: [(1, 3), (2, 4)], other: "read")
            let second = try trace(2, calls: [(1, 1), (5, 21)], other: "write")
            var lines: [UInt8] = []
            for span in first + second { SpanLine.write(span, into: &lines) }
            try Files.writeAtomically(lines, to: "\(folder)/traces.ndjson")
            _ = try await host.perform("trace.import", ["file": .string("\(folder)/traces.ndjson")])
            let ids = [first, second].map { JSON.string($0[0].context.trace.description) }
            let rows = try await host.perform("trace.compare", ["first": ids[0], "second": ids[1]])
            #expect(rows.array?.map { $0["name"] } == ["chat", "read", "write", "turn"])
            let chat = try #require(rows[0])
            #expect(
                chat["change"] == "+15 s" && chat["change_seconds"] == 15.0 && chat["first_time"] == "7s"
                    && chat["second_time"] == "22s")
            #expect(chat["first_count"] == 2 && chat["count_change"] == 0 && chat["only"] == nil)
            #expect(chat["failures_change"] == 1 && chat["first_tokens"] == 100 && chat["first_cost_usd"] == 0.5)
            #expect(chat["tokens_change"] == nil && chat["cost_change"] == nil)
            #expect(rows[1]?["only"] == "first" && rows[1]?["change"] == "-500 ms" && rows[1]?["second_time"] == nil)
            #expect(rows[2]?["only"] == "second" && rows[2]?["change_seconds"] == 0.5 && rows[2]?["first_count"] == nil)
            // 10 s less 1…6 and 9…9.5; 10 s less 1…2 and 5…10, in which the write is.
            #expect(
                rows[3]?["first_own"] == "4.5s" && rows[3]?["second_own"] == "4s"
                    && rows[3]?["own_change_seconds"] == -0.5)
            #expect(host.output.notices.last == "the first took 10 s, the second 26 s")
            let same = try await host.perform("trace.compare", ["first": ids[0], "second": ids[0]])
            #expect(same.array?.allSatisfy { $0["change"] == "0 s" && $0["own_change_seconds"] == 0.0 } == true)
            let error = await #expect(throws: TraceError.self) {
                try await host.perform("trace.compare", ["first": ids[0], "second": "ffff"])
            }
            #expect(error?.code == "trace.unknown")
            await host.session.close()
        }
    }
}

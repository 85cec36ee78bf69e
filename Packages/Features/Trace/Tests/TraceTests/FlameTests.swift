import Capabilities
import CoreTesting
import FileKit
import JSON
import Registry
import Testing
import TraceKit
import TraceStore

@testable import Trace

@Suite("Where the time of traces went", .timeLimit(.minutes(5)))
struct FlameTests {
    private let start = Timestamp(microseconds: 1_800_000_000_000_000)

    private func span(
        _ id: Int, in parent: Int?, _ name: String, trace: Int = 1, after: Int = 0, for seconds: Int = 1,
        failure: String? = nil
    ) throws -> TraceSpan {
        var sample = SampleSpan(trace: trace, id: id, parent: parent, name: name, start: start + .seconds(after))
        (sample.duration, sample.failure) = (.seconds(seconds), failure)
        return try sample.span
    }

    private func rows(_ spans: [TraceSpan], mostFrames: Int = Flame.mostFrames) -> (rows: [FlameRow], leftOut: Int) {
        var flame = Flame(mostFrames: mostFrames)
        for span in spans { flame.add(span) }
        return (flame.rows(), flame.leftOut)
    }

    private func lines(_ rows: [FlameRow]) -> [String] {
        rows.map { "\($0.depth) \($0.kind.name) \($0.count)x \($0.time / .seconds(1)) \($0.own / .seconds(1))" }
    }

    @Test("What was done in the same work is one frame, over all traces, the longest first")
    func merges() throws {
        let (found, _) = rows([
            try span(1, in: nil, "turn", for: 10), try span(2, in: 1, "chat", after: 1, for: 2),
            try span(3, in: 1, "tool", after: 3, for: 5), try span(4, in: 3, "chat", after: 4, for: 1, failure: "late"),
            try span(5, in: 1, "chat", after: 8, for: 1),
            // The same ids in another trace are other spans.
            try span(1, in: nil, "turn", trace: 2, for: 2), try span(3, in: 1, "chat", trace: 2, for: 1),
        ])
        #expect(
            lines(found) == [
                "0 turn 2x 12.0 3.0", "1 tool 1x 5.0 4.0", "2 chat 1x 1.0 1.0", "1 chat 3x 4.0 4.0",
            ])
        #expect(found.map(\.failures) == [0, 0, 1, 0] && found.map(\.number) == [1, 2, 3, 4])
        #expect(found.map(\.part.start) == [0, 0, 0, 5.0 / 12] && found[0].share == 1)
        #expect(Set(found.map { $0.part.bar(24).count }) == [24])
        #expect(found[1].part.bar(24) == String(repeating: "━", count: 10) + String(repeating: "·", count: 14))
    }

    @Test("What ran side by side, and longer together than what is around it, stays within its bar")
    func sideBySide() throws {
        let (found, _) = rows([
            try span(1, in: nil, "all", for: 4), try span(2, in: 1, "a", for: 4), try span(3, in: 1, "b", for: 4),
        ])
        #expect(lines(found) == ["0 all 1x 4.0 0.0", "1 a 1x 4.0 4.0", "1 b 1x 4.0 4.0"])
        #expect(
            found.map(\.part) == [
                FlamePart(start: 0, width: 1), FlamePart(start: 0, width: 0.5), FlamePart(start: 0.5, width: 0.5),
            ])
    }

    @Test(
        "Spans around each other, without a time, nested without end, or that begin before what is around them are all there"
    )
    func liars() throws {
        #expect(
            rows([try span(1, in: 2, "a"), try span(2, in: 1, "b"), try span(3, in: 3, "c")]).rows.reduce(0) {
                $0 + $1.count
            } == 3)
        #expect(
            lines(rows([try span(2, in: 1, "in"), try span(1, in: nil, "around")]).rows).map { $0.prefix(8) } == [
                "0 around", "1 in 1x ",
            ])
        let none = rows([try span(1, in: nil, "a", for: 0), try span(2, in: 1, "b", for: 0)]).rows
        #expect(none.map(\.share) == [0, 0] && none.allSatisfy { $0.part.bar(24).contains("━") })
        let deep = try (1...3_000).map { try span($0, in: $0 == 1 ? nil : $0 - 1, "s") }
        #expect(rows(deep).rows.last?.depth == 2_999)
    }

    @Test("Of too many kinds of work the rest is left out, with what is in it, and counted")
    func tooMany() throws {
        let spans = try (1...20).map { try span($0, in: nil, "s\($0)") } + [try span(21, in: 20, "in the last")]
        let (found, leftOut) = rows(spans, mostFrames: 15)
        #expect(found.count == 15 && leftOut == 6)
    }

    @Test("The action takes ids or what selects traces")
    func action() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self], folder: folder)
            var lines: [UInt8] = []
            for span in [
                try span(1, in: nil, "turn", for: 3), try span(2, in: 1, "chat", for: 2),
                try span(1, in: nil, "run", trace: 2, failure: "broken"),
            ] { SpanLine.write(span, into: &lines) }
            try Files.writeAtomically(lines, to: "\(folder)/traces.ndjson")
            _ = try await host.perform("trace.import", ["file": .string("\(folder)/traces.ndjson")])
            let all = try await host.perform("trace.flame")
            #expect(all.array?.map { $0["name"] } == ["turn", "  chat", "run"] && all[0]?["percent"] == 75.0)
            #expect(host.output.notices.last == "of 2 traces")
            let failed = try await host.perform("trace.flame", ["failed": true])
            #expect(failed.array?.map { $0["name"] } == ["run"] && failed[0]?["failures"] == 1)
            let one = try await host.perform(
                "trace.flame", ["id": .string(try span(1, in: nil, "turn").context.trace.description)])
            #expect(one.array?.map { $0["own"] } == ["1s", "2s"])
            let error = await #expect(throws: TraceError.self) {
                try await host.perform("trace.flame", ["id": "ffff"])
            }
            #expect(error?.code == "trace.unknown")
            await host.session.close()
        }
    }
}

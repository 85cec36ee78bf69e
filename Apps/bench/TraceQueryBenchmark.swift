import Capabilities
import CoreTesting
import FileKit
import HostKit
import JSON
import Registry
import Settings
import Trace
import TraceKit
@_spi(Benchmarks) import TraceStore

/// `trace show` of a trace of 10,000 spans among 1,000,000, and `trace stats` of a day that saw 10,000,000, of which these are the
/// ones that are still there.
enum TraceQueryBenchmark {
    private static let kept = 1_000_000
    private static let seen = 10_000_000
    private static let long = 10_000
    private static let rounds = 200
    /// The spans of all traces but the long one.
    private static let short = 10
    /// The number of the long trace, from which those of the others are far away.
    private static let longTrace = 77_777_777

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let program = try MartletProgram(in: folder)
            // The spans take about as much as is usually kept, and none of them may be removed.
            try Files.writeAtomically(
                Array(#"{"trace": {"budget": "4GB"}}"#.utf8), to: "\(program.home)/config/config.json")
            let workbench = Workbench(
                name: "martlet", version: "bench", features: [BuiltInFeature(TraceFeature.self)],
                environment: ["HOME": folder, "PATH": "/usr/bin:/bin", "MARTLET_HOME": program.home])
            if let failure = workbench.failure { throw failure }
            // Yesterday, of which the minutes are there and the end has come.
            let day = Timestamp(microseconds: (Timestamp.now().microseconds / dayLength - 1) * dayLength)
            let filling = try await fill(workbench.host.locations.state, day, in: folder)
            let session = workbench.open()
            let found = try await read(session, "trace.show", ["id": .string(try id)]) { rows in
                guard rows.count == long else { throw BenchmarkError("\(rows.count) spans are shown") }
            }
            let (start, end) = (day.json, (day + .seconds(86_400)).json)
            let whole = try await read(session, "trace.stats", ["since": start, "until": end]) {
                try check($0, rows: SampleTrace.kinds, count: seen)
            }
            // From the second minute to the last but one, which hours and minutes are put together for.
            let (later, earlier) = ((day + .seconds(60)).json, (day + .seconds(86_340)).json)
            let most = try await read(session, "trace.stats", ["since": later, "until": earlier]) {
                try check($0, rows: SampleTrace.kinds, count: seen * 1_438 / 1_440)
            }
            let minutes = try await read(
                session, "trace.stats", ["since": start, "until": end, "by": "minute"], rounds: rounds / 10
            ) { try check($0, rows: SampleTrace.kinds * 1_440, count: seen) }
            await session.close()
            let show = try (0..<20).reduce(into: Samples()) { samples, _ in
                samples.add(
                    try Child.time(
                        "env", ["MARTLET_HOME=\(program.home)", MartletProgram.path, "trace", "show", try id]))
            }
            return [
                Figure(
                    "trace show of 10,000 spans among 1,000,000 in 100,000 traces, p99", found.quantile(0.99) * 1000,
                    "ms", .atMost(50)),
                Figure(
                    "trace stats of a day that counted 10,000,000 spans, of which 1,000,000 are there, p99",
                    whole.quantile(0.99) * 1000, "ms", .atMost(500)),
                Figure(
                    "trace stats from the second minute to the last but one, p99", most.quantile(0.99) * 1000, "ms",
                    .atMost(500)),
                Figure(
                    "trace stats by the minute, \(SampleTrace.kinds * 1_440) rows, p99",
                    minutes.quantile(0.99) * 1000, "ms"),
                Figure("trace show, median", found.median * 1000, "ms"),
                Figure("the program with trace show and its output, median", show.median * 1000, "ms"),
                Figure("adding spans of processes", Double(kept) / filling, "spans/s"),
            ]
        }
    }

    /// In microseconds.
    private static let dayLength: Int64 = 86_400_000_000

    private static var id: String { get throws { "\(try SampleTrace.traceID(longTrace))" } }

    // MARK: Reading

    /// The times of an action in an open session, whose rows are checked once.
    private static func read(
        _ session: WorkbenchSession, _ action: String, _ arguments: JSONObject, rounds: Int = Self.rounds,
        check: ([JSON]) throws -> Void
    ) async throws -> Samples {
        var times = Samples()
        for round in 0...rounds {
            let start = ContinuousClock.now
            let result = try await session.perform(
                action, arguments, as: .person(HeadlessInteraction()), output: SilentOutput())
            // The first round warms up the caches.
            if round > 0 { times.add(.now - start) } else { try check(result.json.array ?? []) }
        }
        return times
    }

    private static func check(_ rows: [JSON], rows wanted: Int, count: Int) throws {
        let sum = rows.reduce(0) { $0 + ($1["count"]?.int ?? 0) }
        guard rows.count == wanted, abs(sum - count) < SampleTrace.kinds else {
            throw BenchmarkError("\(rows.count) rows count \(sum) spans")
        }
    }

    // MARK: Filling

    /// The seconds for adding the spans that are kept, from files as processes write them.
    private static func fill(_ state: String, _ day: Timestamp, in folder: String) async throws -> Double {
        try Files.makeDirectories(state)
        let now = Timestamp.now()
        let store = TraceStore(
            TraceStore.database(at: "\(state)/trace.db"), spools: "\(folder)/spool", budget: TraceStore.Budget(),
            now: { now })
        let (file, part) = ("\(folder)/spans.ndjson", 100_000)
        var seconds = 0.0
        for first in stride(from: 0, to: kept, by: part) {
            var lines: [UInt8] = []
            SpoolLine.write(resource: ["service.name": "martlet", "process.pid": .int(first + 1)], into: &lines)
            for number in first..<first + part { SpanLine.write(try span(number, day), into: &lines) }
            try Files.writeAtomically(lines, to: file)
            let start = ContinuousClock.now
            let (added, unreadable) = try await store.add(linesOf: .reading(file), isSpool: true)
            seconds += (.now - start) / .seconds(1)
            guard added == part, unreadable == 0 else { throw BenchmarkError("only \(added) of \(part) were added") }
        }
        // The others were removed long ago, so that only what was counted of them is there.
        let (minutes, counted) = (1_440, seen - kept)
        for minute in 0..<minutes {
            let numbers = counted * minute / minutes..<counted * (minute + 1) / minutes
            let start = day + .seconds(60 * minute)
            try await store.count(try numbers.map { try SampleTrace.bareSpan($0, start: start) }, of: "martlet")
        }
        await store.close()
        return seconds
    }

    /// Each hundredth span is one of the long trace, so that this lies between all others.
    private static func span(_ number: Int, _ day: Timestamp) throws -> TraceSpan {
        let start = day + .microseconds(Int64(number) * (dayLength / Int64(kept)))
        guard number.isMultiple(of: kept / long) else {
            let first = number / short * short
            let root = first.isMultiple(of: kept / long) ? first + 1 : first
            return try SampleTrace.span(
                number, trace: number / short + 1, parent: number == root ? nil : root, start: start)
        }
        // A root, a hundred steps, and a hundred spans in each of them.
        let place = number / (kept / long)
        let parent: Int? = place == 0 ? nil : place % 100 == 0 ? 0 : place / 100 * 100 * (kept / long)
        return try SampleTrace.span(number, trace: longTrace, parent: parent, start: start)
    }
}

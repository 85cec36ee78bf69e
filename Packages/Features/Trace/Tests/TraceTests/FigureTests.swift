import Capabilities
import CoreTesting
import JSON
import StorageKit
import Testing

@testable import TraceStore

@Suite("Figures that outlive spans", .timeLimit(.minutes(5)))
struct FigureTests {
    /// How many spans were counted, by name.
    private func counts(
        _ store: TraceStore, _ change: (inout FigureQuery) -> Void = { _ in }
    ) async throws -> [String: Int] {
        var query = FigureQuery()
        change(&query)
        return try await store.figures(query).reduce(into: [:]) {
            $0[$1.operation.name, default: 0] += $1.figures.count
        }
    }

    private func rows(_ store: TraceStore, _ width: FigureWidth) async throws -> Int {
        try await store.database.read { connection in
            try connection.first("SELECT count(*) FROM figures WHERE width = ?", width.seconds) { try $0[0] as Int }
                ?? 0
        }
    }

    @Test("They tell how often, how long, what failed and what models used, and are still told when the spans are gone")
    func outlives() async throws {
        var budget = TraceStore.Budget()
        budget.bytes = 1
        try await StoreLab.run(budget) { (lab) async throws in
            let now = lab.time.now()
            let spans = try (1...100).map { number in
                var sample = SampleSpan(id: number, name: number % 10 == 0 ? "chat" : "read", start: now)
                sample.duration = .milliseconds(number)
                if number % 20 == 0 { sample.failure = "chat.stopped" }
                if number % 10 == 0 {
                    sample.attributes = [
                        "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 7, "martlet.cost_usd": 0.0025,
                    ]
                }
                return try sample.span
            }
            try await lab.store.add(spans)
            // The same spans again are not counted again.
            try await lab.store.add(spans)
            try await lab.store.prune()
            #expect(try await lab.store.traces(TraceQuery()).total == 0)
            let found = try await lab.store.figures(FigureQuery())
            let chat = try #require(found.first { $0.operation.name == "chat" })
            #expect(
                chat.operation.feature == "demo" && chat.operation.service == "martlet" && !chat.operation.isReceived)
            #expect(chat.figures.count == 10 && chat.figures.failures == 5)
            #expect(chat.figures.usage.tokens == 1_070 && chat.figures.usage.nanodollars == 25_000_000)
            #expect(chat.figures.sum == 550_000_000 && chat.figures.longest == 100_000_000)
            let half = chat.figures.quantile(0.5) / .milliseconds(1)
            #expect(abs(half - 50) <= 0.5 && chat.figures.quantile(1) == .milliseconds(100))
            #expect(try await counts(lab.store) == ["chat": 10, "read": 90])
            #expect(try await counts(lab.store) { $0.service = "other" } == [:])
            #expect(try await lab.store.clear(before: nil) == 0)
            #expect(try await counts(lab.store) == [:])
        }
    }

    @Test("A period has the spans that began in it, whatever it is put together from")
    func periods() async throws {
        try await StoreLab.run { (lab) async throws in
            var generator = SeededGenerator(seed: 3)
            let now = lab.time.now()
            // Over the two days of which the minutes are kept.
            let ages = (0..<400).map { _ in Int.random(in: 0..<172_000, using: &generator) }
            try await lab.store.add(
                ages.enumerated().map { number, age in
                    try SampleSpan(id: number + 1, name: "work", start: now + .seconds(-age)).span
                })
            func start(_ age: Int) -> Int { FigureWidth.minute.start(of: now + .seconds(-age)) }
            for _ in 0..<40 {
                let (from, to) = (
                    Int.random(in: 0..<172_000, using: &generator), Int.random(in: 0..<172_000, using: &generator)
                )
                let found = try await counts(lab.store) {
                    $0.since = now + .seconds(-from)
                    $0.until = now + .seconds(-to)
                }
                // The minute of the end counts unless the end is its beginning.
                let until = now + .seconds(-to) + .microseconds(-1)
                let exact = ages.count {
                    start($0) >= start(from) && start($0) <= FigureWidth.minute.start(of: until)
                }
                #expect(found["work"] ?? 0 == exact, "\(from) to \(to)")
            }
            for width in FigureWidth.allCases {
                var query = FigureQuery()
                query.width = width
                let found = try await lab.store.figures(query)
                #expect(found.reduce(0) { $0 + $1.figures.count } == 400)
                let times = Set(ages.map { width.start(of: now + .seconds(-$0)) })
                #expect(Set(found.compactMap { $0.time.map { width.start(of: $0) } }) == times)
            }
        }
    }

    @Test(
        "Minutes are kept for two days, hours for forty and days for a year, and what is from before that is not counted"
    )
    func ages() async throws {
        try await StoreLab.run { (lab) async throws in
            let now = lab.time.now()
            func add(_ id: Int, _ start: Timestamp) async throws {
                try await lab.store.add([SampleSpan(id: id, name: "work", start: start).span])
            }
            try await add(1, now)
            for (days, minutes, hours, whole) in [(3, 1, 2, 2), (41, 1, 1, 3), (367, 1, 1, 1)] {
                let past = lab.time.now()
                lab.time.advance(by: days * 86_400)
                try await lab.store.prune()
                try await add(days, lab.time.now())
                #expect(try await rows(lab.store, .minute) == minutes, "\(days)")
                #expect(try await rows(lab.store, .hour) == hours, "\(days)")
                #expect(try await rows(lab.store, .day) == whole, "\(days)")
                // A period that begins where only days or hours are kept has all of that day or hour.
                let since = try await counts(lab.store) { $0.since = past + .seconds(1) }
                #expect(since["work"] == (days == 367 ? 1 : 2), "\(days)")
            }
            // Of a time that is too long ago, and one that has not come yet, which is counted as of now.
            try await add(5, now)
            try await add(6, Timestamp(microseconds: .max))
            #expect(try await counts(lab.store) == ["work": 2])
            #expect(try await counts(lab.store) { $0.until = lab.time.now() + .seconds(86_400) } == ["work": 2])
            _ = try await lab.store.clear(before: lab.time.now() + .seconds(2 * 86_400))
            #expect(try await counts(lab.store) == [:])
        }
    }

    @Test("What others send is counted apart, by at most so many names a day, whatever they claim to be")
    func received() async throws {
        try await StoreLab.run { (lab) async throws in
            let now = lab.time.now()
            try await lab.store.add([SampleSpan(name: "work", start: now).span])
            let most = FigureTally.most.received
            func send(_ numbers: Range<Int>) async throws {
                let spans = try numbers.map { number in
                    try SampleSpan(trace: 2, id: number + 1, name: number == 0 ? "work" : "name \(number)", start: now)
                        .span
                }
                _ = try await lab.store.add(received: [(["service.name": "martlet"], spans)])
            }
            try await send(0..<most - 1)
            try await send(most - 1..<most + 300)
            // One of those that have figures still has them.
            _ = try await lab.store.add(
                received: [(["service.name": "martlet"], [SampleSpan(trace: 3, name: "work", start: now).span])])
            let long = SampleSpan(
                trace: 4, name: "e" + String(repeating: "\u{301}", count: 100_000), start: now + .seconds(86_400 * -1))
            _ = try await lab.store.add(received: [([:], [try long.span])])
            let found = try await lab.store.figures(FigureQuery())
            func count(_ name: String, _ isReceived: Bool) -> Int? {
                found.first { $0.operation.name == name && $0.operation.isReceived == isReceived }?.figures.count
            }
            #expect(count("work", false) == 1 && count("work", true) == 2)
            #expect(count("_other", true) == 300 && count("_other", false) == nil)
            #expect(found.count == 1 + most + 2 && found.allSatisfy { $0.operation.name.unicodeScalars.count <= 200 })
            // Ours have names of their own even then.
            try await lab.store.add([SampleSpan(trace: 5, name: "name 3000", start: now).span])
            #expect(try await counts(lab.store)["name 3000"] == 1)
        }
    }

    @Test("Figures of some traces come from their spans, and agree with the others")
    func spans() async throws {
        try await StoreLab.run { (lab) async throws in
            let now = lab.time.now()
            for trace in 1...3 {
                var outer = SampleSpan(trace: trace, id: 1, name: "outer \(trace)", start: now)
                outer.duration = .seconds(trace)
                var chat = SampleSpan(trace: trace, id: 2, name: "chat", start: now + .seconds(60 * trace))
                chat.attributes = ["gen_ai.usage.input_tokens": .int(trace)]
                if trace == 2 { chat.failure = "chat.stopped" }
                try await lab.store.add([outer.span, chat.span])
            }
            func figures(_ change: (inout TraceQuery) -> Void) async throws -> [String: Figures] {
                var query = TraceQuery()
                change(&query)
                return try await lab.store.figures(FigureQuery(), ofSpansIn: query).reduce(into: [:]) {
                    $0[$1.operation.name] = $1.figures
                }
            }
            let counted = try await lab.store.figures(FigureQuery()).reduce(into: [:]) {
                $0[$1.operation.name] = $1.figures
            }
            #expect(try await figures { _ in } == counted && counted.count == 4)
            let failed = try await figures { $0.hasFailed = true }
            #expect(Set(failed.keys) == ["outer 2", "chat"] && failed["chat"]?.usage.input == 2)
            #expect(try await figures { $0.text = "outer 3" }["chat"]?.usage.input == 3)
            #expect(try await figures { $0.longer = .seconds(10_000) } == [:])
            // Too many are refused instead of filling the memory.
            func limited(_ limit: Int) -> FigureQuery {
                var query = FigureQuery()
                query.limit = limit
                return query
            }
            #expect(try await lab.store.figures(limited(4)).count == 4)
            let error = await #expect(throws: TraceError.self) { try await lab.store.figures(limited(3)) }
            #expect(error?.code == "trace.too-many-figures" && error?.message.contains("--since") == true)
            await #expect(throws: TraceError.self) {
                try await lab.store.figures(limited(3), ofSpansIn: TraceQuery())
            }
        }
    }
}

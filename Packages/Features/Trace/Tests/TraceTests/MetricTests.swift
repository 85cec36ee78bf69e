import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import JSON
import Registry
import StorageKit
import Testing
import TraceKit
import TraceReceiver
import TraceStore

@testable import Trace

@Suite("Metrics of other programs", .timeLimit(.minutes(5)))
struct MetricTests {
    /// A time a little before those of the lab.
    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(microseconds: Int64(1_799_999_000 + seconds) * 1_000_000)
    }

    private static func point(
        _ number: Double, of name: String = "n", at seconds: Int, _ kind: MetricPoint.Kind = .sum, isDelta: Bool = false
    ) -> MetricPoint {
        MetricPoint(name, unit: "By", kind, isDelta: isDelta, time: time(seconds), value: .number(number))
    }

    private static func add(_ points: MetricPoint..., to store: TraceStore, from service: String = "shop") async throws
    {
        // Each comes in a separate request.
        for point in points {
            _ = try await store.add(receivedMetrics: [(["service.name": .string(service)], [point])])
        }
    }

    private static func only(_ store: TraceStore) async throws -> StoredMetric {
        let (metrics, total) = try await store.metrics(MetricQuery())
        #expect(total == 1)
        return try #require(metrics.first)
    }

    // MARK: What is kept

    @Test("Increases are added up once, totals replace each other, and nothing older counts")
    func merges() async throws {
        let cases: [(points: [MetricPoint], value: Double, time: Int)] = [
            ([5, 3, 3, 9].enumerated().map { Self.point($1, at: [1, 2, 2, 1][$0], isDelta: true) }, 8, 2),
            ([5, 4, 7].enumerated().map { Self.point($1, at: [2, 3, 1][$0]) }, 4, 3),
            ([1, 2].map { Self.point($0, at: 5, .gauge) }, 2, 5),
            // Another kind of metric is not added to.
            ([Self.point(7, at: 1, .gauge), Self.point(1, at: 2, isDelta: true)], 1, 2),
            ([1, 2].map { Self.point(1e308, at: $0, isDelta: true) }, .greatestFiniteMagnitude, 2),
            // A clock was ahead for ten years, and then it was not.
            ([Self.point(1, at: 315_360_000), Self.point(2, at: 9)], 2, 9),
        ]
        for (points, value, time) in cases {
            try await StoreLab.run { (lab) async throws in
                for point in points { try await Self.add(point, to: lab.store) }
                let stored = try await Self.only(lab.store)
                #expect(stored.point.number == value && stored.points == points.count)
                #expect(stored.point.time == Self.time(time))
            }
        }
    }

    @Test("Distributions that came since the last ones are added up, and the order of attributes means nothing")
    func distributions() async throws {
        try await StoreLab.run { (lab) async throws in
            func point(_ facts: MetricPoint.Distribution, at seconds: Int, _ attributes: JSONObject) -> MetricPoint {
                MetricPoint(
                    "d", unit: "s", .histogram, isDelta: true, scope: "lib", attributes: attributes,
                    time: Self.time(seconds), value: .distribution(facts))
            }
            try await Self.add(
                point(.init(count: 2, sum: 3, least: 1, most: 2), at: 1, ["a": 1, "b": "x"]),
                point(.init(count: 1, sum: 10), at: 2, ["b": "x", "a": 1]),
                point(.init(count: .max, sum: nil, least: 0.5, most: 1), at: 3, ["a": 1, "b": "x"]), to: lab.store)
            let stored = try await Self.only(lab.store)
            #expect(stored.point.distribution == .init(count: .max, sum: 13, least: 0.5, most: 2))
            #expect(stored.point.attributes == ["a": 1, "b": "x"] && stored.point.scope == "lib")
            #expect(stored.point.kind == .histogram && stored.resource == ["service.name": "shop"])
        }
    }

    @Test("Of too many series, and of too many bytes, those go that did not come for the longest time")
    func bounded() async throws {
        var budget = TraceStore.Budget()
        budget.received = 8 * 600
        try await StoreLab.run(budget) { (lab) async throws in
            try await Self.add(Self.point(1, of: "first", at: 1), to: lab.store)
            try await lab.store.database.write { connection in
                try connection.run(
                    """
                    WITH RECURSIVE numbers (number) AS (
                        SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
                    INSERT INTO series (resource, scope, name, attributes, unit, kind, time, value, seen, bytes, points)
                        SELECT resource, '', 'n' || numbers.number, '{}', '', 'gauge', 0, 0.0, seen + 1, 250, 1
                        FROM series, numbers
                    """, TraceStore.mostSeries)
            }
            func names() async throws -> [String] {
                var query = MetricQuery()
                (query.order, query.limit) = (.name, 100_000)
                return try await lab.store.metrics(query).metrics.map(\.point.name)
            }
            #expect(try await names().count == TraceStore.mostSeries)
            try await Self.add(Self.point(1, of: "last", at: 1), to: lab.store)
            let kept = try await names()
            #expect(kept.count == TraceStore.mostSeries && kept.contains("last") && !kept.contains("first"))
            // Two of about 250 bytes have room.
            try await lab.store.prune()
            #expect(try await names() == ["last", "n\(TraceStore.mostSeries)"])
        }
    }

    @Test("What does not come any more is removed by its age, and all by hand")
    func removed() async throws {
        try await StoreLab.run { (lab) async throws in
            try await Self.add(Self.point(1, of: "old", at: 1), to: lab.store)
            lab.time.advance(by: 15 * 86_400)
            try await Self.add(Self.point(1, of: "new", at: 9), to: lab.store, from: "other")
            try await lab.store.prune()
            #expect(try await Self.only(lab.store).point.name == "new")
            // Who sent the other one is forgotten too.
            let programs = try await lab.store.database.read { connection in
                try connection.all("SELECT attributes FROM resources") { try $0[0] as String }
            }
            #expect(programs == [#"{"service.name":"other"}"#])
            _ = try await lab.store.clear(before: Self.time(9))
            #expect(try await lab.store.metrics(MetricQuery()).total == 1)
            _ = try await lab.store.clear(before: nil)
            #expect(try await lab.store.metrics(MetricQuery()).total == 0)
        }
    }

    // MARK: How they come

    private static func body(_ points: [String], scope: String = "lib", resource: String = "shop") -> [UInt8] {
        let metrics = points.enumerated().map { number, point in
            #"{"name":"m\#(number) hunter2hunter2","unit":"s","gauge":{"dataPoints":[\#(point)]}}"#
        }
        return Array(
            """
            {"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"\(resource)"}}]},\
            "scopeMetrics":[{"metrics":[\(metrics.joined(separator: ","))],"scope":{"name":"\(scope)"}}]}]}
            """.utf8)
    }

    private static func gauge(_ value: String, note: String = "hunter2hunter2") -> String {
        """
        {"timeUnixNano":"5000000000","asDouble":\(value),"attributes":[{"key":"note","value":{"stringValue":"\(note)"}}]}
        """
    }

    @Test("They are taken from who has the token, without secrets and within limits, and count for the rate")
    func receives() async throws {
        let redactor = Redactor()
        redactor.learn(Secret("hunter2hunter2"))
        try await StoreLab.run { (lab) async throws in
            var limits = SpanReceiver.Limits()
            limits.rate = 3
            let time = MovableTime()
            try await Receiving.run(lab, limits: limits, without: redactor, now: time.read) {
                (receiving) async throws in
                func post(_ body: [UInt8], token: String? = nil) async throws -> HTTPResponse {
                    time.advance(by: .seconds(60))
                    return try await receiving.post(body, to: "/v1/metrics", token: token)
                }
                let body = Self.body([Self.gauge("1.5")])
                #expect(try await post(body, token: "x").status == .unauthorized)
                #expect(receiving.receiver.received == 0)
                let answer = try await post(body)
                #expect(answer.status == .ok && answer.text == "{}" && receiving.receiver.received == 1)
                // Each of these is refused alone, and the one beside it is taken.
                let long = String(repeating: "x", count: 9_000)
                for (wrong, words) in [
                    (Self.gauge("2", note: long), "larger than 8.0 KiB"), (Self.gauge(#""NaN""#), "not finite"),
                    ("{}", "no time"),
                ] {
                    let partial = try await post(Self.body([Self.gauge("3"), wrong])).text
                    #expect(partial.contains(#""rejectedDataPoints":"1""#) && partial.contains(words), "\(partial)")
                }
                let foreign = try await post(Self.body([Self.gauge("4")], resource: long)).text
                #expect(foreign.contains(#""rejectedDataPoints":"1""#))
                for (body, status) in [("{", 400), (#"{"resourceMetrics":1}"#, 400), ("{}", 200)] {
                    #expect(try await post(Array(body.utf8)).status.code == status)
                }
                #expect(receiving.receiver.received == 4)
                // Five at once are more than a second may have, so the next one has to wait.
                _ = try await post(Self.body((0..<5).map { Self.gauge("\($0)") }, scope: "many"))
                let late = try await receiving.post(body, to: "/v1/metrics")
                #expect(late.status == .tooManyRequests && late.headers["Retry-After"] == "1")
            }
            let stored = try await lab.store.metrics(MetricQuery()).metrics.filter { $0.point.scope == "lib" }
            let point = try #require(stored.first?.point)
            #expect(stored.count == 1 && point.name == "m0 \(Redactor.mark)" && point.unit == "s")
            #expect(point.attributes == ["note": .string(Redactor.mark)] && point.number == 3)
        }
    }

    // MARK: The action

    @Test("The action shows them with their units, by time or name, in pages")
    func lists() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self], folder: folder)
            #expect(try await host.perform("trace.metrics") == [])
            #expect(host.output.notices.last?.contains("trace serve") == true)
            let state = host.host.locations.state
            let store = TraceStore(
                TraceStore.database(at: "\(state)/trace.db"), spools: "\(state)/traces/spool", budget: .init(),
                now: TestTime().now)
            let facts = MetricPoint.Distribution(count: 3, sum: 13, least: 1, most: 8)
            try await Self.add(
                Self.point(42, of: "c.bytes", at: 3), Self.point(0.123_456_789, of: "a.ratio", at: 1, .gauge), to: store
            )
            try await Self.add(
                MetricPoint("b.time", unit: "ms", .summary, time: Self.time(2), value: .distribution(facts)),
                MetricPoint(
                    "b.requests\u{1B}[2J", unit: "{request}", .sum, time: Self.time(1), value: .number(7)), to: store,
                from: "other")
            await store.close()
            func values(_ arguments: JSONObject) async throws -> [String] {
                try await host.perform("trace.metrics", arguments).array?.compactMap { $0["value"]?.string } ?? []
            }
            #expect(
                try await values([:]) == ["42 By", "3 values, mean 4.33333 ms", "0.123457 By", "7 request"])
            #expect(
                try await values(["sort": "name"])
                    == ["0.123457 By", "7 request", "3 values, mean 4.33333 ms", "42 By"])
            #expect(try await values(["service": "other", "text": "TIME"]) == ["3 values, mean 4.33333 ms"])
            #expect(try await values(["limit": 1, "page": 2]) == ["3 values, mean 4.33333 ms"])
            #expect(host.output.notices.last == "2 more; '--page 3' shows the next")
            let rows = try await host.perform("trace.metrics", ["service": "other", "sort": "name"])
            #expect(rows[0]?["name"]?.string?.contains("\u{1B}") == false)
            #expect(rows[1]?["count"] == 3 && rows[1]?["sum"] == 13.0 && rows[1]?["max"] == 8.0)
            #expect(rows[1]?["number"] == nil && rows[0]?["number"] == 7.0 && rows[0]?["kind"] == "sum")
            await host.session.close()
        }
    }
}

import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing
import TraceExport
import TraceKit
import TraceStore

@Suite("Spans on their way to a collector", .timeLimit(.minutes(5)))
struct ExporterTests {
    /// What became of spans.
    struct Result: Equatable {
        var sizes: [Int] = []
        var sent = 0
        var refused = 0
        var messages: [String] = []
    }

    private static func spans(_ count: Int, bytes: Int = 0) throws -> [StoredSpan] {
        try (1...count).map { number in
            let (trace, span) = (TraceID(words: (1, 2)), SpanID(word: UInt64(number)))
            return StoredSpan(
                span: TraceSpan(
                    name: "s\(number)", feature: "demo",
                    context: TraceContext(trace: try #require(trace), span: try #require(span)), parent: nil,
                    start: Timestamp(microseconds: 1_000), duration: .seconds(1),
                    attributes: bytes == 0 ? [:] : ["text": .string(String(repeating: "x", count: bytes))]),
                resource: ["service.name": .string(number % 2 == 0 ? "even" : "odd")])
        }
    }

    private func send<Item: ExportItem>(
        _ spans: [Item], to collector: FakeCollector, on clock: any Clock<Duration> = ContinuousClock(),
        retries: RetryPolicy = .none, largest: Int = 8 << 20, _ change: (inout Collector) -> Void = { _ in }
    ) async throws -> Result {
        var target = Collector(at: collector.address, for: Item.signal)
        change(&target)
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = clock
        let client = HTTPClient(configuration)
        let exporter = SignalExporter<Item>(target, client: client, headers: [], largestRequest: largest)
        var result = Result()
        let outcome: Swift.Result<Void, any Error>
        do {
            try await exporter.send(spans, retries: retries) { part, outcome in
                result.sizes.append(part.count)
                result.sent += outcome.count - outcome.refused
                result.refused += outcome.refused
                if let message = outcome.message { result.messages.append(message) }
            }
            outcome = .success(())
        } catch { outcome = .failure(error) }
        await client.close()
        try outcome.get()
        return result
    }

    @Test("Spans arrive whole in both forms, in batches and compressed, each program with its own")
    func whole() async throws {
        for form in OTLPEncoding.allCases {
            try await FakeCollector.run { (collector) async throws in
                let spans = try Self.spans(1_030)
                let result = try await send(spans, to: collector) { $0.encoding = form }
                #expect(result == Result(sizes: [512, 512, 6], sent: 1_030))
                #expect(try Set(collector.names()) == Set(spans.map(\.span.name)))
                let requests = collector.requests
                #expect(
                    requests.allSatisfy { $0.target == "/v1/traces" && $0.headers["Content-Type"] == form.contentType })
                #expect(requests[0].headers["Content-Encoding"] == "gzip" && requests[0].body.count < 40_000)
                let programs = try FakeCollector.received(requests[2]).groups.map { group in
                    "\(group.resource.attributes["service.name"]?.string ?? "") \(group.spans.count)"
                }
                #expect(programs == Array(repeating: ["odd 1", "even 1"], count: 3).flatMap(\.self))
            }
        }
    }

    @Test("The log and metrics are taken by our own receiver, in both forms", arguments: OTLPEncoding.allCases)
    func received(form: OTLPEncoding) async throws {
        try await StoreLab.run { (lab) async throws in
            try await Receiving.run(lab) { (receiving) async throws in
                let resource: JSONObject = ["service.name": "us"]
                let log = LogRecord(.error, "demo", "broken", ["n": 1], at: Timestamp(microseconds: 3))
                let family = MetricFamily("calls_total", .counter, "Calls", [.init(.whole(7), [("way", "in")])])
                let reading = MetricReading(
                    family, of: "demo", since: Timestamp(microseconds: 1), at: Timestamp(microseconds: 2))
                let token = Secret("Bearer " + Receiving.token.withText { $0 })
                func send<Item: ExportItem>(_ items: [Item]) async throws -> [ExportOutcome] {
                    var target = Collector(at: receiving.address, for: Item.signal)
                    target.encoding = form
                    var outcomes: [ExportOutcome] = []
                    try await SignalExporter<Item>(
                        target, client: Receiving.client, headers: [("Authorization", token)]
                    ).send(items) { outcomes.append($1) }
                    return outcomes
                }
                #expect(try await send([StoredLog(log: log, resource: resource)]) == [ExportOutcome(count: 1)])
                #expect(try await send([ExportedMetric(reading, of: resource)]) == [ExportOutcome(count: 1)])
            }
            let log = try #require(try await lab.store.logs(LogQuery()).logs.first)
            #expect(log.log.message == "broken" && log.log.level == .error && log.log.attributes == ["n": 1])
            #expect(log.resource == ["service.name": "us"] && log.log.scope == "demo")
            let metric = try #require(try await lab.store.metrics(MetricQuery()).metrics.first)
            #expect(metric.point.name == "calls_total" && metric.point.value == .number(7))
            #expect(metric.point.attributes == ["way": "in"] && metric.resource == ["service.name": "us"])
        }
    }

    @Test(
        "What is refused is refused for good, with the collector's words",
        arguments: [
            (
                .status(400, FakeCollector.Answer.json, #"{"code":3,"message":"bad \u001b[31mspans"}"#), 2,
                "400 Bad Request: bad "
            ),
            (.status(404, ["Content-Type": "text/html"], "<html>no</html>"), 2, "404 Not Found"),
            (.status(401, ["Content-Type": "text/plain"], "who are you\nline two"), 2, "401 Unauthorized: who are you"),
            (.status(500), 2, "500 Internal Server Error"),
            (.status(307, ["Location": "http://127.0.0.1:1/other"]), 2, "307"),
            (
                .status(
                    200, FakeCollector.Answer.json,
                    #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#), 1,
                "too old"
            ),
            (
                .status(200, FakeCollector.Answer.json, #"{"partialSuccess":{"rejectedSpans":99}}"#), 2,
                "does not say why"
            ),
            (.status(200, FakeCollector.Answer.json, #"{"partialSuccess":{"errorMessage":"hurry"}}"#), 0, "hurry"),
            (.status(200, FakeCollector.Answer.json, "rubbish"), 0, "cannot be read"),
        ] as [(FakeCollector.Answer, Int, String)])
    func refused(answer: FakeCollector.Answer, refused: Int, words: String) async throws {
        try await FakeCollector.run { _ in
            answer
        } during: { (collector) async throws in
            let result = try await send(try Self.spans(2), to: collector, retries: RetryPolicy(attempts: 5))
            #expect(result.sent == 2 - refused && result.refused == refused)
            #expect(result.messages.count == 1 && result.messages[0].contains(words), "\(result.messages)")
            #expect(!result.messages[0].contains("\u{1B}"))
            #expect(collector.requests.count == 1)
        }
    }

    @Test("The form is changed once for a collector that does not know it")
    func switches() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(415) : .ok }) { (collector) async throws in
            let result = try await send(try Self.spans(600), to: collector) { $0.encoding = .json }
            #expect(result == Result(sizes: [512, 88], sent: 600))
            #expect(
                collector.requests.map { $0.headers["Content-Type"] } == [
                    "application/json", "application/x-protobuf", "application/x-protobuf",
                ])
        }
        try await FakeCollector.run({ _ in .status(415) }) { (collector) async throws in
            let result = try await send(try Self.spans(2), to: collector)
            #expect(result.refused == 2 && collector.requests.count == 2)
        }
    }

    @Test("What is too large is sent in parts, and a span that is too large alone is left out")
    func smaller() async throws {
        try await FakeCollector.run({ $0 < 2 ? .status(413) : .ok }) { (collector) async throws in
            let result = try await send(try Self.spans(8), to: collector)
            #expect(result == Result(sizes: [2, 2, 2, 2], sent: 8))
        }
        try await FakeCollector.run({ _ in .status(413) }) { (collector) async throws in
            let result = try await send(try Self.spans(2), to: collector)
            #expect(result.refused == 2 && result.messages.allSatisfy { $0.contains("too large") })
        }
        try await FakeCollector.run { (collector) async throws in
            let result = try await send(try Self.spans(3, bytes: 5_000), to: collector, largest: 8_000)
            #expect(result == Result(sizes: [1, 1, 1], sent: 3))
        }
    }

    @Test("A collector that asks to wait, closes or says rubbish is tried later", arguments: 0..<5)
    func away(number: Int) async throws {
        let answers: [(FakeCollector.Answer, Duration?)] = [
            (.status(503, ["Retry-After": "7"]), .seconds(7)), (.status(429), nil), (.status(502), nil),
            (.status(0, [:], "rubbish\r\n\r\n"), nil), (.status(0), nil),
        ]
        let (answer, asked) = answers[number]
        try await FakeCollector.run { _ in
            answer
        } during: { (collector) async throws in
            let error = await #expect(throws: TraceExportError.self) {
                try await send(try Self.spans(2), to: collector)
            }
            #expect(error?.kind == .unreachable && error?.exit == .unreachable && error?.retryAfter == asked)
        }
    }

    @Test("What was asked for by hand is tried again, as long after as the collector says")
    func retries() async throws {
        let clock = TestClock()
        try await FakeCollector.run({ $0 == 0 ? .status(429, ["Retry-After": "30"]) : .ok }) {
            (collector) async throws in
            async let result = send(try Self.spans(2), to: collector, on: clock, retries: RetryPolicy(attempts: 5))
            await clock.waitForSleepers()
            clock.advance(by: .seconds(29))
            #expect(collector.requests.count == 1)
            clock.advance(by: .seconds(1))
            #expect(try await result.sent == 2)
            #expect(try collector.names() == ["s1", "s2", "s1", "s2"])
        }
    }

    @Test("A collector that is too slow, or where nothing listens, cannot be reached")
    func slow() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            _ = try connection.receiveAny()
        } during: { server in
            let error = await #expect(throws: TraceExportError.self) {
                try await send(try Self.spans(1), to: FakeCollector(server: server)) { $0.timeout = .milliseconds(50) }
            }
            #expect(error?.kind == .unreachable && error?.message.contains("50") == true, "\(error?.message ?? "")")
        }
    }
}

import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import JSON
import Registry
import Settings
import Testing
import TraceKit
import TraceReceiver
import TraceStore

@testable import Trace

@Suite("The log beside the traces", .timeLimit(.minutes(5)))
struct LogTests {
    /// Tells three things: one in a trace, one outside, and one that only helps to find a mistake.
    private func filled(
        _ budget: TraceStore.Budget = TraceStore.Budget(), _ body: (StoreLab) async throws -> Void
    ) async throws {
        try await StoreLab.run(budget) { (lab) async throws in
            let redactor = Redactor()
            redactor.learn(Secret("hunter2hunter2"))
            let spool = lab.spool("martlet", without: redactor)
            let tracer = lab.tracer(spool)
            await tracer.span("outer", of: "demo") { _ in
                tracer.log(.warning, of: "demo", "100% of hunter2hunter2", ["count": 3])
                tracer.log(.debug, of: "demo", "never")
            }
            tracer.log(.error, of: "other", "alone")
            await spool.close()
            try await body(lab)
        }
    }

    private func messages(_ lab: StoreLab, _ change: (inout LogQuery) -> Void = { _ in }) async throws -> [String] {
        var query = LogQuery()
        change(&query)
        return try await lab.store.logs(query).logs.map(\.log.message)
    }

    @Test("What is told is kept without secrets, and is selected by level, scope, program, text, trace and time")
    func selects() async throws {
        try await filled { (lab) async throws in
            let first = "100% of \(Redactor.mark)"
            #expect(try await messages(lab) == ["alone", first])
            #expect(try await messages(lab) { $0.level = .error } == ["alone"])
            #expect(try await messages(lab) { $0.scope = "demo" } == [first])
            #expect(try await messages(lab) { $0.service = "martlet" }.count == 2)
            #expect(try await messages(lab) { $0.service = "x" } == [])
            #expect(try await messages(lab) { $0.text = "0%" } == [first])
            #expect(try await messages(lab) { $0.text = "%a" } == [])
            #expect(try await messages(lab) { $0.limit = 1 } == ["alone"])
            let stored = try #require(try await lab.store.logs(LogQuery()).logs.last)
            #expect(stored.log.attributes == ["count": 3] && !stored.isReceived)
            let trace = try #require(stored.log.trace)
            let span = try #require(try await lab.store.spans(of: trace.description, limit: 9).first)
            #expect(stored.log.span == span.span.context.span)
            #expect(try await messages(lab) { $0.trace = trace.description } == [first])
            #expect(try await messages(lab) { $0.since = stored.log.time + .microseconds(1) } == ["alone"])
            #expect(try await messages(lab) { $0.until = stored.log.time + .microseconds(1) } == [first])
            // It goes with its trace.
            _ = try await lab.store.clear(before: nil)
            #expect(try await messages(lab) == [])
        }
    }

    @Test("Of more than an eighth of the budget the oldest entries are removed")
    func bounded() async throws {
        var budget = TraceStore.Budget()
        budget.bytes = 80_000
        try await StoreLab.run(budget) { (lab) async throws in
            let spool = lab.spool("martlet")
            let tracer = lab.tracer(spool)
            for number in 0..<100 { tracer.log(.info, of: "demo", "\(number) \(String(repeating: "x", count: 400))") }
            await spool.close()
            let kept = try await messages(lab) { $0.limit = 200 }.compactMap { $0.split(separator: " ").first }
            #expect((5...20).contains(kept.count) && kept == (0..<100).reversed().prefix(kept.count).map { "\($0)" })
        }
    }

    @Test("A follower gets what comes, in order and once")
    func follows() async throws {
        try await filled { (lab) async throws in
            let start = try await lab.store.end()
            let nothing = try await lab.store.arrivals(since: start)
            #expect(nothing.spans.isEmpty && nothing.logs.isEmpty && nothing.end == start)
            let spool = lab.spool("second")
            let tracer = lab.tracer(spool)
            await tracer.span("next", of: "demo") { _ in tracer.log(.info, of: "demo", "hello") }
            await spool.close()
            let news = try await lab.store.arrivals(since: start)
            #expect(news.spans.map(\.span.name) == ["next"] && news.logs.map(\.log.message) == ["hello"])
            #expect(try await lab.store.arrivals(since: news.end).spans.isEmpty)
        }
    }

    private static let received = """
        {"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"py"}}]},"scopeLogs":[{"logRecords":[\
        {"timeUnixNano":"5000000000","severityNumber":17,"body":{"stringValue":"broken hunter2hunter2"},\
        "attributes":[{"key":"a","value":{"intValue":"1"}}],"traceId":"00000000000000000000000000000007","spanId":"0000000000000001"},\
        {"observedTimeUnixNano":"6000000000","body":{"kvlistValue":{"values":[]}},"eventName":"e"}],"scope":{"name":"lib"}}]}]}
        """

    @Test("The log of other programs is taken beside their spans, without secrets and within limits")
    func receives() async throws {
        let redactor = Redactor()
        redactor.learn(Secret("hunter2hunter2"))
        try await StoreLab.run { (lab) async throws in
            var limits = SpanReceiver.Limits()
            limits.span = 3_000
            try await Receiving.run(lab, limits: limits, without: redactor) { (receiving) async throws in
                let answer = try await receiving.post(Array(Self.received.utf8), to: "/v1/logs")
                #expect(answer.status == .ok && answer.text == "{}" && receiving.receiver.received == 2)
                #expect(
                    try await receiving.post(Array(Self.received.utf8), to: "/v1/logs", token: "x").status.code == 401)
                let long = Self.received.replacing("broken", with: String(repeating: "x", count: 4_000))
                let partial = try await receiving.post(Array(long.utf8), to: "/v1/logs")
                #expect(partial.text.contains(#""rejectedLogRecords":"1""#) && partial.text.contains("larger than"))
                // An entry that is sent again is not added again. A span is no entry of a log, and an entry is no span.
                #expect(try await receiving.post(try Receiving.body(), to: "/v1/logs").status == .ok)
                #expect(try await receiving.post(Array(Self.received.utf8)).status == .ok)
            }
            let logs = try await lab.store.logs(LogQuery()).logs.reversed().map { $0 }
            #expect(logs.map(\.log.message) == ["broken \(Redactor.mark)", "{}"])
            #expect(logs.map(\.log.level) == [.error, .info] && logs.allSatisfy(\.isReceived))
            #expect(
                logs[0].log.scope == "lib" && logs[0].log.attributes == ["a": 1]
                    && logs[0].resource["service.name"] == "py")
            #expect(logs[0].log.trace == TraceID(words: (0, 7)) && logs[0].log.span == SpanID(word: 1))
            #expect(
                logs[1].log.time == Timestamp(microseconds: 6_000_000) && logs[1].log.attributes["event.name"] == "e")
        }
    }

    @Test("An error of a command and a warning are told, a notice is not; the actions show them")
    func actions() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([TraceFeature.self, TellingFeature.self], settings: "{}", folder: folder)
            await #expect(throws: TraceError.self) { try await host.perform("telling.work") }
            let rows = try await host.perform("trace.logs")
            #expect(
                rows.array?.map { [$0["level"], $0["scope"], $0["message"]].map { $0?.string ?? "" } } == [
                    ["error", "telling", TraceError.notPort(7).message], ["warning", "telling", "watch out"],
                ])
            #expect(try await host.perform("trace.logs", ["level": "error"]).array?.count == 1)
            let trace = try #require(rows.array?.first?["trace"]?.string)
            #expect(try await host.perform("trace.logs", ["trace": .string(trace)]).array?.count == 2)
            await host.session.close()
        }
    }
}

private struct TellingFeature: Feature {
    static let manifest = Manifest(id: "telling", summary: "Tells", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("telling.work", "Works", .reads) { context -> Nothing in
                context.notice("said")
                context.warn("watch out")
                throw TraceError.notPort(7)
            })
    }
}

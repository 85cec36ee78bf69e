import Capabilities
import CoreTesting
import FileKit
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Settings
import Testing
import TraceExport
import TraceKit
import TraceStore

@testable import Trace

/// Work that tells something in the log.
private struct TellingFeature: Feature {
    static let manifest = Manifest(id: "telling", summary: "Work that tells something", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("telling.tell", "Tell something", .reads, .argument("text", "What is told")) { context, text in
                context.tracer.log(.warning, of: "telling", text, ["about": .string(text)])
                context.tracer.log(.debug, of: "telling", "only helps to find a mistake")
                return "done"
            })
    }
}

@Suite("The log that is sent by itself", .timeLimit(.minutes(5)))
struct LogDeliveryTests {
    private static let secret = "canary+of/the=log-0815"

    /// Runs a process in the folder, which tells something and ends. Its traces are not sent.
    private func process(
        in folder: String, _ text: String, _ collector: FakeCollector, _ more: [String: String] = [:],
        after time: Duration = .zero, _ body: (TestHost) async throws -> Void = { _ in }
    ) async throws {
        let variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_TRACES_EXPORTER": "none",
        ]
        let host = try TestHost(
            [TraceFeature.self, TellingFeature.self], environment: variables.merging(more) { $1 }, folder: folder)
        host.clock.advance(by: time)
        _ = try await host.perform("telling.tell", ["text": .string(text)])
        try await body(host)
        await host.session.close()
    }

    @Test("An entry is sent once with its place in the trace, without secrets, and nothing is told of that")
    func sends() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                let variables = [
                    "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "x-key=\(PercentEncoding.encode(Self.secret))",
                    "OTEL_TRACES_EXPORTER": "otlp", "OTEL_SERVICE_NAME": "mine",
                ]
                try await process(in: folder, "about \(Self.secret)", collector, variables)
                let request = try #require(collector.requests(of: .logs).first)
                #expect(request.headers["x-key"] == Self.secret && request.headers["traceparent"] == nil)
                #expect(!String(decoding: request.body, as: UTF8.self).contains(Self.secret))
                let group = try #require(try FakeCollector.received(request).groups.first)
                #expect(group.resource.attributes["service.name"] == "mine" && group.scope.name == "telling")
                let traces = try #require(collector.requests.first)
                let span = try #require(try FakeCollector.spans(traces).first)
                let text = "about \(Redactor.mark)"
                #expect(group.logs.map(\.message) == [text] && group.logs[0].level == .warning)
                #expect(group.logs[0].attributes == ["about": .string(text)])
                #expect(group.logs[0].trace == span.context.trace && group.logs[0].span == span.context.span)
                // Headers for the log are not for traces.
                #expect(collector.requests.allSatisfy { $0.headers["x-key"] == nil })
                // What this process does not know as a secret is no secret to it.
                try await process(in: folder, "about \(Self.secret)", collector)
                #expect(try collector.messages() == [text, "about \(Self.secret)"])
                #expect(collector.requests.count == 1)
            }
        }
    }

    @Test(
        "What a collector that is away does not get is sent later, and what it refuses is not",
        arguments: [
            (.status(503, ["Retry-After": "60"]), "1 entries of the log wait to be sent: ", 503, true),
            (.status(429), "1 entries of the log wait to be sent: ", 429, true),
            (.status(0), "1 entries of the log wait to be sent: ", 127, true),
            (.status(404), "1 entries of the log were refused so far; the last time, ", 404, false),
            (
                .status(
                    200, FakeCollector.Answer.json,
                    #"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old: 47"}}"#),
                "1 entries of the log were refused so far; the last time, ", 47, false
            ),
        ] as [(FakeCollector.Answer, String, Int, Bool)])
    func faults(answer: FakeCollector.Answer, words: String, number: Int, isSentLater: Bool) async throws {
        try await FakeCollector.run({ $0 == 0 ? answer : .ok }) { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, "first", collector)
                let reader = try TestHost(
                    [TraceFeature.self], environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.address],
                    folder: folder)
                _ = try await reader.perform("trace.list")
                await reader.session.close()
                let told = reader.output.notices.filter { $0.hasPrefix(words) && $0.contains("\(number)") }
                #expect(told.count == 1, "\(reader.output.notices)")
                #expect(collector.requests(of: .logs).count == 1)
                try await process(in: folder, "second", collector, after: .seconds(61))
                let later = try FakeCollector.received(try #require(collector.requests(of: .logs).last))
                #expect(
                    later.groups.flatMap(\.logs).map(\.message) == (isSentLater ? ["first", "second"] : ["second"]))
            }
        }
    }

    @Test("A command ends although the collector hangs, and its entry waits")
    func hangs() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            _ = try connection.receiveAny()
        } during: { server in
            let collector = FakeCollector(server: server)
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, "first", collector) { host in
                    async let closed: [String] = host.session.close()
                    try await server.until { $0.connections.flatMap(\.requests).count == 1 }
                    // One that gives up the feature, and the farewell.
                    await host.clock.waitForSleepers(2)
                    host.clock.advance(by: .seconds(2))
                    #expect(await closed.isEmpty)
                }
                let store = TraceStore(
                    TraceStore.database(at: "\(folder)/state/trace.db"), spools: "\(folder)/spool",
                    budget: TraceStore.Budget()
                ) { Timestamp(microseconds: 0) }
                let state = try await store.state(of: .logs, forCollector: "\(collector.address)/v1/logs")
                #expect(state.waiting == 1 && state.problem?.contains("in time") == true)
                await store.close()
            }
        }
    }

    @Test("What waits is removed with the entry, and counted if nobody has asked for that")
    func expires() async throws {
        var budget = TraceStore.Budget()
        budget.time = .seconds(1_000)
        try await StoreLab.run(budget) { (lab) async throws in
            func tell(_ text: String) async throws -> CollectorState {
                let spool = lab.spool(text, logs: "http://c")
                lab.tracer(spool).log(.error, of: "demo", text)
                await lab.tracer(spool).span(text, of: "demo") { _ in
                    lab.tracer(spool).log(.info, of: "demo", "in \(text)")
                }
                await spool.close()
                try await lab.store.takeSpools()
                return try await lab.store.state(of: .logs, forCollector: "http://c")
            }
            #expect(try await tell("old").waiting == 2)
            #expect(try await lab.store.state(of: .traces, forCollector: "http://c").waiting == 0)
            lab.time.advance(by: 2_000)
            let state = try await tell("new")
            #expect(state.waiting == 2 && state.expired == 2)
            let waiting = try await lab.store.waiting(StoredLog.self, forCollector: "http://c", limit: 9)
            #expect(waiting.map(\.log.message) == ["new", "in new"])
            _ = try await lab.store.clear(before: nil)
            let cleared = try await lab.store.state(of: .logs, forCollector: "http://c")
            #expect(cleared.waiting == 0 && cleared.expired == 2)
        }
    }
}

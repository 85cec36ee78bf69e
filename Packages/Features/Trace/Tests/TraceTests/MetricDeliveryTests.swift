import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing
import TraceExport
import TraceKit

@testable import Trace

/// Work that runs on and counts how often its metrics are read.
private struct MeterFeature: Feature {
    static let manifest = Manifest(
        id: "meter", summary: "Work with metrics", version: "1.0", needs: [.optional((any MetricPublisher).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("meter.run", "Run on", .reads, .argument("label", "Label of the metric")) { context, label in
                let count = Atomic(0)
                let end = context.registry.optional((any MetricPublisher).self)?.publish(of: "meter") {
                    let times = count.wrappingAdd(1, ordering: .relaxed).newValue
                    return [
                        MetricFamily("reads_total", .counter, "Reads", [.init(.whole(times), [("label", label)])]),
                        MetricFamily("empty", .gauge, "Nothing", []),
                    ]
                }
                do { try await context.host.clock.sleep(for: .seconds(1_000_000)) } catch {
                    // It was interrupted.
                }
                if let end { await shielded { await end() } }
                return "done"
            })
    }
}

@Suite("Metrics of a process that runs on", .timeLimit(.minutes(5)))
struct MetricDeliveryTests {
    private static let secret = "canary+of/the=meter-0815"

    /// Work that runs until the body has ended.
    private func running(
        _ collector: FakeCollector, label: String = "x", _ more: [String: String] = [:], settings: String = "{}",
        _ body: (TestHost) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let variables = [
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                "OTEL_TRACES_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none",
            ].merging(more) { $1 }
            let host = try TestHost(
                [TraceFeature.self, MeterFeature.self], settings: settings, environment: variables, folder: folder)
            let work = Task { try await host.perform("meter.run", ["label": .string(label)]) }
            await host.clock.waitForSleepers(1)
            let result: Result<Void, any Error>
            do { result = .success(try await body(host)) } catch { result = .failure(error) }
            work.cancel()
            _ = await work.result
            await host.session.close()
            try result.get()
        }
    }

    /// Lets time go on until the next metrics are due, and waits until so many requests have come in all.
    private func advance(_ host: TestHost, by time: Duration, _ collector: FakeCollector, until count: Int) async throws
    {
        // The work, and what sends.
        await host.clock.waitForSleepers(2)
        host.clock.advance(by: time)
        try await collector.server.until { $0.connections.flatMap(\.requests).count == count }
    }

    private func values(_ collector: FakeCollector) throws -> [MetricPoint.Value] {
        try collector.requests(of: .metrics).flatMap { request in
            try FakeCollector.received(request).groups.flatMap(\.metrics).map(\.value)
        }
    }

    @Test("They are sent each interval and once more at the end, as totals and without secrets")
    func sends() async throws {
        try await FakeCollector.run { (collector) async throws in
            let variables = [
                "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "x-key=\(PercentEncoding.encode(Self.secret))",
                "OTEL_METRIC_EXPORT_INTERVAL": "5000", "OTEL_SERVICE_NAME": "mine",
            ]
            try await running(collector, label: Self.secret, variables) { host in
                try await advance(host, by: .seconds(4), collector, until: 0)
                try await advance(host, by: .seconds(1), collector, until: 1)
                try await advance(host, by: .seconds(5), collector, until: 2)
            }
            #expect(try values(collector) == [1, 2, 3].map { .number($0) })
            let request = try #require(collector.requests(of: .metrics).first)
            #expect(request.headers["x-key"] == Self.secret && request.headers["traceparent"] == nil)
            #expect(!String(decoding: request.body, as: UTF8.self).contains(Self.secret))
            let group = try #require(try FakeCollector.received(request).groups.first)
            #expect(group.resource.attributes["service.name"] == "mine" && group.metrics.count == 1)
            let point = try #require(group.metrics.first)
            #expect(point.name == "reads_total" && point.kind == .sum && !point.isDelta && point.scope == "meter")
            #expect(point.attributes == ["label": .string(Redactor.mark)])
            // What this process does not know as a secret is no secret to it.
            try await running(collector, label: Self.secret) { _ in }
            let body = try #require(collector.requests(of: .metrics).last).body
            #expect(String(decoding: body, as: UTF8.self).contains(Self.secret))
        }
    }

    @Test("A collector that asks to wait is left alone as long, and that is told until it has them")
    func waits() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(503, ["Retry-After": "90"]) : .ok }) {
            (collector) async throws in
            try await running(collector) { host in
                try await advance(host, by: .seconds(60), collector, until: 1)
                await host.clock.waitForSleepers(2)
                _ = try await host.perform("trace.list")
                #expect(host.output.notices.contains { $0.contains("metrics could not be sent") && $0.contains("503") })
                try await advance(host, by: .seconds(60), collector, until: 1)
                try await advance(host, by: .seconds(60), collector, until: 2)
                await host.clock.waitForSleepers(2)
                let before = host.output.notices.count
                _ = try await host.perform("trace.list")
                #expect(!host.output.notices[before...].contains { $0.contains("metrics") })
            }
            // While it was left alone they were not even read.
            #expect(try values(collector) == [1, 2, 3].map { .number($0) })
        }
    }

    @Test("What it refuses is told in its words")
    func refused() async throws {
        let partial = #"{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"no labels"}}"#
        try await FakeCollector.run({ _ in .status(200, FakeCollector.Answer.json, partial) }) {
            (collector) async throws in
            try await running(collector) { host in
                try await advance(host, by: .seconds(60), collector, until: 1)
                await host.clock.waitForSleepers(2)
                _ = try await host.perform("trace.list")
                let words = "1 values of metrics were refused so far; the last time, "
                #expect(host.output.notices.contains { $0.hasPrefix(words) && $0.contains("no labels") })
            }
        }
    }

    @Test("A collector that hangs or dies holds up neither the work nor its end")
    func hangs() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            _ = try connection.receiveAny()
        } during: { server in
            let collector = FakeCollector(server: server)
            let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_TRACES_EXPORTER": "none"]
            try await TemporaryDirectory.run { folder in
                let host = try TestHost(
                    [TraceFeature.self, MeterFeature.self], environment: variables, folder: folder)
                let work = Task { try await host.perform("meter.run", ["label": "x"]) }
                await host.clock.waitForSleepers(2)
                work.cancel()
                try await server.until { $0.connections.flatMap(\.requests).count == 1 }
                await host.clock.waitForSleepers(1)
                host.clock.advance(by: .seconds(2))
                #expect(try await work.value == "done")
                _ = try await host.perform("trace.list")
                #expect(host.output.notices.contains { $0.contains("metrics") && $0.contains("in time") })
                await host.session.close()
            }
        }
        try await FakeCollector.run({ _ in .status(0) }) { (collector) async throws in
            try await running(collector) { host in
                try await advance(host, by: .seconds(60), collector, until: 1)
                await host.clock.waitForSleepers(2)
            }
        }
    }

    @Test("Signals that are not wanted are not sent")
    func unwanted() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await running(collector, ["OTEL_METRICS_EXPORTER": "none"]) { _ in }
            try await running(collector, settings: "{trace: {signals: ['traces', 'logs']}}") { _ in }
            let settings = "{trace: {endpoint: '\(collector.address)', signals: ['metrics']}}"
            #expect(collector.requests(of: .metrics).isEmpty)
            try await running(collector, ["OTEL_TRACES_EXPORTER": "otlp"], settings: settings) { _ in }
            #expect(collector.requests(of: .metrics).count == 1 && collector.requests.isEmpty)
        }
    }
}

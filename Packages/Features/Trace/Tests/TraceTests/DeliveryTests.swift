import Capabilities
import CoreTesting
import FileKit
import Glibc
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

/// A vault with one secret, which gives it to nobody without a caller, as that of Auth does.
struct VaultFeature: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "A vault for tests", version: "1.0", provides: [.single((any SecretStore).self)])

    private final class Store: SecretStore {
        func secret(named name: SecretName) async throws -> Secret? {
            try Caller.grantHere.check(.credential(name))
            return name == "otel" ? Secret("authorization=Bearer%20hunter2hunter2") : nil
        }

        func store(_ secret: Secret, named name: SecretName) async throws {}
        func remove(named name: SecretName) async throws {}
        func names() async throws -> [SecretName] { ["otel"] }
    }

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) { registry.provide((any SecretStore).self, Store()) }
}

@Suite("Traces that are sent by themselves", .timeLimit(.minutes(5)))
struct DeliveryTests {
    private static let secret = "canary+of/the=collector-4711"

    private func settings(_ collector: FakeCollector?) -> String {
        collector.map { "{trace: {endpoint: \(JSON.string($0.address).text()), compress: false}}" } ?? "{}"
    }

    /// Runs a process in the folder, which records a trace of two spans and ends.
    @discardableResult
    private func process(
        in folder: String, _ settings: String, environment: [String: String] = [:], after time: Duration = .zero,
        _ body: (TestHost) async throws -> Void = { _ in }
    ) async throws -> TestHost {
        let host = try TestHost(
            [TraceFeature.self, WorkFeature.self], settings: settings, environment: environment, folder: folder)
        host.clock.advance(by: time)
        _ = try await host.perform("work.outer")
        try await body(host)
        await host.session.close()
        return host
    }

    @Test("What a process has recorded is sent once when it ends, without a trace of that and without secrets")
    func sends() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                let environment = [
                    "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
                    "OTEL_EXPORTER_OTLP_HEADERS": "x-key=\(PercentEncoding.encode(Self.secret)),content-type=text/x",
                    "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_SERVICE_NAME": "mine",
                    "OTEL_RESOURCE_ATTRIBUTES": "team=\(PercentEncoding.encode(Self.secret))",
                ]
                let host = try await process(in: folder, "{}", environment: environment) { host in
                    #expect(collector.requests.isEmpty)
                    #expect(host.host.redactor.redact("say \(Self.secret)") == "say \(Redactor.mark)")
                }
                #expect(try collector.names() == ["execute_tool probe", "work.outer"])
                let request = try #require(collector.requests.first)
                #expect(request.headers["x-key"] == Self.secret && request.headers["traceparent"] == nil)
                let resource = try FakeCollector.received(request).groups[0].resource.attributes
                #expect(resource["service.name"] == "mine" && resource["team"] == .string(Redactor.mark))
                #expect(!String(decoding: request.body, as: UTF8.self).contains(Self.secret))
                // A second process sends only its own, and nothing that was done to send them.
                try await process(in: folder, "{}", environment: environment) { host in
                    let traces = try await host.perform("trace.list")
                    #expect(traces.array?.compactMap { $0["name"]?.string } == ["work.outer", "work.outer"])
                    #expect(traces.array?.map { $0["spans"] } == [2, 2])
                }
                #expect(try collector.names().count == 4 && collector.requests.count == 2)
                for file in try Files.list("\(folder)/state") where file.name.hasPrefix("trace.db") {
                    let bytes = try Files.read("\(folder)/state/\(file.name)", limit: 1 << 24)
                    #expect(!bytes.contains(Array(Self.secret.utf8)))
                }
                #expect(host.output.notices.isEmpty)
            }
        }
    }

    @Test("What a collector that is away does not get waits, and is sent after a while with what came since")
    func waits() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(503, ["Retry-After": "60"]) : .ok }) {
            (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(collector))
                #expect(collector.requests.count == 1)
                try await process(in: folder, settings(collector), after: .seconds(30)) { host in
                    _ = try await host.perform("trace.list")
                    #expect(host.output.notices.contains { $0.contains("4 spans wait") && $0.contains("503") })
                }
                // The collector is not asked again before that time.
                #expect(collector.requests.count == 1)
                try await process(in: folder, settings(collector), after: .seconds(61))
                #expect(collector.requests.count == 2)
                #expect(try FakeCollector.names(collector.requests[1]).count == 6)
                try await process(in: folder, settings(collector), after: .seconds(62)) { host in
                    _ = try await host.perform("trace.list")
                    #expect(host.output.notices.isEmpty)
                }
            }
        }
    }

    @Test("Spans of a process without a collector are not sent by another one, nor are those of a file")
    func others() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(nil))
                try await process(in: folder, settings(collector)) { host in
                    let file = "\(folder)/traces.ndjson"
                    try Files.writeAtomically(
                        Array(
                            """
                            {"resource":{"service.name":"x"},"collector":"\(collector.address)/v1/traces",\
                            "log_collector":"\(collector.address)/v1/logs"}
                            {"log":{"time_us":1,"level":"error","scope":"x","message":"foreign"}}
                            {"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","name":"foreign",\
                            "scope":"x","start_us":1,"duration_ns":9}
                            """.utf8), to: file)
                    #expect(try await host.perform("trace.import", ["file": .string(file)]) == "1 spans were added")
                }
                #expect(try collector.names() == ["execute_tool probe", "work.outer"])
                #expect(collector.requests(of: .logs).isEmpty)
            }
        }
    }

    @Test("A process that runs on sends every few seconds")
    func runsOn() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(collector)) { host in
                    for round in 1...2 {
                        if round == 2 { _ = try await host.perform("work.outer") }
                        // The one that writes a second later, and then the one that sends.
                        await host.clock.waitForSleepers()
                        host.clock.advance(by: .seconds(1))
                        await host.clock.waitForSleepers(2)
                        host.clock.advance(by: .seconds(5))
                        try await collector.server.until { record in
                            record.connections.flatMap(\.requests).count == round
                        }
                    }
                }
                #expect(try collector.names().count == 4)
            }
        }
    }

    @Test("Refused spans are reported, and are not sent again")
    func refused() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(400) : .ok }) { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(collector))
                try await process(in: folder, settings(collector)) { host in
                    _ = try await host.perform("trace.list")
                    #expect(
                        host.output.notices.contains { $0.contains("2 spans were refused") && $0.contains("400") })
                }
                #expect(collector.requests.count == 2)
                #expect(try FakeCollector.names(collector.requests[1]).count == 2)
            }
        }
    }

    @Test("What waits is removed with its trace, and counted")
    func expires() async throws {
        var budget = TraceStore.Budget()
        budget.time = .seconds(1_000)
        try await StoreLab.run(budget) { (lab) async throws in
            let spool = lab.spool("p", for: "http://c")
            await lab.tracer(spool).span("old", of: "demo") { _ in }
            await spool.close()
            try await lab.store.takeSpools()
            #expect(try await lab.store.state(of: .traces, forCollector: "http://c").waiting == 1)
            #expect(try await lab.store.waiting(StoredSpan.self, forCollector: "http://d", limit: 9).isEmpty)
            lab.time.advance(by: 2_000)
            let later = lab.spool("q", for: "http://c")
            await lab.tracer(later).span("new", of: "demo") { _ in }
            await later.close()
            try await lab.store.takeSpools()
            let state = try await lab.store.state(of: .traces, forCollector: "http://c")
            #expect(state.waiting == 1 && state.expired == 1)
            #expect(
                try await lab.store.waiting(StoredSpan.self, forCollector: "http://c", limit: 9).map(\.span.name) == [
                    "new"
                ])
            _ = try await lab.store.clear(before: nil)
            #expect(try await lab.store.state(of: .traces, forCollector: "http://c").waiting == 0)
        }
    }

    @Test("A command ends although the collector does not answer, and the next one does not wait for it")
    func slow() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            _ = try connection.receiveAny()
        } during: { server in
            let collector = FakeCollector(server: server)
            try await TemporaryDirectory.run { folder in
                let host = try TestHost(
                    [TraceFeature.self, WorkFeature.self], settings: settings(collector), folder: folder)
                _ = try await host.perform("work.outer")
                async let closed: [String] = host.session.close()
                try await server.until { $0.connections.flatMap(\.requests).count == 1 }
                // One that gives up the feature, and the farewell.
                await host.clock.waitForSleepers(2)
                host.clock.advance(by: .seconds(2))
                #expect(await closed.isEmpty)
                try await process(in: folder, settings(collector), after: .seconds(3)) { host in
                    _ = try await host.perform("trace.list")
                    #expect(host.output.notices.contains { $0.contains("4 spans wait") && $0.contains("in time") })
                }
                #expect(collector.requests.count == 1)
            }
        }
    }

    @Test("While the disk is full, work goes on, and what could be written is sent once there is room")
    func fullDisk() async throws {
        await #expect(processExitsWith: .success) {
            // A write beyond the limit fails like one to a full disk, if the signal is ignored.
            _ = signal(SIGXFSZ, SIG_IGN)
            func limit(_ bytes: rlim_t) {
                var limits = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
                let code = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
                #expect(code == 0)
            }
            let tests = DeliveryTests()
            try await FakeCollector.run { (collector) async throws in
                try await TemporaryDirectory.run { folder in
                    limit(8_192)
                    try await tests.process(in: folder, tests.settings(collector))
                    #expect(collector.requests.isEmpty)
                    limit(rlim_t.max)
                    try await tests.process(in: folder, tests.settings(collector))
                    #expect(try collector.names().count == 4)
                }
            }
        }
    }

    @Test("Headers come from the vault, also when nobody is there")
    func vault() async throws {
        try await FakeCollector.run { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                let settings = #"{trace: {endpoint: "\#(collector.address)", headers: "otel"}}"#
                let host = try TestHost(
                    [TraceFeature.self, WorkFeature.self, VaultFeature.self], settings: settings, folder: folder)
                _ = try await host.perform("work.outer")
                await host.session.close()
                #expect(collector.requests.map { $0.headers["Authorization"] } == ["Bearer hunter2hunter2"])
                #expect(host.host.redactor.redact("hunter2hunter2") == Redactor.mark)
            }
        }
    }

    // MARK: By hand

    @Test("Traces are sent by hand as they are selected, or those that wait without waiting longer")
    func byHand() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(503, ["Retry-After": "60"]) : .ok }) {
            (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(nil))
                try await process(in: folder, settings(collector))
                try await process(in: folder, settings(collector)) { host in
                    let address = "\(collector.address)/v1/traces"
                    await #expect(throws: WorkFailure.self) { try await host.perform("work.outer", ["fails": true]) }
                    let failed = try await host.perform("trace.send", ["failed": true])
                    #expect(failed == .string("2 spans were sent to \(address)"))
                    // Those that were sent wait no longer.
                    let rest = try await host.perform("trace.send", ["waiting": true])
                    #expect(rest == .string("4 spans and 1 entries of the log were sent to \(address)"))
                    #expect(try collector.messages() == ["it broke"])
                    #expect(try await host.perform("trace.send") == .string("8 spans were sent to \(address)"))
                    #expect(host.output.progress.last?.completed == 8)
                }
                #expect(collector.requests.count == 4)
            }
        }
    }

    @Test("Without a collector, with one that refuses, or without the right to reach it, that is told")
    func cannotSend() async throws {
        try await FakeCollector.run({ $0 == 0 ? .status(403, [:], "") : .ok }) { (collector) async throws in
            try await TemporaryDirectory.run { folder in
                try await process(in: folder, settings(nil)) { host in
                    let error = await #expect(throws: TraceExportError.self) { try await host.perform("trace.send") }
                    #expect(error?.kind == .noCollector)
                }
                let host = try TestHost([TraceFeature.self], settings: settings(collector), folder: folder)
                let error = await #expect(throws: TraceExportError.self) { try await host.perform("trace.send") }
                #expect(error?.kind == .refused && error?.message.contains("403") == true)
                func send(_ hosts: [String]) async throws -> JSON {
                    let grant = Grant(Grant.Layer(.bundle("b"), effects: .writes, hosts: .named(hosts)))
                    return try await host.session.perform(
                        "trace.send", [:], as: .person(HeadlessInteraction()).narrowed(by: grant), output: host.output
                    ).json
                }
                let refusal = await #expect(throws: HTTPError.self) { try await send([]) }
                #expect(refusal?.kind == .notPermitted && collector.requests.count == 1)
                #expect(try await send(["127.0.0.1"]).string?.hasPrefix("2 spans") == true)
                await host.session.close()
            }
        }
    }

    @Test("An address or a secret that cannot be used is told to whoever reads traces, and costs no work")
    func unusable() async throws {
        try await TemporaryDirectory.run { folder in
            try await process(in: folder, #"{trace: {endpoint: "ftp://x"}}"#)
            try await process(in: folder, #"{trace: {endpoint: "ftp://x"}}"#) { host in
                _ = try await host.perform("trace.list")
                #expect(host.output.notices.contains { $0.contains("4 spans wait") && $0.contains("http://") })
            }
            try await process(in: folder, #"{trace: {endpoint: "http://127.0.0.1:1", headers: "none.there"}}"#)
            try await process(in: folder, #"{trace: {endpoint: "http://127.0.0.1:1", headers: "none.there"}}"#) {
                host in
                _ = try await host.perform("trace.list")
                #expect(host.output.notices.contains { $0.contains("none.there") })
            }
            let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"]
            try await process(in: folder, "{}", environment: environment) { host in
                _ = try await host.perform("trace.list")
                #expect(host.output.notices.contains { $0.contains("gRPC") })
            }
        }
    }
}

extension [UInt8] {
    /// Whether they are somewhere in these.
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        return indices.contains { self[$0] == first && self[$0...].starts(with: part) }
    }
}

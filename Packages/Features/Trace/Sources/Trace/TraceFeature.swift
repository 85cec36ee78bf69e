import Capabilities
import FileKit
import Glibc
import HTTPClient
import JSON
public import Registry
import Screens
public import Settings
import StorageKit
import TraceExport
import TraceKit
import TraceStore

/// What commands, models, tools and requests did, and how long each took.
public struct TraceFeature: Feature {
    public static let manifest = Manifest(
        id: "trace", summary: "What commands, models and tools did, and how long that took", version: "0.1.0",
        provides: [.shared((any SpanSink).self), .shared((any DataStore).self), .single((any MetricPublisher).self)],
        needs: [.optional((any SecretStore).self), .optional((any TrustStore).self)],
        settings: TraceSettings.declarations + CollectorSettings.declarations, variables: CollectorVariables.names)

    private let settings: TraceSettings
    private let collector: CollectorSettings

    public init(_ settings: FeatureSettings) {
        self.settings = TraceSettings(settings)
        collector = CollectorSettings(settings)
    }

    /// Loading libcurl takes longer than everything before the first request.
    public static func prepare(for words: [String]) {
        if words.starts(with: ["trace", "send"]) { HTTPClient.prepare() }
    }

    public func register(in registry: inout RegistryBuilder) {
        let surroundings = registry.surroundings
        let folder = "\(surroundings.locations.state)/traces"
        let database = TraceStore.database(at: "\(surroundings.locations.state)/trace.db") {
            $0.tell(ActionContext.current?.warn)
        }
        let store = TraceStore(
            database, spools: "\(folder)/spool", budget: settings.budget, now: surroundings.now)
        let variables = CollectorVariables(surroundings.environment)
        for secret in variables.secrets { surroundings.redactor.learn(secret) }
        func link<Item: ExportItem>() -> CollectorLink<Item> {
            CollectorLink(collector, variables, store, surroundings, registry.whole)
        }
        let resource = Self.resource(variables)
        let delivery = TraceDelivery(link(), link(), of: store, in: folder, surroundings)
        let metrics = MetricDelivery(link(), every: collector.interval(variables), of: resource, surroundings)
        let spool = SpanSpool(
            in: "\(folder)/spool", as: Self.processName(), resource, for: delivery.addresses,
            limits: settings.spool(variables), without: surroundings.redactor, clock: surroundings.clock,
            ignoring: Self.manifest.id, relieve: store.takeSpools, written: delivery.wake)
        registry.provide((any SpanSink).self, spool as any SpanSink)
        registry.provide((any MetricPublisher).self, metrics)
        registry.closes {
            await metrics.close()
            await spool.close()
            await delivery.close()
            await store.close()
        }
        registry.provide(
            (any DataStore).self,
            DatabaseStore(id: "traces", summary: "What was done, and how long it took", database: database))
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        registry.uses(
            Library(
                "libcurl", version: { HTTPClient.libraryVersion },
                installed: { try HTTPClient.installedLibraryVersion() }))
        for action in TraceActions(
            store, spool, delivery, CollectorProblems(delivery: delivery, metrics: metrics)
        ).all { registry.add(action) }
        for action in LogActions(store: store, spool: spool).all { registry.add(action) }
        for action in RequestActions(store: store, spool: spool).all { registry.add(action) }
        registry.add(MetricsAction(store: store).action)
        registry.add(ServeAction(store: store, limits: settings.receiver).action)
        ActivityScreen(store: store, spool: spool).add(to: &registry)
        RequestScreen(store: store, spool: spool).add(to: &registry)
        SpanScreen(store: store, spool: spool).add(to: &registry)
        let whole = registry.whole
        registry.addScreen(
            "trace.traces", "Traces", .tab("Settings"), listing: "trace.list", id: "id",
            links: [.screen("trace.frames", "Flame", key: "f", ["id": .row("id")])]
                + (whole.registry?.present([
                    .screen("chat.conversation", "Conversation", key: "c", ["conversation": .row("conversation")]),
                    .screen("runs.run", "Run", key: "u", ["run": .row("run")]),
                ]) ?? []),
            detail: .screen("trace.spans", "Spans", ["id": .row("id")]), every: .seconds(2))
        registry.addScreen(
            "trace.diagnostics", "Diagnostics", .tab("Settings"), listing: "trace.requests", id: "trace", "span",
            links: [.screen("trace.request", "As curl", key: "c", ["id": .row("trace"), "span": .row("span")])],
            detail: .screen("trace.spans", "Spans of its trace", ["id": .row("trace")]),
            offering: whole.registry?.present([.action("gateway.debug", "Debug a request", key: "b")]) ?? [],
            every: .seconds(1))
        registry.addScreen(
            "trace.frames", "Flame of a trace", .detail, listing: "trace.flame", id: "frame")
        registry.addScreen(
            "trace.spans", "Spans of a trace", .detail, listing: "trace.show", id: "span",
            detail: .screen("trace.facts", "Span", ["id": .row("trace"), "span": .row("span")]))
        registry.addScreen(
            "trace.log", "Log", .tab("Settings"), listing: "trace.logs", id: "time", "scope", "message",
            detail: .screen("trace.spans", "Spans of its trace", ["id": .row("trace")]), every: .seconds(2))
        registry.addScreen(
            "trace.figures", "Times", .tab("Settings"), listing: "trace.stats", id: "time", "name", "feature",
            "service", "received")
    }

    /// A name that no other process has, nor another composition of this one.
    private static func processName() -> String {
        var generator = SystemRandomNumberGenerator()
        return "\(getpid())-\(Hexadecimal.digits(of: generator.next() as UInt64))"
    }

    /// What this process is, in OpenTelemetry's words.
    private static func resource(_ variables: CollectorVariables) -> JSONObject {
        let program = CommandLine.arguments.first.map { String($0.split(separator: "/").last ?? "") } ?? ""
        var resource: JSONObject = ["service.name": .string(program.isEmpty ? "martlet" : program)]
        for (name, value) in variables.resource { resource[name] = value }
        resource["process.pid"] = .int(Int(getpid()))
        return resource
    }
}

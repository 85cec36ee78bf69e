import Capabilities
import Registry
import Settings

/// A capability lookup against one look into a dictionary of the same size.
enum LookupBenchmark {
    private static let count = 2_000_000

    static func run() throws -> [Figure] {
        let composition = Composition([BuiltInFeature(StoreFeature.self)])
        let registry = composition.registry
        let dictionary: [ObjectIdentifier: Int] = [
            ObjectIdentifier((any SecretStore).self): 1, ObjectIdentifier((any SpanSink).self): 2,
        ]
        guard registry.optional((any SecretStore).self) != nil else { throw BenchmarkError("the lookup found nothing") }
        var found = 0
        var last: (any SecretStore)?
        let (ours, theirs) = try Samples.best(of: 15) {
            for _ in 0..<count {
                last = try lookUp(registry)
            }
        } theirs: {
            for _ in 0..<count { found += lookUp(dictionary) }
        }
        guard found > 0, last != nil else { throw BenchmarkError("nothing was looked up") }
        return [
            Figure("registry.one(_:) / Dictionary<ObjectIdentifier, Int>", ours / theirs, "ratio", .atMost(2)),
            Figure("registry.one(_:)", ours / Double(count) * 1e9, "ns"),
            Figure("Dictionary<ObjectIdentifier, Int>", theirs / Double(count) * 1e9, "ns"),
        ]
    }

    // Not inlined, so that neither look-up can be moved out of its loop.
    @inline(never)
    private static func lookUp(_ registry: Registry) throws -> any SecretStore {
        try registry.one((any SecretStore).self)
    }

    @inline(never)
    private static func lookUp(_ dictionary: [ObjectIdentifier: Int]) -> Int {
        dictionary[ObjectIdentifier((any SecretStore).self)] ?? 0
    }
}

private struct StoreFeature: Feature {
    static let manifest = Manifest(
        id: "store", summary: "Two capabilities", version: "1.0",
        provides: [.single((any SecretStore).self), .shared((any SpanSink).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, Store() as any SecretStore)
        registry.provide((any SpanSink).self, Sink() as any SpanSink)
    }

    /// An object, as every store is that keeps something.
    private actor Store: SecretStore {
        func secret(named name: SecretName) -> Secret? { nil }
        func store(_ secret: Secret, named name: SecretName) {}
        func remove(named name: SecretName) {}
        func names() -> [SecretName] { [] }
    }

    private final class Sink: SpanSink {
        func record(_ span: TraceSpan) {}
    }
}

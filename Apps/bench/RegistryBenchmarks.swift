import Capabilities
import Registry
import Settings

/// A capability lookup against a lookup in a dictionary of the same size.
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

    // Not inlined, so that neither lookup can be moved out of its loop.
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

    /// A class, like real stores.
    private actor Store: SecretStore {
        func secret(named name: SecretName) -> Secret? { nil }
        func store(_ secret: Secret, named name: SecretName) {}
        func remove(named name: SecretName) {}
        func names() -> [SecretName] { [] }
    }

    private final class Sink: SpanSink {
        func record(_ span: SpanRecord) {}
    }
}

/// Composing and checking 200 features with 2,000 actions.
enum ComposeBenchmark {
    static func run() throws -> [Figure] {
        let list = SyntheticFeatures.list(200)
        var actions = 0
        var problems = 0
        // The first run is what a program pays, since every type is used for the first time.
        var cold = Samples()
        cold.add(
            ContinuousClock().measure {
                let composition = Composition(list)
                actions = composition.registry.actions.all.count
                problems = composition.problems.count
            })
        guard actions == 2000, problems == 0 else { throw BenchmarkError("\(actions) actions, \(problems) problems") }
        let warm = Samples.best(of: 10) { _ = Composition(list) }
        return [
            Figure("200 features, 2,000 actions, first time", cold.median * 1000, "ms", .atMost(20)),
            Figure("200 features, 2,000 actions, again", warm * 1000, "ms"),
        ]
    }
}

/// A digit as a type, so that one generic type yields any number of features.
protocol Digit: Sendable {
    static var value: Int { get }
}

enum D0: Digit { static let value = 0 }
enum D1: Digit { static let value = 1 }
enum D2: Digit { static let value = 2 }
enum D3: Digit { static let value = 3 }
enum D4: Digit { static let value = 4 }
enum D5: Digit { static let value = 5 }

/// A typical feature with ten actions and a setting.
struct SyntheticFeature<A: Digit, B: Digit, C: Digit>: Feature {
    static var id: String { "f\(A.value)\(B.value)\(C.value)" }
    static var manifest: Manifest {
        Manifest(
            id: id, summary: "A feature for measuring", version: "1.0", needs: [.all((any SpanSink).self)],
            settings: [Setting("limit", "At most so many", default: 10).declaration])
    }

    private let limit: Int

    init(_ settings: FeatureSettings) {
        limit = settings[Setting("limit", "At most so many", default: 10)]
    }

    func register(in registry: inout RegistryBuilder) {
        for number in 0..<10 {
            registry.add(
                Action(
                    "\(Self.id).action\(number)", "Do the thing number \(number)", .reads,
                    .argument("name", "What it is done to"),
                    .option("count", "How often", in: 1...100, default: 1, short: "c"),
                    .flag("all", "Also the hidden ones"),
                    .option("tags", "Only with these tags", as: [String].self)
                ) { _, name, count, all, tags in "\(name) \(count) \(all) \(tags)" })
        }
    }
}

enum SyntheticFeatures {
    private static let digits: [any Digit.Type] = [D0.self, D1.self, D2.self, D3.self, D4.self, D5.self]

    /// `count` different features.
    static func list(_ count: Int) -> [BuiltInFeature] {
        var list: [BuiltInFeature] = []
        for a in digits {
            for b in digits {
                for c in digits where list.count < count { list.append(make(a, b, c)) }
            }
        }
        return list
    }

    private static func make<A: Digit, B: Digit, C: Digit>(_: A.Type, _: B.Type, _: C.Type) -> BuiltInFeature {
        BuiltInFeature(SyntheticFeature<A, B, C>.self)
    }
}

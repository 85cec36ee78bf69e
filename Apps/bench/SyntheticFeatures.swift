import Capabilities
import Registry
import Settings

/// A digit as a type, so that any number of features can be made from one generic type.
protocol Digit: Sendable {
    static var value: Int { get }
}

enum D0: Digit { static let value = 0 }
enum D1: Digit { static let value = 1 }
enum D2: Digit { static let value = 2 }
enum D3: Digit { static let value = 3 }
enum D4: Digit { static let value = 4 }
enum D5: Digit { static let value = 5 }

/// A feature with ten actions and a setting, as an ordinary one has.
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

    /// So many different features.
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

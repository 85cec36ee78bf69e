import Capabilities
import CoreTesting
import JSON
import Registry
import Settings

/// A capability without content, so that features are wired by their types alone.
protocol Mark: Sendable { init() }

struct Alpha: Mark {}
struct Beta: Mark {}
struct Gamma: Mark {}
struct Delta: Mark {}
struct Omega: Mark {}

/// The id of the feature that provides a mark.
func name(of mark: any Mark.Type) -> String { "\(mark)".lowercased() }

/// A feature without settings.
protocol PlainFeature: Feature { init() }

extension PlainFeature {
    init(_ settings: FeatureSettings) throws { self.init() }
    func register(in registry: inout RegistryBuilder) {}
}

/// Provides one mark and needs nothing.
struct Source<Own: Mark>: PlainFeature {
    static var manifest: Manifest {
        Manifest(id: name(of: Own.self), summary: "A source", version: "1", provides: [.single(Own.self)])
    }

    func register(in registry: inout RegistryBuilder) { registry.provide(Own.self, Own()) }
}

/// Provides one mark and needs another.
struct Link<Own: Mark, Needed: Mark>: PlainFeature {
    static var manifest: Manifest {
        Manifest(
            id: name(of: Own.self), summary: "A link", version: "1", provides: [.single(Own.self)],
            needs: [.one(Needed.self)])
    }

    func register(in registry: inout RegistryBuilder) { registry.provide(Own.self, Own()) }
}

/// Provides one mark and uses another in every optional way.
struct Loose<Own: Mark, Used: Mark>: PlainFeature {
    static var manifest: Manifest {
        Manifest(
            id: name(of: Own.self), summary: "A loose link", version: "1", provides: [.single(Own.self)],
            needs: [.optional(Used.self), .all(Used.self)])
    }

    func register(in registry: inout RegistryBuilder) { registry.provide(Own.self, Own()) }
}

/// A capability with a text, which several features may provide.
protocol Greeter: Sendable { var greeting: String { get } }

struct Greeting: Greeter { let greeting: String }

/// Settings from the text of a file, for the given features.
func settings(_ text: String, for features: [any Feature.Type]) throws -> Settings {
    var catalogue = SettingsCatalogue(features: features.map { $0.manifest.id })
    for feature in features { catalogue.add(feature.manifest.settings, of: feature.manifest.id) }
    let layer = try SettingsLayer(origin: .user(file: "user.json"), text: Array(text.utf8))
    return Settings(merging: [layer], overrides: [], catalogue: catalogue) { _, _ in true }
}

/// Composes features as an executable would.
func compose(_ types: [any Feature.Type], settings text: String = "{}", only: [String]? = nil) throws -> Composition {
    Composition(
        types.map { BuiltInFeature($0) }, settings: try settings(text, for: types), selection: .init(only: only))
}

extension Composition {
    /// The problems as they are printed.
    var complaints: [String] { problems.map(\.description) }
    /// The ids of the features, in order.
    var order: [String] { features.map(\.manifest.id) }
}

/// A failure with its own code.
struct DemoFailure: Failure {
    var code: String { "demo.failed" }
    var message: String { "it broke" }
}

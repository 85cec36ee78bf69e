import Registry
import Settings

/// A feature with only settings.
struct SampleFeature: Feature {
    static let manifest = Manifest(
        id: "sample", summary: "Something to set", version: "1.0",
        settings: [
            Setting("depth", "How deep it looks", default: 3).declaration,
            Setting("words", "What it looks for", default: [String]()).declaration,
        ])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {}
}

import CoreTesting
import JSON
import Registry
import Settings
import Testing

@Suite("Completion of the values of settings") struct SettingCompletionTests {
    private struct Garden: Feature {
        static let manifest = Manifest(
            id: "garden", summary: "Plants", version: "1",
            settings: [
                Setting("watered", "Whether it is watered", default: true).declaration,
                Setting("plant", "What grows", default: "rose").declaration,
                Setting("note", "A note", default: "").declaration,
            ])
        init(_ settings: FeatureSettings) {}
        func register(in registry: inout RegistryBuilder) {
            registry.completes("plant", .words(["rose", "ivy"]))
        }
    }

    @Test(
        "The words depend on the setting whose key is given, also within a profile",
        arguments: [
            ("garden.watered", ["true", "false"]), ("garden.plant", ["rose", "ivy"]),
            ("profiles.lab.garden.plant", ["rose", "ivy"]), ("profile", ["lab"]),
            ("features.garden", ["true", "false"]),
            ("garden.note", []), ("garden", []), ("garden.wrong", []), ("", []),
        ])
    func words(key: String, words: [String]) throws {
        let test = try TestHost([Garden.self], settings: "{profiles: {lab: {}}}")
        guard case .dynamic(let find) = Completion.values(ofSettingIn: "key") else {
            Issue.record("not dynamic")
            return
        }
        let registry = test.composition.registry
        #expect(find(registry, test.host, ["key": .string(key)]).map(\.word) == words)
        #expect(find(registry, test.host, [:]).isEmpty)
    }
}

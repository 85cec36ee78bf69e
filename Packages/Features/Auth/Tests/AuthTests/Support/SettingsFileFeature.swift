import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// What the host gives to features, here: a settings file in the folder of the test.
struct SettingsFileFeature: Feature {
    static let manifest = Manifest(
        id: "settings-file", summary: "A settings file for tests", version: "1.0",
        provides: [.single((any SettingsWriter).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SettingsWriter).self, FileWriter(folder: registry.surroundings.locations.config))
    }
}

private final class FileWriter: SettingsWriter {
    private let folder: String

    init(folder: String) {
        self.folder = folder
    }

    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String {
        let path = "\(folder)/config.json"
        try Files.makeDirectories(folder)
        var text = Files.exists(path) ? try Files.read(path, limit: 1 << 20) : Array("{}".utf8)
        for (key, value) in changes(try JSONDocument(parsing: text, name: path).value) {
            let document = try JSONDocument(parsing: text, name: path)
            text = Array((try value.map { try document.setting(key, to: $0) } ?? document.removing(key)).utf8)
        }
        try Files.writeAtomically(text, to: path)
        return path
    }
}

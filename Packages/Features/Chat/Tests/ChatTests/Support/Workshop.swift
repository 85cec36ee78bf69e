import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// What a host and other features provide to Chat: environment secrets, a settings file, and some tools.
struct Workshop: Feature {
    static let manifest = Manifest(
        id: "shop", summary: "Tools for tests", version: "1.0",
        provides: [
            .single((any SecretStore).self), .single((any SettingsWriter).self), .shared((any ToolSource).self),
            .single((any FolderRules).self), .shared((any RuleKeeper).self),
        ])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let environment = registry.surroundings.environment
        registry.provide((any SecretStore).self, EnvironmentSecretStore { environment } as any SecretStore)
        registry.provide(
            (any SettingsWriter).self, Notebook(folder: registry.surroundings.locations.config) as any SettingsWriter)
        registry.provide((any ToolSource).self, Bench() as any ToolSource)
        let folders = FolderRecordFile("\(registry.surroundings.locations.state)/folders.json")
        registry.provide((any FolderRules).self, folders as any FolderRules)
        registry.provide((any RuleKeeper).self, folders as any RuleKeeper)
        registry.add(Action("shop.price", "Reads, and is not for models", .reads) { _ in "12" })
        registry.add(Action("shop.sell", "Changes something", .writes) { _ in "sold" })
    }
}

struct OutOfOrder: Failure {
    var code: String { "shop.out-of-order" }
    var message: String { "the till is stuck" }
}

/// A source with tools that read, one that fails, one that changes something, and one that never ends.
private final class Bench: ToolSource {
    var name: String { "bench" }

    func tools() async throws -> [ToolDescription] {
        [
            ToolDescription(
                name: "shop.stock", summary: "How many there are",
                input: ["type": "object", "properties": ["thing": ["type": "string"]], "required": ["thing"]],
                effect: .reads),
            ToolDescription(name: "shop.broken", summary: "Fails", input: ["type": "object"], effect: .reads),
            ToolDescription(name: "saw", summary: "Saws", input: ["type": "object"], effect: .writes),
            ToolDescription(name: "dry", summary: "Takes forever", input: ["type": "object"], effect: .reads),
        ]
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        switch call.name {
        case "dry": try await Task.sleep(for: .seconds(3600))
        case "shop.broken": throw OutOfOrder()
        case "shop.stock":
            guard let thing = call.input["thing"]?.string else {
                return ToolResult(call: call.id, content: "thing is missing", isError: true)
            }
            return ToolResult(call: call.id, content: "7 \(thing)")
        default: break
        }
        return ToolResult(call: call.id, content: "sawed \(call.input["wood"]?.string ?? "something")")
    }
}

private final class Notebook: SettingsWriter {
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

import Capabilities
import JSON
import Registry
import Settings

/// Another feature that knows what was chosen for new sessions of gateways: a variable says what.
struct ToolChooser: Feature {
    static let variable = "LAB_CHOICE"
    static let manifest = Manifest(
        id: "chooser", summary: "Chooses tools in tests", version: "1.0",
        provides: [.single((any AgentToolDefaults).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide(
            (any AgentToolDefaults).self, Choices(words: registry.surroundings.environment[Self.variable] ?? ""))
    }

    private final class Choices: AgentToolDefaults {
        private let words: String

        init(words: String) {
            self.words = words
        }

        func tools(
            forNewSessionOf server: any AgentServer, profile: String, project: String?,
            telling tell: @escaping @Sendable (String) -> Void
        ) async throws -> Offered<NewSessionTools>? {
            if words.isEmpty { return nil }
            // What it asks the gateway, which may have no such route or fail.
            guard try await server.toolServers(.all, project: project).isOffered else { return .notOffered }
            let chosen = try JSON(parsing: words)
            func list(_ name: String) -> [String]? { chosen[name]?.array?.compactMap(\.string) }
            tell("chosen for \(profile) in \(project ?? "no project")")
            return .value(
                NewSessionTools(
                    servers: list("servers"), tools: list("tools"), priority: list("priority"),
                    auditLog: chosen["audit"]?.bool))
        }
    }
}

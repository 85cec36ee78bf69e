import Capabilities
import FileKit
import GatewayStore
import JSON
import Registry
import StorageKit
import TurnLoop

/// The rules that the gateway keeps: those in its settings, those declared for a project, and those of sessions,
/// including answers to questions of `claude`.
final class GatewayRules: RuleKeeper {
    private let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    func keptRules(in folder: String) async throws -> [KeptRule] {
        var rules = services.settings.approvals.rules.map {
            KeptRule($0.json, in: "the settings (gateway.approvals)", scope: "always")
        }
        // Reading a store creates its file. Without a file there are no decisions.
        guard Files.exists(services.store.database.path) else { return rules }
        if let project = try await services.store.project(at: folder) {
            rules += project.rules.map {
                KeptRule($0.json, in: "the gateway's project \(project.name)", scope: "project", owner: project.id)
            }
        }
        for session in try await services.store.sessionsWithRules() {
            rules += session.rules.map {
                KeptRule($0.json, in: "the gateway's session \(session.id)", scope: "conversation", owner: session.id)
            }
        }
        return rules
    }

    func remove(_ kept: KeptRule) async throws {
        switch kept.scope {
        case "always":
            guard let registry = services.whole?.registry else { return }
            try await registry.one((any SettingsWriter).self).remove(kept, from: ["gateway", "approvals"])
        case "project": try await services.store.removeRules([ApprovalRule(json: kept.rule)], ofProject: kept.owner)
        default: try await services.store.removeRules([ApprovalRule(json: kept.rule)], ofSession: kept.owner)
        }
    }
}

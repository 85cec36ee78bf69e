import Capabilities
import FileKit
public import Registry
public import Settings

/// What every Martlet can do whatever is built into it: tell what it is, look after its settings and its data.
public struct HostFeature: Feature {
    public static let manifest = Manifest(
        id: "host", summary: "Versions, features, health, settings and data", version: "0.1.0",
        provides: [
            .fallback((any SecretStore).self), .single((any SettingsWriter).self),
            .single((any TrustedFiles).self), .single((any FolderRules).self), .shared((any RuleKeeper).self),
        ],
        needs: [.all((any DataStore).self), .all((any CompanionFiles).self), .all((any RuleKeeper).self)],
        namespaces: ["version", "features", "doctor", "config", "data", "access"],
        groups: [
            "access": "Look at who may do what",
            "config": "Look at and change the settings", "data": "Look after what is kept on this machine",
        ])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        let environment = registry.surroundings.environment
        registry.provide((any SecretStore).self, EnvironmentSecretStore { environment } as any SecretStore)
        registry.provide(
            (any SettingsWriter).self, UserSettingsWriter(locations: registry.surroundings.locations))
        registry.provide(
            (any TrustedFiles).self, TrustedBundles(state: registry.surroundings.locations.state))
        // Beside the projects that are trusted: both are the person's word about a folder.
        let state = registry.surroundings.locations.state
        let folders = FolderRecordFile(state.isEmpty ? "" : "\(state)/folders.json")
        registry.provide((any FolderRules).self, folders)
        registry.provide((any RuleKeeper).self, folders)
        registry.add(Self.versionAction)
        registry.add(Self.featuresAction)
        registry.add(Self.doctorAction)
        registry.add(AccessAction.show)
        for action in ConfigActions.all { registry.add(action) }
        for action in DataActions.all { registry.add(action) }
        for check in HostChecks.all { registry.add(check) }
    }
}

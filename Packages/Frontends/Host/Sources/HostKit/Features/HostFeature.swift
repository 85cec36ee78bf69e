import Capabilities
import FileKit
import JSON
public import Registry
import Screens
public import Settings

/// The feature that every build has: version, settings, data and access.
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
            "access": "Show who may do what",
            "config": "Show and change settings", "data": "Check, back up, restore and purge stored data",
        ],
        variables: [
            "VISUAL, EDITOR": "The editor of 'config edit'",
            SettingsLoader.homeVariable: "The folder for all files, instead of the XDG folders",
        ])

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        let environment = registry.surroundings.environment
        registry.provide((any SecretStore).self, EnvironmentSecretStore { environment } as any SecretStore)
        registry.provide(
            (any SettingsWriter).self, UserSettingsWriter(locations: registry.surroundings.locations))
        registry.provide(
            (any TrustedFiles).self, TrustedBundles(state: registry.surroundings.locations.state))
        // In the state folder, like the list of trusted projects: both record what the person decided about a folder.
        let state = registry.surroundings.locations.state
        let folders = FolderRecordFile(state.isEmpty ? "" : "\(state)/folders.json")
        registry.provide((any FolderRules).self, folders)
        registry.provide((any RuleKeeper).self, folders)
        registry.add(Self.versionAction)
        registry.add(Self.featuresAction)
        registry.add(DoctorAction.doctor)
        registry.add(AccessAction.show)
        for action in ConfigActions.all { registry.add(action) }
        for action in DataActions.all { registry.add(action) }
        for check in HostChecks.all { registry.add(check) }
        Self.addScreens(to: &registry)
    }
}

extension HostFeature {
    private static func addScreens(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "features.states", "Features", .tab("Settings"), listing: "features", id: "id", every: .seconds(2))
        registry.addScreen("doctor.findings", "Health", .tab("Settings"), listing: "doctor", id: "id")
        registry.addScreen(
            "config.settings", "Settings", .tab("Settings"), listing: "config.show",
            giving: ["all": true, "origin": true], id: "key",
            links: [.action("config.unset", "Use the default", key: "d", ["key": .row("key")])],
            detail: .screen("config.setting", "Change", ["key": .row("key")]))
        registry.add(SettingScreen.screen)
        registry.addScreen("access.rules", "Access", .tab("Settings"), listing: "access.show", id: "action")
        registry.addScreen("data.stores", "Stored data", .tab("Settings"), listing: "data.list", id: "id")
    }
}

extension HostFeature {
    private static var versionAction: Action {
        Action("version", "Show the version, the features and the libraries of this build", .reads) { context in
            Version(context.host)
        }
        .always().instant().forModels()
        .example("martlet version --json", "For a bug report")
    }
}

/// The contents of this build.
private struct Version: Record {
    let name: String
    let version: String
    let features: [String]
    let libraries: [String: String]

    init(_ host: Host) {
        name = host.name
        version = host.version
        features = host.composition.features.map(\.manifest.id)
        libraries = Dictionary(
            host.registry.libraries.map { ($0.name, $0.version()) }, uniquingKeysWith: { first, _ in first }
        )
    }

    static let fields: [Field<Version>] = [
        Field("name", "The program", .name) { $0.name },
        Field("version", "Its version") { $0.version },
        Field("features", "The features that are switched on") { $0.features },
        Field("libraries", "The libraries they use, with the loaded version, or the build version before loading") {
            $0.libraries
        },
    ]
}

extension HostFeature {
    private static var featuresAction: Action {
        Action("features", "List the features, their state and how to switch them on", .reads) { context in
            let rows = FeatureStatus.all(context.host)
            // A problem without a feature in the list, such as a misspelt name in --only, has no row and becomes a
            // notice.
            for problem in context.host.composition.problems where !rows.contains(where: { $0.id == problem.feature }) {
                context.notice(problem.description)
            }
            return rows
        }
        .always().instant().forModels()
        .example("martlet features --json", "As an array with id, state, reason and more")
    }
}

/// The present state of one feature.
private struct FeatureStatus: Record {
    let id: String
    let state: String
    let reason: String?
    let summary: String
    let version: String?
    private let provides: [String]
    private let needs: [String]

    static func all(_ host: Host) -> [FeatureStatus] {
        let problems = Dictionary(grouping: host.composition.problems, by: \.feature)
        let on = host.composition.features.map { composed -> FeatureStatus in
            let manifest = composed.manifest
            let wrong = problems[manifest.id]?.map(\.message).joined(separator: "; ")
            let state = wrong.map { FeatureState.failed($0) } ?? host.states.known(manifest.id) ?? .ok
            return FeatureStatus(
                id: manifest.id, state: state.word, reason: state.reason, summary: manifest.summary,
                version: manifest.version, provides: manifest.provides.map(\.capability.description),
                needs: manifest.needs.map(\.words))
        }
        let off = host.composition.off.map { left in
            FeatureStatus(
                id: left.id, state: "off", reason: left.reason, summary: left.summary, version: nil, provides: [],
                needs: [])
        }
        return (on + off).sorted { $0.id < $1.id }
    }

    static let fields: [Field<FeatureStatus>] = [
        Field("id", "The feature", .name) { $0.id },
        Field("state", "off, starting, ok, degraded, failed, stopping or stopped", .state) { $0.state },
        Field("summary", "What the feature is for") { $0.summary },
        Field("reason", "Why it is in that state, or empty") { $0.reason ?? "" },
        Field("version", "Its version", .detail) { $0.version },
        Field("provides", "The capabilities it provides", .detail) { $0.provides },
        Field("needs", "The capabilities it uses", .detail) { $0.needs },
    ]
}

extension Need {
    fileprivate var words: String {
        switch kind {
        case .one: capability.description
        case .optional: "\(capability) (optional)"
        case .all: "\(capability) (all)"
        }
    }
}

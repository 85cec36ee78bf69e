public import Capabilities
public import JSON

/// The merged settings: for each key the value that counts, and where it comes from.
public struct Settings: Sendable {
    /// One setting as it stands.
    public struct Entry: Sendable {
        public let key: [String]
        public let value: JSON
        public let origin: SettingsOrigin
    }

    /// A project's setting that is not used because the folder is not trusted.
    public struct Inert: Sendable, Hashable {
        public let key: [String]
        public let risk: SettingRisk
        public let file: String
    }

    /// A setting of a feature that is not in this build; another build that shares the file has it.
    public struct Ignored: Sendable, Hashable {
        public let key: [String]
        public let feature: String
        public let origin: SettingsOrigin
    }

    var entries: [[String]: Entry] = [:]
    /// What the profile in use has covered, by key.
    var covered: [[String]: Entry] = [:]
    /// Everything that is wrong, in the order of the layers.
    public internal(set) var problems: [SettingsProblem] = []
    /// What a project would set and may not.
    public internal(set) var inert: [Inert] = []
    /// What is set for features that are not in this build.
    public internal(set) var ignored: [Ignored] = []
    /// Variables with our prefix that name no setting.
    public internal(set) var unknownVariables: [String] = []
    /// The profile in use.
    public internal(set) var profile: String?
    /// Also those that set nothing, or nothing that may be used.
    var profileNames: Set<String> = []

    public init() {}

    /// The entry of a key that is set somewhere.
    public subscript(key: [String]) -> Entry? { entries[key] }

    /// Every key that is set somewhere.
    public var keys: [[String]] { Array(entries.keys) }

    /// Whether a feature is on.
    public func isOn(_ feature: String) -> Bool {
        entries[["features", feature]]?.value.bool ?? true
    }

    /// Where a feature was switched off, if it was.
    public func originOfSwitch(_ feature: String) -> SettingsOrigin? {
        entries[["features", feature]]?.origin
    }

    /// What one feature sees: its own settings and no others.
    public func view(for feature: String) -> FeatureSettings {
        FeatureSettings(settings: self, prefix: feature.split(separator: ".").map(String.init))
    }

    /// The server of the profile in use.
    public var server: String? {
        profile.flatMap { entries[["profiles", $0, "server"]]?.value.string }
    }

    /// The names of all profiles.
    public var profiles: [String] { profileNames.sorted() }
}

/// The settings of one feature, read by their declarations.
public struct FeatureSettings: Sendable {
    let settings: Settings
    let prefix: [String]

    /// The value that counts. What does not fit the declaration was reported before, so the default stands in for it.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        guard let entry = settings[prefix + setting.declaration.key] else { return setting.standard }
        do {
            return try Value(json: entry.value)
        } catch {
            return setting.standard
        }
    }

    /// The server of the profile in use.
    public var server: String? { settings.server }
    /// The profile in use.
    public var profile: String? { settings.profile }

    /// The profiles that name a server, by name.
    public var servers: [ProfileServer] {
        settings.profiles.compactMap { name in
            guard let entry = settings[["profiles", name, "server"]], let address = entry.value.string else {
                return nil
            }
            let kind = settings[["profiles", name, "kind"]]?.value.string.flatMap(ServerKind.init)
            return ProfileServer(profile: name, address: address, kind: kind ?? .openai, origin: entry.origin)
        }
    }

    /// What the feature's settings are when a profile is in use, whether or not it is.
    public func inProfile(_ name: String) -> FeatureSettings {
        guard name != settings.profile else { return self }
        var prefixed = settings
        for (key, entry) in settings.entries where entry.origin == settings.profile.map(SettingsOrigin.profile) {
            prefixed.entries[key] = settings.covered[key]
        }
        for entry in settings.entries.values where entry.key.starts(with: ["profiles", name] + prefix) {
            let key = Array(entry.key.dropFirst(2))
            // What was said for this run wins over every profile.
            if prefixed.entries[key]?.origin.isOverride != true { prefixed.entries[key] = entry }
        }
        return FeatureSettings(settings: prefixed, prefix: prefix)
    }
}

/// The server that a profile names.
public struct ProfileServer: Sendable, Hashable {
    public let profile: String
    public let address: String
    /// What it speaks; the least that can be expected where nothing says more.
    public let kind: ServerKind
    /// Who says so.
    public let origin: SettingsOrigin
}

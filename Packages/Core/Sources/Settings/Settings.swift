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

extension Settings {
    /// Merges layers, the strongest last.
    ///
    /// - Parameters:
    ///   - layers: system, user and project files, in this order.
    ///   - overrides: environment and flags, in this order; they win over the profile too.
    ///   - problems: what went wrong before, such as a file that could not be read.
    ///   - unknownVariables: variables with our prefix that name no setting.
    ///   - isTrusted: whether a project file may do what its risky settings, given here, would do.
    public init(
        merging layers: [SettingsLayer], overrides: [SettingsLayer], catalogue: SettingsCatalogue,
        problems: [SettingsProblem] = [], unknownVariables: [String] = [],
        isTrusted: (_ file: String, _ risky: JSONObject) -> Bool
    ) {
        self.problems = problems
        self.unknownVariables = unknownVariables
        for layer in layers {
            var trusted = true
            if case .project(let file) = layer.origin {
                let risky = catalogue.risky(in: layer.value)
                trusted = risky.isEmpty || isTrusted(file, risky)
            }
            take(layer, catalogue, trusted: trusted)
        }
        applyProfile(overrides: overrides, catalogue)
        for layer in overrides { take(layer, catalogue, trusted: true) }
    }

    /// Says that there is no such profile, with the ones that there are.
    public static func unknownProfile(_ name: String, among known: [String]) -> String {
        "there is no profile \(name.quotedForMessage)\(Suggestion.text(for: name, among: known)); "
            + (known.isEmpty
                ? "none is set up yet; 'martlet config set profiles.\(name).server URL' sets one up"
                : "known: \(known.joined(separator: ", "))")
    }

    private mutating func take(_ layer: SettingsLayer, _ catalogue: SettingsCatalogue, trusted: Bool) {
        var found: [SettingsProblem] = []
        profileNames.formUnion(layer.value["profiles"]?.object?.keys ?? [])
        catalogue.walk(layer.value) { key, declaration, value in
            let wrong = declaration.schema.problems(in: value)
            if !wrong.isEmpty {
                found += wrong.map { layer.problem(at: key + $0.path, $0.message) }
            } else if declaration.risk != .none, !trusted, let file = layer.origin.file {
                inert.append(Inert(key: key, risk: declaration.risk, file: file))
            } else {
                set(key, declaration, value, layer.origin)
            }
        } problem: { key, message, isAboutKey in
            found.append(layer.problem(at: key, message, isAboutKey: isAboutKey))
        } ignored: { key, feature in
            ignored.append(Ignored(key: key, feature: feature, origin: layer.origin))
        }
        problems += found
    }

    /// A map grows by the members of each layer, and so does a list that says so; everything else is replaced.
    private mutating func set(
        _ key: [String], _ declaration: SettingDeclaration, _ value: JSON, _ origin: SettingsOrigin
    ) {
        var merged = value
        if case .map = declaration.schema.unwrapped, var members = entries[key]?.value.object, let new = value.object {
            for (name, member) in new { members[name] = member }
            merged = .object(members)
        } else if declaration.joinsLayers, let before = entries[key]?.value.array, let new = value.array {
            merged = .array(before + new.filter { !before.contains($0) })
        }
        entries[key] = Entry(key: key, value: merged, origin: origin)
    }

    /// The profile is named by the strongest layer and lies between the files and the environment.
    private mutating func applyProfile(overrides: [SettingsLayer], _ catalogue: SettingsCatalogue) {
        var chosen = entries[["profile"]].map { ($0.value.string, $0.origin) }
        for layer in overrides {
            if let name = layer.value["profile"]?.string { chosen = (name, layer.origin) }
        }
        guard let (name, origin) = chosen, let name else { return }
        let known = profiles
        guard known.contains(name) else {
            problems.append(
                SettingsProblem(origin: origin, key: ["profile"], message: Self.unknownProfile(name, among: known)))
            return
        }
        profile = name
        for entry in entries.values where entry.key.count > 3 && entry.key.starts(with: ["profiles", name]) {
            let key = Array(entry.key.dropFirst(2))
            guard let declaration = catalogue.declaration(of: key) else { continue }
            covered[key] = entries[key]
            set(key, declaration, entry.value, .profile(name))
        }
    }
}

extension SettingsCatalogue {
    /// The part of a project's settings that would run, send or widen something: what trust is given to.
    public func risky(in value: JSONObject) -> JSONObject {
        var risky = JSONObject()
        walk(value) { key, declaration, value in
            if declaration.risk != .none { risky[key.joined(separator: ".")] = value }
        } problem: { _, _, _ in
        }
        return risky
    }
}

/// Something wrong in the settings, with the place where to mend it.
public struct SettingsProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public let origin: SettingsOrigin
    public let line: Int?
    public let column: Int?
    /// The key, from the outside in; empty when the whole file is meant.
    public let key: [String]
    public let message: String

    public init(origin: SettingsOrigin, line: Int? = nil, column: Int? = nil, key: [String] = [], message: String) {
        self.origin = origin
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// `file:line:column: key: message`, as editors and people expect it.
    public var description: String {
        var place = origin.words
        if let line, let column { place += ":\(line):\(column)" }
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key.joined(separator: ".")): \(message)"
    }
}

/// All that is wrong in the settings, said at once.
public struct SettingsFailure: Failure {
    public let problems: [SettingsProblem]

    public init(_ problems: [SettingsProblem]) {
        self.problems = problems
    }

    public var code: String { "settings.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

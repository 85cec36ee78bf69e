public import Capabilities
public import JSON

/// The merged settings: for each key the effective value and its origin.
public struct Settings: Sendable {
    /// One setting with its present value.
    public struct Entry: Sendable {
        /// The words of the key, from the outside in.
        public let key: [String]
        /// The effective value.
        public let value: JSON
        /// Where the value comes from.
        public let origin: SettingsOrigin
    }

    /// A project's setting that is not used because the project is not trusted.
    public struct Inert: Sendable, Hashable {
        /// The words of the key, from the outside in.
        public let key: [String]
        /// Why the value needs trust.
        public let risk: SettingRisk
        /// The path of the project's settings file.
        public let file: String
    }

    /// A setting of a feature that is not in this build. Another build that shares the file may use it.
    public struct Ignored: Sendable, Hashable {
        /// The words of the key, from the outside in.
        public let key: [String]
        /// The id of the feature that is not in this build.
        public let feature: String
        /// Where the value is set.
        public let origin: SettingsOrigin
    }

    var entries: [[String]: Entry] = [:]
    /// What each layer gives a setting, by key, the weakest first. Values that are not used are not among them.
    private var layers: [[String]: [Entry]] = [:]
    /// The values that the profile in use has replaced, by key.
    var covered: [[String]: Entry] = [:]
    /// All problems, in the order of the layers.
    public private(set) var problems: [SettingsProblem] = []
    /// The settings of a project that are not used because it is not trusted.
    public private(set) var inert: [Inert] = []
    /// The settings of features that are not in this build.
    public private(set) var ignored: [Ignored] = []
    /// Variables with our prefix that match no setting.
    public private(set) var unknownVariables: [String] = []
    /// The profile in use.
    public private(set) var profile: String?
    /// Includes profiles that set nothing, or nothing that may be used.
    private var profileNames: Set<String> = []

    /// No settings, so that every setting has its default.
    public init() {}

    /// The entry of a key that is set somewhere.
    public subscript(key: [String]) -> Entry? { entries[key] }

    /// What each place that sets a key gives it, the weakest first: for a list or a map that several places add to, only
    /// the part of that place. A value that is not used, because it is not trusted or does not fit, is not among them.
    public func layers(of key: [String]) -> [Entry] { layers[key] ?? [] }

    /// Every key that is set somewhere.
    public var keys: [[String]] { Array(entries.keys) }

    /// Whether a feature is on.
    public func isOn(_ feature: String) -> Bool {
        entries[["features", feature]]?.value.bool ?? true
    }

    /// Where a feature was switched on or off, if it was.
    public func originOfSwitch(_ feature: String) -> SettingsOrigin? {
        entries[["features", feature]]?.origin
    }

    /// The settings that one feature sees: only its own.
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

    /// The effective value. If it does not fit the declaration, that has already been reported and the default is used.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        guard let entry = settings[prefix + setting.declaration.key] else { return setting.defaultValue }
        do {
            return try Value(json: entry.value)
        } catch {
            return setting.defaultValue
        }
    }

    /// What each place that sets it gives the setting, the weakest first. See `Settings.layers(of:)`.
    public func layers<Value>(of setting: Setting<Value>) -> [Settings.Entry] {
        settings.layers(of: prefix + setting.declaration.key)
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

    /// The feature's settings as if the profile were in use.
    public func inProfile(_ name: String) -> FeatureSettings {
        guard name != settings.profile else { return self }
        var prefixed = settings
        for (key, entry) in settings.entries where entry.origin == settings.profile.map(SettingsOrigin.profile) {
            prefixed.entries[key] = settings.covered[key]
        }
        for entry in settings.entries.values where entry.key.starts(with: ["profiles", name] + prefix) {
            let key = Array(entry.key.dropFirst(2))
            // Values for this run take precedence over every profile.
            if prefixed.entries[key]?.origin.isOverride != true { prefixed.entries[key] = entry }
        }
        return FeatureSettings(settings: prefixed, prefix: prefix)
    }
}

/// The server that a profile names.
public struct ProfileServer: Sendable, Hashable {
    /// The name of the profile.
    public let profile: String
    /// The address of the server.
    public let address: String
    /// What it speaks; OpenAI-compatible if nothing says more.
    public let kind: ServerKind
    /// Where the profile's server is set.
    public let origin: SettingsOrigin
}

extension Settings {
    /// Merges layers, the strongest last.
    ///
    /// - Parameters:
    ///   - layers: system, user and project files, in this order.
    ///   - overrides: environment and flags, in this order; they also take precedence over the profile.
    ///   - problems: earlier problems, such as a file that could not be read.
    ///   - unknownVariables: variables with our prefix that match no setting.
    ///   - isTrusted: whether a project file may use its risky settings, which are passed to it.
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

    /// Says that there is no such profile, and lists those that exist.
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

    /// Maps, and lists that join layers, grow with each layer; everything else is replaced.
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
        layers[key, default: []].append(Entry(key: key, value: value, origin: origin))
    }

    /// The strongest layer names the profile. The profile ranks between the files and the environment.
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

/// A problem in the settings, with the place to fix it.
public struct SettingsProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it is set.
    public let origin: SettingsOrigin
    /// The line in the file, counted from 1; nil if there is no file, or no position in it.
    public let line: Int?
    /// The column in the line, counted from 1; nil as for the line.
    public let column: Int?
    /// The key, from the outside in; empty if the problem concerns the whole file.
    public let key: [String]
    /// What is wrong and what to do about it.
    public let message: String

    /// Without a key, the problem concerns everything of its origin.
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

/// All problems in the settings.
public struct SettingsFailure: Failure {
    /// The problems, in the order of the layers.
    public let problems: [SettingsProblem]

    /// Takes all problems at once, so that a person can fix them together.
    public init(_ problems: [SettingsProblem]) {
        self.problems = problems
    }

    public var code: String { "settings.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

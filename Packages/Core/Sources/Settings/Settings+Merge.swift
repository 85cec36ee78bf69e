import Capabilities
public import JSON

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

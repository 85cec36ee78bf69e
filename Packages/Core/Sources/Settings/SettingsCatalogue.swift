public import Capabilities
public import JSON

/// All settings that this build knows, by their full keys.
public struct SettingsCatalogue: Sendable {
    /// In the order in which they were declared.
    public private(set) var declarations: [SettingDeclaration] = []
    private var root = Node()
    /// Features that are not in this build, each with the rest of a sentence that begins with the feature.
    public private(set) var absent: [String: String] = [:]
    /// The environment variables that features read besides those of settings, and what each is for.
    public private(set) var variables: [String: String] = [:]

    /// A node in the tree of keys: a setting or a group.
    struct Node: Sendable {
        var declaration: SettingDeclaration?
        var members: [String: Node] = [:]
        /// The shape of members with arbitrary names.
        var anyMember: [Node] = []

        mutating func insert(_ declaration: SettingDeclaration, at key: ArraySlice<String>) {
            guard let first = key.first else {
                self.declaration = declaration
                return
            }
            members[first, default: Node()].insert(declaration, at: key.dropFirst())
        }
    }

    /// Creates the settings that do not depend on features: which features are on, and the profile.
    public init(features: [String]) {
        for feature in features {
            add(
                SettingDeclaration(
                    key: ["features", feature], summary: "Whether the feature \(feature) is on", schema: .boolean,
                    defaultValue: true, risk: .widens))
        }
        add(
            SettingDeclaration(
                key: ["profile"], summary: "The profile to use", schema: .optional(.string), defaultValue: .null,
                risk: .sends))
    }

    /// Adds a feature that is not in this build, because its settings may appear in shared files.
    public mutating func addAbsent(_ feature: String, _ reason: String) {
        absent[feature] = reason
        add(
            SettingDeclaration(
                key: ["features", feature], summary: "Whether the feature \(feature) is on, in builds that have it",
                schema: .boolean, defaultValue: true, risk: .widens))
    }

    /// Adds the settings that a feature declares, below its id.
    public mutating func add(_ settings: [SettingDeclaration], of feature: String) {
        let prefix = feature.split(separator: ".").map(String.init)
        for setting in settings { add(setting.under(prefix)) }
    }

    /// Adds variables that a feature reads itself.
    public mutating func add(variables: [String: String]) {
        self.variables.merge(variables) { first, _ in first }
    }

    /// Allows `profiles.<name>` to contain a server, its kind, and all settings added so far.
    public mutating func closeWithProfiles() {
        var profile = root
        profile.members["profiles"] = nil
        profile.members["profile"] = nil
        profile.members["features"] = nil
        profile.insert(
            SettingDeclaration(
                key: ["server"], summary: "The server that the profile names", schema: .optional(.url),
                defaultValue: .null, risk: .sends),
            at: ["server"])
        profile.insert(
            SettingDeclaration(
                key: ["kind"], summary: "The kind of server that the profile names",
                schema: .optional(ServerKind.schema),
                defaultValue: .null, risk: .sends),
            at: ["kind"])
        root.members["profiles"] = Node(anyMember: [profile])
    }

    private mutating func add(_ declaration: SettingDeclaration) {
        declarations.append(declaration)
        root.insert(declaration, at: declaration.key[...])
    }

    /// The declaration of exactly this key.
    public func declaration(of key: [String]) -> SettingDeclaration? {
        node(at: key)?.declaration
    }

    /// The parts of a key as a person types it.
    public static func path(_ key: some StringProtocol) -> [String] {
        Substring(key).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The parts of a key as a person types it, which must be the key of a setting or, if that is allowed, of a group.
    public func path(of key: String, mayBeGroup: Bool = false) throws(UnknownSetting) -> [String] {
        let path = Self.path(key)
        if declaration(of: path) != nil || mayBeGroup && isGroup(path) { return path }
        throw UnknownSetting(key: key, why: unknown(path))
    }

    /// Whether the key names a group of settings.
    public func isGroup(_ key: [String]) -> Bool {
        node(at: key).map { $0.declaration == nil } ?? false
    }

    private func node(at key: [String]) -> Node? {
        var node = root
        for name in key {
            guard let next = node.members[name] ?? node.anyMember.first else { return nil }
            node = next
        }
        return node
    }

    /// Explains why a key is unknown, and suggests the nearest known one.
    public func unknown(_ key: [String]) -> String {
        var known: [String] = []
        for depth in key.indices {
            guard let parent = node(at: Array(key[..<depth])) else { break }
            if let declaration = parent.declaration {
                return "is not a setting: \(declaration.name) has no parts"
            }
            known = parent.members.keys.sorted()
            if parent.members[key[depth]] == nil, parent.anyMember.isEmpty {
                if let feature = absentFeature(of: key) {
                    return "belongs to the feature \(feature), which \(absent[feature] ?? "is not in this build")"
                }
                return Self.unknownName(key[depth], below: key[..<depth], among: known)
            }
        }
        let members = groupMembers(key)
        return "is a group of settings, not one setting; "
            + (members.isEmpty ? "you choose the names of its members" : "it has " + members.joined(separator: ", "))
    }

    /// The feature that owns the key and is not in this build, also within a profile.
    private func absentFeature(of key: [String]) -> String? {
        let own = key.first == "profiles" ? key.dropFirst(2) : key[...]
        return own.first.flatMap { absent[$0] == nil ? nil : $0 }
    }

    private static func unknownName(_ name: String, below group: ArraySlice<String>, among known: [String]) -> String {
        // Suggests the full key, because that is what must be typed.
        if let nearest = Suggestion.nearest(to: name, among: known) {
            return "no such setting; did you mean '\((group + [nearest]).joined(separator: "."))'?"
        }
        return "no such setting; known here: \(known.joined(separator: ", "))"
    }

    private func groupMembers(_ key: [String]) -> [String] {
        node(at: key)?.members.keys.sorted() ?? []
    }

    /// Walks a layer. Calls `leaf` for each setting with its value, `problem` for unknown or misplaced keys, and
    /// `ignored` for settings of features that are not in this build.
    func walk(
        _ object: JSONObject, leaf: (_ key: [String], _ declaration: SettingDeclaration, _ value: JSON) -> Void,
        problem: (_ key: [String], _ message: String, _ isAboutKey: Bool) -> Void,
        ignored: (_ key: [String], _ feature: String) -> Void = { _, _ in }
    ) {
        func visit(_ object: JSONObject, _ node: Node, _ path: [String]) {
            for (name, value) in object {
                let key = path + [name]
                guard let next = node.members[name] ?? node.anyMember.first else {
                    if let feature = absentFeature(of: key) {
                        ignored(key, feature)
                    } else {
                        problem(key, Self.unknownName(name, below: path[...], among: node.members.keys.sorted()), true)
                    }
                    continue
                }
                if let declaration = next.declaration {
                    leaf(key, declaration, value)
                } else if let members = value.object {
                    visit(members, next, key)
                } else {
                    problem(key, "needs an object with settings, not \(value.kindName)", false)
                }
            }
        }
        visit(object, root, [])
    }

    /// The settings of a project that would run, send or widen something. Trust applies to these.
    public func risky(in value: JSONObject) -> JSONObject {
        var risky = JSONObject()
        walk(value) { key, declaration, value in
            if declaration.risk != .none { risky[key.joined(separator: ".")] = value }
        } problem: { _, _, _ in
        }
        return risky
    }
}

/// A key that no feature declares.
public struct UnknownSetting: Failure, Hashable {
    let key: String
    private let why: String

    /// - Parameter why: completes a sentence that begins with the key.
    public init(key: String, why: String) {
        self.key = key
        self.why = why
    }

    public var code: String { "settings.unknown" }
    public var exit: ExitCode { .usage }
    public var message: String { "\(key): \(why)" }
}

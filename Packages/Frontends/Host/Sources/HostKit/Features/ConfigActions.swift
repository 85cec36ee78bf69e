import Capabilities
import FileKit
import JSON
import ProcessKit
import Registry
import Settings

/// The `config` actions: they show every value with its origin, and edit the files without losing comments.
enum ConfigActions {
    static var all: [Action] { [show, get, set, unset, path, edit, validate, trust, untrust] }

    static let keyCompletion = Completion.dynamic { _, host, _ in
        host.catalogue.declarations.map { Completion.Candidate($0.name, $0.summary) }
    }

    private static let show = Action(
        "config.show", "Show the settings in effect", .reads,
        .argument("key", "Only this setting, or the settings below it", as: String?.self, completion: keyCompletion),
        .flag("origin", "Also show where each value comes from"),
        .flag("all", "Also show settings that have their default value")
    ) { context, key, origin, all in
        let prefix = try key.map { try context.host.catalogue.path(of: $0, mayBeGroup: true) } ?? []
        let isOne = context.host.catalogue.declaration(of: prefix) != nil
        let rows = SettingRow.all(
            context.host, below: prefix, origin: origin || isOne, defaults: all || isOne, meaning: all || isOne)
        if rows.isEmpty { context.notice("nothing is set, so every setting has its default; --all shows the defaults") }
        return rows
    }
    .always()
    .details("With --all, or for a single setting, also shows what each setting means.")
    .example("martlet config show --origin", "Which file or variable each value comes from")
    .example("martlet config show features.gateway", "What one setting means, its value and its origin")

    private static let get = Action(
        "config.get", "Print the value of one setting", .reads,
        .argument("key", "The setting, such as features.chat", as: String.self, completion: keyCompletion)
    ) { context, key in
        let path = try context.host.catalogue.path(of: key)
        return context.host.settings[path]?.value ?? context.host.catalogue.declaration(of: path)?.defaultValue ?? .null
    }
    .always()
    .example("martlet config get features.chat", "Prints true or false")

    private static let set = Action(
        "config.set", "Set a value in your settings", .writes,
        .argument("key", "The setting, such as features.chat", as: String.self, completion: keyCompletion),
        .argument(
            "value", "A plain value, or JSON for lists and objects", as: String.self,
            completion: .values(ofSettingIn: "key")),
        .flag("project", "Change the project's settings instead of yours")
    ) { context, key, value, project in
        let host = context.host
        let path = SettingsCatalogue.path(key)
        guard let declaration = host.catalogue.declaration(of: path) else {
            throw UnknownSetting(key: key, why: host.catalogue.unknown(path))
        }
        let json: JSON
        do throws(ValueError) { json = try declaration.schema.json(fromWord: value) } catch {
            throw HostError.badSetting(key: key, why: error.description)
        }
        if path == ["profile"], let name = json.string, !host.settings.profiles.contains(name) {
            throw HostError.badSetting(key: key, why: Settings.unknownProfile(name, among: host.settings.profiles))
        }
        let file = try SettingsFile(host.locations, isProject: project)
        try await file.edit { document throws(JSONError) in try document.setting(path, to: json) }
        if project, let reason = declaration.risk.reason {
            context.notice("\(key) takes effect only after 'martlet config trust', because it \(reason)")
        }
        return Written(file: file.path, key: key, value: json)
    }
    .byName()
    .always()
    .example("martlet config set features.gateway false", "Switch a feature off")

    private static let unset = Action(
        "config.unset", "Remove a value from your settings, to use the default again", .writes,
        .argument("key", "The setting, or a group of settings", as: String.self, completion: keyCompletion),
        .flag("project", "Change the project's settings instead of yours")
    ) { context, key, project in
        let file = try SettingsFile(context.host.locations, isProject: project)
        // A key that is no longer known must still be removable, so it is only searched in the file.
        let path = SettingsCatalogue.path(key)
        let wasSet = try await file.edit { document throws(JSONError) in document.removing(path) }
        if !wasSet {
            let catalogue = context.host.catalogue
            guard catalogue.declaration(of: path) != nil || catalogue.isGroup(path) else {
                throw UnknownSetting(
                    key: key, why: "nothing with that name is set in \(file.path); \(catalogue.unknown(path))")
            }
            context.notice("\(key) was not set in \(file.path), so nothing was changed")
        }
        return Written(file: file.path, key: key, value: nil)
    }
    .byName()
    .always()
    .example("martlet config unset features.gateway", "Back to the default")

    private static let path = Action("config.path", "Show where settings are read from", .reads) { context in
        PathRow.all(context.host.locations)
    }
    .always().instant()

    private static let edit = Action(
        "config.edit", "Open the settings in your editor and check them afterwards", .writes,
        .flag("project", "Edit the project's settings instead of yours")
    ) { context, project in
        try await SettingsEditor.edit(context, isProject: project)
    }
    .always()
    .question("config.edit.invalid", "What to do about invalid settings: one of the offered answers, word for word")

    private static let validate = Action("config.validate", "Check every settings file and variable", .reads) {
        context in
        let problems = context.host.settings.problems
        guard problems.isEmpty else { throw SettingsFailure(problems) }
        let rows = PathRow.all(context.host.locations).filter(\.exists)
        for absence in context.host.absences { context.notice(absence) }
        let files = rows.count == 1 ? "1 file" : "\(rows.count) files"
        context.notice(rows.isEmpty ? "no settings file, no problems" : "\(files), no problems")
        return rows
    }
    .always().instant()
    .details("If something is wrong, lists every problem with file, line and column, and exits with 2.")

    private static let trust = Action(
        "config.trust", "Trust a project's bundles, and its settings that run programs, send data or widen permissions",
        .writes,
        .argument(
            "path", "The project's folder or settings file; default: the current project", as: OwnPath?.self,
            completion: .directories)
    ) { context, path in
        try await TrustActions.trust(context, path)
    }
    .byName()
    .always()
    .details(
        "A project's settings can name commands to run and servers to send to, and its bundles can run actions. Neither is "
            + "used by name until you trust it. Trust covers the settings and all bundles in .martlet/bundles, with exactly "
            + "their present content; after a change you must trust them again."
    )
    .example("martlet config trust .", "Trust the project you are in")

    private static let untrust = Action(
        "config.untrust", "Stop trusting a project's settings and bundles", .writes,
        .argument(
            "path", "The project's folder or settings file; default: the current project", as: OwnPath?.self,
            completion: .directories)
    ) { context, path in
        try await TrustActions.untrust(context, path)
    }
    .byName()
    .always()
}

/// One setting with its present value.
struct SettingRow: Record {
    let key: String
    let value: JSON
    let origin: String?
    let note: String?
    let meaning: String?

    static func all(
        _ host: Host, below prefix: [String], origin: Bool, defaults: Bool, meaning: Bool
    ) -> [SettingRow] {
        let inert = Dictionary(host.settings.inert.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var keys = Set(host.settings.keys).union(inert.keys)
        if defaults { keys.formUnion(host.catalogue.declarations.map(\.key)) }
        return keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
            let entry = host.settings[key]
            return SettingRow(
                key: key.joined(separator: "."),
                value: entry?.value ?? host.catalogue.declaration(of: key)?.defaultValue ?? .null,
                origin: origin ? (entry?.origin ?? .builtIn).words : nil,
                note: inert[key].map { "\($0.file) is not trusted; its value is not used" },
                meaning: meaning ? host.catalogue.declaration(of: key)?.summary : nil)
        }
    }

    static let fields: [Field<SettingRow>] = [
        Field("key", "The setting", .name) { $0.key },
        Field("value", "Its value") { $0.value },
        Field("origin", "Where it comes from") { $0.origin },
        Field("note", "A note on the value") { $0.note },
        Field("meaning", "What the setting means") { $0.meaning },
    ]
}

/// The result of a change.
struct Written: Record {
    let file: String
    let key: String
    let value: JSON?

    static let fields: [Field<Written>] = [
        Field("file", "The file that was written", .name) { $0.file },
        Field("key", "The setting") { $0.key },
        Field("value", "Its new value") { $0.value },
    ]
}

/// A place that settings are read from.
struct PathRow: Record {
    let scope: String
    let path: String
    let exists: Bool

    static func all(_ locations: Locations) -> [PathRow] {
        func row(_ scope: String, _ path: String) -> PathRow {
            PathRow(scope: scope, path: path, exists: Files.exists(path))
        }
        return locations.systemFiles.map { row("system", $0) }
            + [row("user", locations.userFile), row("project", locations.projectFile)]
    }

    static let fields: [Field<PathRow>] = [
        Field("scope", "system, user or project", .name) { $0.scope },
        Field("path", "The file") { $0.path },
        Field("exists", "Whether the file exists") { $0.exists },
    ]
}

/// `config trust` and `config untrust`.
enum TrustActions {
    static func trust(_ context: ActionContext, _ path: OwnPath?) async throws -> TrustRow {
        let file = try file(path, context)
        let risky = try risky(file, context.host)
        let bundles = try TrustedBundles.all(
            besides: file, with: context.registry.all((any CompanionFiles).self))
        guard !risky.isEmpty || !bundles.isEmpty else {
            throw HostError.nothingToTrust("\(file) sets nothing that needs trust; it is already used")
        }
        let trust = ProjectTrust(state: context.host.locations.state)
        let before = try trust.trusted(file) ?? [:]
        var isNew = false
        for (key, value) in risky where before[key] != value {
            isNew = true
            context.notice(before[key] == nil ? "new: \(key) = \(value.text())" : "changed: \(key) = \(value.text())")
        }
        for (path, content) in bundles where !trust.trusts(path, TrustedBundles.entry(content)) {
            isNew = true
            context.notice("\(try trust.trusted(path) == nil ? "new" : "changed"): the bundle \(path)")
        }
        if !isNew { context.notice("\(file) is already trusted with this content") }
        if !risky.isEmpty { try await trust.trust(file, risky) }
        for (path, content) in bundles { try await trust.trust(path, TrustedBundles.entry(content)) }
        return TrustRow(file: file, isTrusted: true, settings: risky, bundles: bundles.map(\.path))
    }

    static func untrust(_ context: ActionContext, _ path: OwnPath?) async throws -> TrustRow {
        let file = try file(path, context)
        let trust = ProjectTrust(state: context.host.locations.state)
        var was = try await trust.untrust(file)
        let bundles = try TrustedBundles.all(
            besides: file, with: context.registry.all((any CompanionFiles).self))
        for (path, _) in bundles where try await trust.untrust(path) { was = true }
        guard was else { throw HostError.nothingToTrust("\(file) was not trusted") }
        return TrustRow(file: file, isTrusted: false, settings: [:], bundles: [])
    }

    /// The project's settings that need trust. A project may have bundles and no settings.
    private static func risky(_ file: String, _ host: Host) throws -> JSONObject {
        do {
            let layer = try SettingsLayer(
                origin: .project(file: file), text: try Files.read(file, limit: SettingsLoader.largestFile))
            return host.catalogue.risky(in: layer.value)
        } catch let problem as SettingsProblem {
            throw SettingsFailure([problem])
        } catch let error as FileError where error.kind == .notFound {
            guard try !TrustedBundles.all(besides: file).isEmpty else { throw error }
            return [:]
        }
    }

    /// The settings file for a path: of the current project, of a folder, or the file itself. It may no longer exist.
    private static func file(_ path: OwnPath?, _ context: ActionContext) throws -> String {
        let host = context.host
        guard let path else {
            let here = "\(host.locations.current)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)"
            guard let project = try host.locations.project ?? (TrustedBundles.all(besides: here).isEmpty ? nil : here)
            else { throw HostError.nothingToTrust("you are not in a project with settings; name the project's folder") }
            return project
        }
        let absolute = host.locations.absolute(try context.text(of: path))
        guard Files.exists(absolute) else { return absolute }
        let real = try Files.canonical(absolute)
        if try Files.info(real).kind == .directory {
            return "\(real)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)"
        }
        // A path to one of a project's bundles stands for the project.
        let folder = "/\(SettingsLoader.projectFolder)/"
        guard let project = real.ranges(of: folder).last else { return real }
        return real[..<project.lowerBound] + folder + SettingsLoader.fileName
    }
}

/// The result: what is trusted now.
struct TrustRow: Record {
    let file: String
    let isTrusted: Bool
    let settings: JSONObject
    let bundles: [String]

    static let fields: [Field<TrustRow>] = [
        Field("file", "The settings file", .name) { $0.file },
        Field("trusted", "Whether its settings are used") { $0.isTrusted },
        Field("settings", "The settings that are trusted") { JSON.object($0.settings) },
        Field("bundles", "The bundles that are trusted, including those that they run") {
            $0.bundles.isEmpty ? nil : $0.bundles
        },
    ]
}

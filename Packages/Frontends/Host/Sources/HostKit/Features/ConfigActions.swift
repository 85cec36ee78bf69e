import Capabilities
import FileKit
import JSON
import ProcessKit
import Registry
import Settings

/// Looks after the settings: every value with its origin, and edits that keep the files' comments.
enum ConfigActions {
    static var all: [Action] { [show, get, set, unset, path, edit, validate, trust, untrust] }

    private static let keyCompletion = Completion.dynamic { _, host in
        host.catalogue.declarations.map { $0.key.joined(separator: ".") }
    }

    private static let show = Action(
        "config.show", "Show the settings that count", .reads,
        .argument("key", "Only this setting, or those below it", as: String?.self, completion: keyCompletion),
        .flag("origin", "Also where each value comes from"),
        .flag("all", "Also the settings that have their default")
    ) { context, key, origin, all in
        let prefix = try key.map { try SettingKey.check($0, context.host.catalogue, mayBeGroup: true) } ?? []
        let isOne = context.host.catalogue.declaration(of: prefix) != nil
        let rows = SettingRow.all(
            context.host, below: prefix, origin: origin || isOne, defaults: all || isOne, meaning: all || isOne)
        if rows.isEmpty { context.notice("nothing is set here, so every setting has its default; --all shows these") }
        return rows
    }
    .always()
    .details("With --all, or for one setting, also what it means.")
    .example("martlet config show --origin", "Which file or variable each value comes from")
    .example("martlet config show features.gateway", "What one setting means, its value and where that comes from")

    private static let get = Action(
        "config.get", "Print the value of one setting", .reads,
        .argument("key", "The setting, such as features.chat", as: String.self, completion: keyCompletion)
    ) { context, key in
        let path = try SettingKey.check(key, context.host.catalogue)
        return context.host.settings[path]?.value ?? context.host.catalogue.declaration(of: path)?.standard ?? .null
    }
    .always()
    .example("martlet config get features.chat", "Prints true or false")

    private static let set = Action(
        "config.set", "Set a value in your settings", .writes,
        .argument("key", "The setting, such as features.chat", as: String.self, completion: keyCompletion),
        .argument("value", "A word, or JSON for lists and objects", as: String.self),
        .flag("project", "In the project's settings and not in yours")
    ) { context, key, value, project in
        let host = context.host
        let path = try SettingKey.check(key, host.catalogue)
        guard let declaration = host.catalogue.declaration(of: path) else {
            throw HostError.unknownSetting(key: key, why: host.catalogue.unknown(path))
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
        if project, declaration.risk != .none {
            context.notice("\(key) is used only after 'martlet config trust', because it \(declaration.risk.words)")
        }
        return Written(file: file.path, key: key, value: json)
    }
    .byName()
    .always()
    .example("martlet config set features.gateway false", "Switch a feature off")

    private static let unset = Action(
        "config.unset", "Remove a value from your settings, so that the default counts", .writes,
        .argument("key", "The setting, or a group of settings", as: String.self, completion: keyCompletion),
        .flag("project", "From the project's settings and not from yours")
    ) { context, key, project in
        let file = try SettingsFile(context.host.locations, isProject: project)
        // A key that is not known any more must still be removable, so it is only looked for in the file.
        let path = SettingKey.split(key)
        let wasSet = try await file.edit { document throws(JSONError) in document.removing(path) }
        if !wasSet {
            let catalogue = context.host.catalogue
            guard catalogue.declaration(of: path) != nil || catalogue.isGroup(path) else {
                throw HostError.unknownSetting(
                    key: key, why: "nothing of that name is set in \(file.path); \(catalogue.unknown(path))")
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
        .flag("project", "The project's settings and not yours")
    ) { context, project in
        try await SettingsEditor.edit(context, isProject: project)
    }
    .always()
    .question("config.edit.invalid", "What to do about settings that are not valid, in the words of the question")

    private static let validate = Action("config.validate", "Check every settings file and variable", .reads) {
        context in
        let problems = context.host.settings.problems
        guard problems.isEmpty else { throw SettingsFailure(problems) }
        let rows = PathRow.all(context.host.locations).filter(\.exists)
        for absence in context.host.absences { context.notice(absence) }
        let files = rows.count == 1 ? "1 file" : "\(rows.count) files"
        context.notice(rows.isEmpty ? "no settings file, no problem" : "\(files), no problem")
        return rows
    }
    .always().instant()
    .details("Ends with 2 and names every problem with file, line and column when something is wrong.")

    private static let trust = Action(
        "config.trust", "Let a project's settings run, send and widen what they name", .writes,
        .argument("path", "The project's folder or settings file", as: OwnPath?.self, completion: .directories)
    ) { context, path in
        try await TrustActions.trust(context, path)
    }
    .byName()
    .always()
    .details(
        "A project's settings can name commands to run and servers to send to, so they are not used until you have "
            + "read them. Trust holds for the file at that path with exactly that content; a change needs your yes again."
    )
    .example("martlet config trust .", "Trust the project you are in")

    private static let untrust = Action(
        "config.untrust", "Take back the trust in a project's settings", .writes,
        .argument("path", "The project's folder or settings file", as: OwnPath?.self, completion: .directories)
    ) { context, path in
        try await TrustActions.untrust(context, path)
    }
    .byName()
    .always()
}

extension SettingRisk {
    /// The rest of a sentence that begins with the setting.
    fileprivate var words: String {
        switch self {
        case .none: "is harmless"
        case .runs: "names something to run"
        case .sends: "decides where something is sent"
        case .widens: "widens what is allowed"
        }
    }
}

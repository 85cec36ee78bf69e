import Capabilities
import JSON
import Settings

enum Units: String, Choice { case metric, imperial }

/// The settings that the features of these tests declare.
enum Demo {
    static let model = Setting("model", "The model to ask", default: "small")
    static let rounds = Setting("max-rounds", "At most so many rounds", default: 10)
    static let units = Setting("units", "Units of measure", default: Units.metric)
    static let patience = Setting("limits.patience", "How long to wait", default: Duration.seconds(30))
    static let stop = Setting("stop", "Words that end an answer", default: ["end"])
    static let rules = Setting("rules", "Rules that count together", default: [String]()).joiningLayers()
    static let headers = Setting("headers", "Headers by name", default: ["accept": "json"])
    static let note = Setting("note", "A note", default: String?.none)
    static let command = Setting("command", "What is run first", default: "true", risk: .runs)
    static let endpoint = Setting("endpoint", "Where questions go", default: "https://localhost", risk: .sends)
    static let allow = Setting("allow", "What tools may do", default: [String](), risk: .widens)
    static let retries = Setting("retries", "Attempts", default: 3)

    /// The features `chat` and `files.sftp`.
    static let catalogue: SettingsCatalogue = {
        var catalogue = SettingsCatalogue(features: ["chat", "files.sftp"])
        catalogue.add(
            [
                model.declaration, rounds.declaration, units.declaration, patience.declaration, stop.declaration,
                headers.declaration, note.declaration, command.declaration, endpoint.declaration, allow.declaration,
                rules.declaration,
            ], of: "chat")
        catalogue.add([retries.declaration], of: "files.sftp")
        catalogue.closeWithProfiles()
        return catalogue
    }()
}

/// All sources of settings, merged as a host merges them.
struct Sources {
    var system: String?
    var user: String?
    var project: String?
    var environment: [String: String] = [:]
    var flags: [String] = []
    var isTrusted = true

    func merged() throws -> Settings {
        var layers: [SettingsLayer] = []
        if let system {
            layers.append(try SettingsLayer(origin: .system(file: "system.json"), text: Array(system.utf8)))
        }
        if let user { layers.append(try SettingsLayer(origin: .user(file: "user.json"), text: Array(user.utf8))) }
        if let project {
            layers.append(try SettingsLayer(origin: .project(file: "project.json"), text: Array(project.utf8)))
        }
        let variables = SettingsVariables(environment: environment, catalogue: Demo.catalogue)
        var overrides = variables.layers
        for flag in flags { overrides.append(try SettingsFlags.layer(flag, catalogue: Demo.catalogue)) }
        return Settings(
            merging: layers, overrides: overrides, catalogue: Demo.catalogue, problems: variables.problems,
            unknownVariables: variables.unknown
        ) { _, _ in isTrusted }
    }
}

/// The problems of a user's settings file, as they are printed.
func problems(user: String) throws -> [String] {
    try Sources(user: user).merged().problems.map(\.description)
}

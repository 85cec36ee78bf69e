import Capabilities
import JSON
import Registry
import Screens
import Settings

/// The screen of one setting: what it is for, its value, where that comes from, and a form to change it.
enum SettingScreen {
    static let screen = Screen(
        "config.setting", "Setting", .detail,
        .argument(
            "key", "The setting, such as features.chat", as: String.self, completion: ConfigActions.keyCompletion)
    ) { screen, key in
        repeat {
            let host = screen.context.host
            let path = try host.catalogue.path(of: key)
            guard let declaration = host.catalogue.declaration(of: path) else {
                throw UnknownSetting(key: key, why: host.catalogue.unknown(path))
            }
            try await screen.show(ShownSetting(path, declaration, host).block)
        } while try await screen.changed()
    }
    .always()
}

/// A setting as the screen shows it.
private struct ShownSetting {
    private let key: [String]
    private let declaration: SettingDeclaration
    private let host: Host
    /// What each place gives it, the weakest first.
    private let layers: [Settings.Entry]
    private let origin: SettingsOrigin
    private let value: JSON

    init(_ key: [String], _ declaration: SettingDeclaration, _ host: Host) {
        (self.key, self.declaration, self.host) = (key, declaration, host)
        layers = host.settings.layers(of: key)
        let entry = host.settings[key]
        origin = entry?.origin ?? .builtIn
        value = entry?.value ?? declaration.defaultValue ?? .null
    }

    private var name: String { key.joined(separator: ".") }

    var block: Block {
        let parts = [
            Block(.text(RichText(declaration.summary)), id: "summary"),
            Block(.values(Values(facts)), id: "facts"),
        ]
        let notes = notes.enumerated().map { number, note in
            Block(.text(RichText(note.text, note.token)), id: "note-\(number)")
        }
        let places = places
        // With one place, the facts say all of it.
        let table =
            places.count < 3 && untrusted == nil
            ? [] : [Block(.table(Table(places, id: "place")), id: "places", title: "Set in")]
        return Block(.stack(Stack(parts + notes + form + table)), id: "setting", title: name, links: links)
    }

    // MARK: What it is

    private var facts: SettingFacts {
        SettingFacts(
            value: shown(value), origin: origin.place, type: declaration.schema.kind,
            defaultValue: shown(declaration.defaultValue ?? .null),
            // A variable has no name for a profile.
            variable: key.first == "profiles" ? nil : SettingsVariables.name(of: key),
            option: declaration.flag.map { "--\($0)" },
            trust: declaration.risk.reason.map { "needed for the value of a project, because it \($0)" })
    }

    /// What may be shown of a value.
    private func shown(_ value: JSON) -> JSON {
        isSecret && !value.isNull ? .string("‹redacted›") : host.redactor.kept(value)
    }

    /// Whether values of it are never shown.
    private var isSecret: Bool { declaration.schema.unwrapped == .secret }

    /// What each place says, the strongest first, down to the default.
    private var places: [SettingPlace] {
        var places = layers.reversed().enumerated().map { number, layer in
            SettingPlace(
                place: layer.origin.place, value: shown(layer.value),
                state: number == 0 ? "used" : declaration.isPutTogether ? "added" : "overridden")
        }
        if let untrusted { places.append(SettingPlace(place: untrusted, value: .null, state: "not trusted")) }
        let state = layers.isEmpty ? "used" : "overridden"
        places.append(
            SettingPlace(
                place: SettingsOrigin.builtIn.place, value: shown(declaration.defaultValue ?? .null), state: state))
        // Of options that are given twice, the last counts.
        var seen: Set<String> = []
        return places.filter { seen.insert($0.place).inserted }
    }

    /// The project's file, if it sets a value that is not used.
    private var untrusted: String? { host.settings.inert.first { $0.key == key }?.file }

    // MARK: What has to be known before it is changed

    private var notes: [(text: String, token: ThemeToken?)] {
        var notes: [(text: String, token: ThemeToken?)] = host.settings.problems
            .filter { !$0.key.isEmpty && $0.key.starts(with: key) }.map { ($0.description, .error) }
        if let stronger {
            notes.append((stronger, .warning))
        } else if declaration.isPutTogether {
            notes.append(("What several places set is put together.", .mutedForeground))
        }
        if untrusted != nil {
            notes.append(("The project's value is not used: 'config trust' trusts the project.", .warning))
        }
        if isSecret { notes.append(("A secret is never shown here. It is changed in the file.", .mutedForeground)) }
        return notes
    }

    /// Why a value in the person's file is not used; nil if it is.
    private var stronger: String? {
        let effect =
            declaration.isPutTogether
            ? "it takes precedence where both set the same." : "a change is used only when that is gone."
        switch origin {
        case .environment(let variable): return "$\(variable) sets it for this run; \(effect)"
        case .flag: return "The command line sets it for this run; \(effect)"
        case .profile(let profile):
            return "The profile \(profile), which is in use, sets it; change profiles.\(profile).\(name) instead."
        case .project: return "The project sets it, and takes precedence over your file."
        case .builtIn, .system, .user: return nil
        }
    }

    // MARK: Changing it

    private var form: [Block] {
        guard !isSecret else { return [] }
        var values: JSONObject = ["key": .string(name)]
        // A value with a secret in it would be written back without it.
        if let word = value.word, host.redactor.kept(value) == value { values["value"] = .string(word) }
        // It is changed where it comes from.
        if case .project = origin { values["project"] = true }
        return [
            Block(
                .form(Form("config.set", parameters: ["value", "project"], values: values, submit: "Change")),
                id: "form")
        ]
    }

    private var links: [Link] {
        var links: [Link] = []
        if case .profile(let profile) = origin {
            links.append(
                .screen(
                    "config.setting", "Change it in the profile", key: "p",
                    ["key": .value(.string("profiles.\(profile).\(name)"))]))
        }
        let own = layers.contains { if case .user = $0.origin { true } else { false } }
        let projects = layers.contains { if case .project = $0.origin { true } else { false } }
        if own { links.append(.action("config.unset", "Use the default", key: "d", ["key": .value(.string(name))])) }
        if projects || untrusted != nil {
            links.append(
                .action(
                    "config.unset", "Remove it from the project", key: "D",
                    ["key": .value(.string(name)), "project": .value(true)]))
        }
        let edits: [String: Link.Argument] = if case .project = origin { ["project": .value(true)] } else { [:] }
        links.append(.action("config.edit", "Edit the file", key: "E", edits))
        return links
    }
}

/// What there is to know about a setting.
private struct SettingFacts: Record {
    let value: JSON
    let origin: String
    let type: String
    let defaultValue: JSON
    let variable: String?
    let option: String?
    let trust: String?

    static let fields: [Field<SettingFacts>] = [
        Field("value", "Its value now") { $0.value },
        Field("origin", "Where the value comes from") { $0.origin },
        Field("type", "What it may be") { $0.type },
        Field("default", "Its value if nothing sets it") { $0.defaultValue },
        Field("variable", "The environment variable that sets it") { $0.variable },
        Field("option", "The option that sets it for one run") { $0.option },
        Field("trust", "Whether a project's value needs trust, and why") { $0.trust },
    ]
}

/// A place that sets a setting.
private struct SettingPlace: Record {
    let place: String
    let value: JSON
    let state: String

    static let fields: [Field<SettingPlace>] = [
        Field("place", "The place", .name) { $0.place },
        Field("value", "What it sets") { $0.value },
        Field("state", "used, added, overridden or not trusted", .state) { $0.state },
    ]
}

extension SettingsOrigin {
    /// The place, for a person who does not know the files.
    fileprivate var place: String {
        switch self {
        case .builtIn: "default"
        case .system(let file): "\(file) (this machine)"
        case .user(let file): "\(file) (yours)"
        case .project(let file): "\(file) (the project)"
        case .profile, .environment, .flag: words
        }
    }
}

extension Schema {
    /// What a person may enter.
    fileprivate var kind: String {
        switch self {
        case .optional(let inner): "\(inner.kind), or nothing"
        case .boolean: "true or false"
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        case .integer(let range): "a whole number\(Self.limits(range))"
        case .number(let range): "a number\(Self.limits(range))"
        case .string: "a text"
        case .path: "a path"
        case .url: "an address, such as https://example.com"
        case .host: "the name of a host"
        case .duration: "a duration, such as 1m30s"
        case .size(let range):
            range.map { "a size from \(ByteCount($0.lowerBound).words) to \(ByteCount($0.upperBound).words)" }
                ?? "a size, such as 64KiB"
        case .time: "a time"
        case .secret: "a secret"
        case .secretName: "the name of a secret"
        case .program: "a program"
        case .array(let element): "a list, each \(element.kind)"
        case .map(let element): "values by name, each \(element.kind)"
        case .any, .record: "JSON"
        }
    }

    private static func limits<Number: Comparable>(_ range: ClosedRange<Number>?) -> String {
        range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    }
}

extension JSON {
    /// The value as a word that `config set` takes; nil for none.
    fileprivate var word: String? { isNull ? nil : string ?? text() }
}

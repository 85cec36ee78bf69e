import Capabilities
import HostKit
import JSON
import Registry
import Settings
import TerminalKit

/// The options that every command has, with the values that were given.
struct CommonOptions: Sendable {
    var format: OutputFormat?
    var color = ColorChoice.auto
    var isQuiet = false
    var isVerbose = false
    var isAgreed = false
    var asksNobody = false
    var wantsHelp = false
    var wantsVersion = false
    var limit: Duration?
    var answers: String?
    var workbench = Workbench.Options()

    /// The declarations, for help, completion and documents.
    static let declarations: [ParameterDeclaration] = [
        ParameterDeclaration(
            .init("format", "Output format", OutputFormat.schema, defaultValue: "text"), form: .option),
        ParameterDeclaration(.init("json", "Short for --format json", .boolean), form: .flag),
        ParameterDeclaration(
            .init(
                "output-format", "Same as --format, for compatibility; also accepts stream-json",
                .choice(OutputFormat.words)), form: .option),
        ParameterDeclaration(
            .init("quiet", "Print no progress and no notices", .boolean), form: .flag, short: "q"),
        ParameterDeclaration(
            .init("verbose", "Also print what is done, and the cause of an error", .boolean), form: .flag, short: "v"),
        ParameterDeclaration(
            .init("color", "When to use colour", .choice(ColorChoice.allCases.map(\.rawValue)), defaultValue: "auto"),
            form: .option),
        ParameterDeclaration(.init("yes", "Answer yes to confirmations", .boolean), form: .flag, short: "y"),
        ParameterDeclaration(.init("no-input", "Never ask; fail if an answer is needed", .boolean), form: .flag),
        ParameterDeclaration(
            .init("answers", "JSON file with answers by question id; a command's help lists the ids", .path(.read)),
            form: .option),
        ParameterDeclaration(.init("timeout", "Stop the command after this time", .duration), form: .option),
        ParameterDeclaration(
            .init("only", "Use only these features, separated by commas", .string), form: .option,
            completion: .dynamic { _, host, _ in
                let on = host.composition.features.map { Completion.Candidate($0.manifest.id, $0.manifest.summary) }
                let off = host.composition.off.map { Completion.Candidate($0.id, $0.reason) }
                return (on + off).sorted { $0.word < $1.word }
            }),
        ParameterDeclaration(
            .init("set", "Override a setting for this run: key=value", .array(.string)), form: .option),
        ParameterDeclaration(
            .init("profile", "Use this profile for this run", .string), form: .option, completion: .profiles),
        ParameterDeclaration(.init("help", "Show help", .boolean), form: .flag, short: "h"),
        ParameterDeclaration(.init("version", "Show the version", .boolean), form: .flag),
    ]

    /// Removes the common options from the words, wherever they stand before `--`.
    ///
    /// - Parameters:
    ///   - settings: the options that set a setting.
    ///   - verbatim: the commands that get all words as they are after some words of their own.
    /// - Returns: the options, the remaining words including `--`, and all problems. The options apply even if there
    ///   are problems, because they determine how the failure is printed.
    static func take(
        from words: [String], settings: [SettingOption] = [], verbatim: VerbatimWords = VerbatimWords([])
    ) -> (options: CommonOptions, words: [String], failure: ArgumentsFailure?) {
        var options = CommonOptions()
        var rest: [String] = []
        var problems: [ValueError] = []
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if word == "--" {
                rest += words[(index - 1)...]
                break
            }
            guard let (declaration, attached) = Self.declaration(for: word, settings) else {
                if let letters = Self.flagLetters(word) {
                    for letter in letters { options.setFlag(letter.name, []) }
                } else {
                    rest.append(word)
                    if index < words.count, words[index] != "--", verbatim.begin(after: rest) {
                        rest += ["--"] + words[index...]
                        break
                    }
                }
                continue
            }
            if declaration.form == .flag {
                if attached != nil {
                    problems.append(ValueError("takes no value", at: ["--" + declaration.name]))
                } else {
                    options.setFlag(declaration.name, settings)
                }
                continue
            }
            var value = attached
            if value == nil, index < words.count, !words[index].hasPrefix("-") {
                value = words[index]
                index += 1
            }
            do throws(ValueError) {
                guard let value else { throw ValueError("needs a value: \(declaration.summary)") }
                try options.set(declaration, value, settings)
            } catch {
                problems.append(error.under("--" + declaration.name))
            }
        }
        return (options, rest, problems.isEmpty ? nil : ArgumentsFailure(action: "", problems: problems))
    }

    private static func declaration(
        for word: String, _ settings: [SettingOption]
    ) -> (ParameterDeclaration, attached: String?)? {
        guard word.hasPrefix("--") else { return nil }
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first,
            let found = declarations.first(where: { $0.name == name })
                ?? settings.first(where: { $0.declaration.name == name })?.declaration
        else { return nil }
        return (found, parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Matches letters such as `-qv`, if all of them are common flags. A word with any other letter belongs to the
    /// action.
    private static func flagLetters(_ word: String) -> [ParameterDeclaration]? {
        guard word.count > 1, word.hasPrefix("-") else { return nil }
        var found: [ParameterDeclaration] = []
        for letter in word.dropFirst() {
            guard let declaration = declarations.first(where: { $0.short == letter }) else { return nil }
            found.append(declaration)
        }
        return found
    }

    private mutating func setFlag(_ name: String, _ settings: [SettingOption]) {
        switch name {
        case "json": format = .json
        case "quiet": isQuiet = true
        case "verbose":
            isVerbose = true
            workbench.settings.append("log.console=debug")
        case "yes": isAgreed = true
        case "no-input": asksNobody = true
        case "help": wantsHelp = true
        case "version": wantsVersion = true
        default:
            for option in settings where option.declaration.name == name {
                workbench.settings.append("\(option.key)=true")
            }
        }
    }

    private mutating func set(
        _ declaration: ParameterDeclaration, _ word: String, _ settings: [SettingOption]
    ) throws(ValueError) {
        if declaration.name == "set" {
            workbench.settings.append(word)
            return
        }
        let json = try declaration.schema.json(fromWord: word)
        switch declaration.name {
        case "format", "output-format": format = OutputFormat(word: word)
        case "color": color = ColorChoice(rawValue: word) ?? .auto
        case "timeout": limit = try Duration(json: json)
        case "answers": answers = word
        case "profile": workbench.settings.append("profile=" + word)
        case "only": workbench.only = word.split(separator: ",").map(String.init)
        default:
            for option in settings where option.declaration.name == declaration.name {
                workbench.settings.append("\(option.key)=\(word)")
            }
        }
    }
}

/// An option of every command that sets a setting: `--cacert` for `auth.cacert`.
struct SettingOption: Sendable {
    let declaration: ParameterDeclaration
    /// The setting's whole key.
    let key: String

    init?(_ setting: SettingDeclaration, key: [String]) {
        guard let flag = setting.flag else { return nil }
        self.key = key.joined(separator: ".")
        let isSwitch = setting.schema.unwrapped == .boolean
        declaration = ParameterDeclaration(
            Schema.Property(flag, setting.summary, setting.schema), form: isSwitch ? .flag : .option)
    }

    /// Needs only the manifests: settings must be known before anything is composed.
    static func all(_ features: [BuiltInFeature]) -> [SettingOption] {
        features.compactMap { $0.type?.manifest }.flatMap { manifest in
            let prefix = manifest.id.split(separator: ".").map(String.init)
            return manifest.settings.compactMap { SettingOption($0, key: prefix + $0.key) }
        }
    }

    /// All options that every command has in this build.
    static func everyOption(_ host: Host) -> [ParameterDeclaration] {
        CommonOptions.declarations + all(host).map(\.declaration)
    }

    static func all(_ host: Host) -> [SettingOption] {
        host.catalogue.declarations.compactMap { SettingOption($0, key: $0.key) }
    }
}

import Capabilities
import HostKit
import JSON
import Registry
import Settings
import TerminalKit

/// The options that mean the same with every command, and what was given of them.
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

    /// Their declarations, for help, completion and documents.
    static let declarations: [ParameterDeclaration] = [
        ParameterDeclaration(
            name: "format", summary: "How the result is printed", form: .option, schema: OutputFormat.schema,
            standard: "text"),
        ParameterDeclaration(name: "json", summary: "Short for --format json", form: .flag, schema: .boolean),
        ParameterDeclaration(
            name: "output-format", summary: "The same as --format, as other programs call it; knows stream-json too",
            form: .option, schema: .choice(OutputFormat.words)),
        ParameterDeclaration(
            name: "quiet", summary: "Neither progress nor messages", form: .flag, short: "q", schema: .boolean),
        ParameterDeclaration(
            name: "verbose", summary: "Also what is behind an error, and how long it took", form: .flag, short: "v",
            schema: .boolean),
        ParameterDeclaration(
            name: "color", summary: "Colour on the output", form: .option,
            schema: .choice(ColorChoice.allCases.map(\.rawValue)), standard: "auto"),
        ParameterDeclaration(
            name: "yes", summary: "Agree beforehand to what destroys", form: .flag, short: "y", schema: .boolean),
        ParameterDeclaration(
            name: "no-input", summary: "Never ask; fail where an answer is needed", form: .flag, schema: .boolean),
        ParameterDeclaration(
            name: "answers",
            summary: "A JSON file with answers by question id, instead of asking; a command's help has the ids",
            form: .option,
            schema: .path(.read)),
        ParameterDeclaration(
            name: "timeout", summary: "End the command after so long", form: .option, schema: .duration),
        ParameterDeclaration(
            name: "only", summary: "Only these features, separated by commas", form: .option, schema: .string,
            completion: .dynamic { _, host in
                (host.composition.features.map(\.manifest.id) + host.composition.off.map(\.id)).sorted()
            }),
        ParameterDeclaration(
            name: "set", summary: "Use another value for a setting in this run: key=value", form: .option,
            schema: .array(.string)),
        ParameterDeclaration(
            name: "profile", summary: "Use this profile in this run", form: .option, schema: .string,
            completion: .dynamic { _, host in host.settings.profiles }),
        ParameterDeclaration(name: "help", summary: "Show help", form: .flag, short: "h", schema: .boolean),
        ParameterDeclaration(name: "version", summary: "Show the version", form: .flag, schema: .boolean),
    ]

    /// Takes the common options out of the words, wherever they stand before `--`.
    ///
    /// - Parameter settings: the options that stand for settings.
    /// - Returns: the options, the words that are left, with `--` kept, and everything that was wrong. The options
    ///   count even then, because they say how the failure is to be told.
    static func take(
        from words: [String], settings: [SettingOption] = []
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

    /// `-qv`: common flags only; a word with any other letter belongs to the action.
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
        case "verbose": isVerbose = true
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

/// An option that every command has because a feature's setting asks for it: `--cacert` for `auth.cacert`.
struct SettingOption: Sendable {
    let declaration: ParameterDeclaration
    /// The setting's whole key.
    let key: String

    init?(_ setting: SettingDeclaration, key: [String]) {
        guard let flag = setting.flag else { return nil }
        self.key = key.joined(separator: ".")
        let isSwitch = setting.schema.unwrapped == .boolean
        declaration = ParameterDeclaration(
            name: flag, summary: setting.summary, form: isSwitch ? .flag : .option, schema: setting.schema)
    }

    /// Known before anything is composed, because the settings decide about that.
    static func all(_ features: [BuiltInFeature]) -> [SettingOption] {
        features.compactMap { $0.type?.manifest }.flatMap { manifest in
            let prefix = manifest.id.split(separator: ".").map(String.init)
            return manifest.settings.compactMap { SettingOption($0, key: prefix + $0.key) }
        }
    }

    /// What every command takes in this build.
    static func everyOption(_ host: Host) -> [ParameterDeclaration] {
        CommonOptions.declarations + all(host).map(\.declaration)
    }

    static func all(_ host: Host) -> [SettingOption] {
        host.catalogue.declarations.compactMap { SettingOption($0, key: $0.key) }
    }
}

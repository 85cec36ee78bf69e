import Capabilities
import JSON
import Registry
import Settings
import TerminalKit

/// Help for the program, a group or an action, made from declarations alone.
struct HelpPage {
    let program: String
    let width: Int?

    /// - Parameter summaries: the summary of each feature, by the first word of its commands.
    func root(
        _ tree: CommandTree, summary: String, summaries: [String: String], options shared: [ParameterDeclaration]
    ) -> String {
        var lines = wrapped("\(program): \(summary)") + [""] + usage("\(program) <command> [arguments] [options]")
        lines += section(
            "Commands",
            tree.root.visible.map { node in
                let name = node.path.joined(separator: " ")
                return (name, node.action?.summary ?? self.summary(of: node, summaries))
            })
        let aliases = tree.aliases.sorted { $0.key < $1.key }
        lines += section("Shortcuts", aliases.map { ($0.key, "\($0.value.words): \($0.value.summary)") })
        lines += options("Options for every command", shared)
        lines += wrapped("'\(program) help <command>' shows more about a command.")
        return lines.joined(separator: "\n") + "\n"
    }

    /// - Parameter summaries: the summary of each group, by its words joined by dots.
    func group(_ node: CommandTree.Node, summaries: [String: String]) -> String {
        var lines = wrapped(summary(of: node, summaries)) + [""]
        lines += usage("\(program) \(node.path.joined(separator: " ")) <verb> [arguments] [options]")
        lines += section(
            "Verbs",
            node.visible.map { child in
                (child.path.last ?? "", child.action?.summary ?? summary(of: child, summaries))
            })
        if let action = node.defaultAction {
            let command = node.path.joined(separator: " ")
            lines += wrapped("Without a verb, runs '\(action.words)': \(action.summary)") + [""]
            lines += usage(Usage.line(action, program: "\(program) \(command)", words: [])) + declaration(of: action)
        }
        lines += wrapped(
            "'\(program) help \(node.path.joined(separator: " ")) <verb>' shows more about a verb.")
        return lines.joined(separator: "\n") + "\n"
    }

    func action(_ action: Action) -> String {
        var lines = wrapped(action.summary) + [""] + usage(Usage.line(action, program: program))
        lines += declaration(of: action)
        lines += wrapped("'\(program) help' lists the options of every command.")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Everything that the action declares, without the usage line.
    private func declaration(of action: Action) -> [String] {
        var lines: [String] = []
        if !action.details.isEmpty { lines += wrapped(action.details) + [""] }
        lines += section(
            "Arguments",
            action.parameters.filter { $0.form == .positional }.map { (Usage.place($0), Usage.summary($0)) })
        lines += options("Options", action.parameters.filter { $0.form != .positional })
        if !action.examples.isEmpty {
            lines.append("Examples:")
            for example in action.examples {
                // A command stays on one line, so that it can be copied.
                lines += ["  \(example.command)"] + wrapped(example.summary, indent: 6)
            }
            lines.append("")
        }
        lines += section(
            "Questions it may ask; --answers FILE provides answers as JSON, by these ids",
            action.questions.map { ($0.id, $0.summary) })
        if action.effect == .destroys, !action.isAgreedByCall {
            lines += wrapped("Asks for confirmation first; --yes skips the question.") + [""]
        } else if let flag = action.destroyingFlag {
            lines += wrapped("With --\(flag), asks for confirmation first; --yes skips the question.") + [""]
        }
        return lines
    }

    // MARK: Settings

    /// All settings with their defaults, or those below a key. A profile has no settings that could be listed, as the user
    /// chooses its name.
    func settings(_ declarations: [SettingDeclaration], below key: [String]) -> String {
        let place = key.isEmpty ? "of this build" : "below \(key.joined(separator: "."))"
        var lines = wrapped("The settings \(place), with their defaults") + [""]
        lines += usage("\(program) config set <key> <value> [--project]")
        if declarations.isEmpty {
            lines +=
                wrapped(
                    "You choose the names of profiles. A profile has a server, its kind, and any other setting, such as "
                        + "profiles.lab.server and profiles.lab.chat.model; '\(program) config set profile lab' uses it."
                ) + [""]
        }
        var rest = declarations[...]
        while let first = rest.first?.key.first {
            let group = rest.prefix { $0.key.first == first }
            rest = rest.dropFirst(group.count)
            lines += section(
                first,
                group.map { setting in
                    ("\(setting.name) <\(Usage.kind(setting.schema))>", setting.summary + setting.property.defaultNote)
                })
        }
        lines += wrapped(
            "'\(program) help settings <key>' explains one setting, and '\(program) config show' lists those that are set."
        )
        return lines.joined(separator: "\n") + "\n"
    }

    /// One setting: what it is for, what it may be, and how to set it.
    ///
    /// - Parameters:
    ///   - key: where it is; a profile has another place for a setting than its declaration.
    ///   - untrusted: the project's file that also sets it and is not trusted.
    func setting(
        _ key: [String], _ declaration: SettingDeclaration, value: String, origin: String, untrusted: String? = nil
    ) -> String {
        let (name, kind) = (key.joined(separator: "."), Usage.kind(declaration.schema))
        var lines = wrapped("\(name): \(declaration.summary)") + [""]
        var facts = [
            ("Value", kind), ("Default", declaration.property.defaultText ?? "none"), ("Now", "\(value) (\(origin))"),
        ]
        if let untrusted {
            facts.append(("Not used", "\(PlainText.escape(untrusted)) sets it, but is not trusted"))
        }
        var ways = [
            ("\(program) config set \(name) <\(kind)>", "For you; --project sets it for the project"),
            ("\(program) … --set \(name)=<\(kind)>", "For one command"),
        ]
        // In a profile it has neither a variable nor an option.
        if key == declaration.key {
            let variable = SettingsVariables.name(of: key)
            facts.append(("Variable", variable))
            if let flag = declaration.flag { facts.append(("Option", "--\(flag), for every command")) }
            ways.append(
                ("\(variable)=<\(kind)> \(program) …", "For one command; exported, for every command of that shell"))
        }
        if declaration.joinsLayers { facts.append(("Files", "each settings file adds to the list")) }
        if let reason = declaration.risk.reason {
            facts.append(
                ("Trust", "a project's value is used only after '\(program) config trust', because it \(reason)"))
        }
        lines += section("Facts", facts) + section("Set it", ways)
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    // MARK: Layout

    /// The line width. Output to something other than a terminal is still read by people.
    private var columns: Int { max(20, width ?? 100) }

    private func usage(_ line: String) -> [String] {
        wrapped("Usage: \(line)", hanging: 7) + [""]
    }

    private func summary(of node: CommandTree.Node, _ summaries: [String: String]) -> String {
        summaries[node.path.joined(separator: ".")] ?? node.visible.compactMap(\.path.last).joined(separator: ", ")
    }

    private func options(_ title: String, _ parameters: [ParameterDeclaration]) -> [String] {
        section(title, parameters.map { (Usage.option($0), Usage.summary($0)) })
    }

    /// Two columns. If a name is too long for the first column, its text begins on the next line.
    private func section(_ title: String, _ rows: [(String, String)]) -> [String] {
        if rows.isEmpty { return [] }
        let column = min(30, columns * 2 / 5, (rows.map { TextWidth.of($0.0) }.max() ?? 0) + 2)
        var lines = wrapped("\(title):")
        for (name, text) in rows {
            let texts = wrapped(text, indent: column + 2)
            if TextWidth.of(name) + 2 > column {
                lines += wrapped(name, indent: 2, hanging: 6) + texts
            } else {
                lines.append("  " + TextWidth.pad(name, to: column) + (texts.first?.dropFirst(column + 2) ?? ""))
                lines += texts.dropFirst()
            }
        }
        return lines + [""]
    }

    /// Wraps a text; lines after the first have the hanging indent.
    private func wrapped(_ text: String, indent: Int = 0, hanging: Int = 0) -> [String] {
        let first = String(repeating: " ", count: indent)
        let next = String(repeating: " ", count: indent + hanging)
        return TextWidth.wrap(text, to: max(10, columns - indent - hanging)).enumerated().map { number, line in
            (number == 0 ? first : next) + line
        }
    }
}

extension Schema.Property {
    /// The default as a person would type it; nil where there is none.
    fileprivate var defaultText: String? {
        guard let defaultValue, !defaultValue.isNull, defaultValue.array?.isEmpty != true,
            defaultValue.object?.isEmpty != true
        else { return nil }
        return defaultValue.string ?? defaultValue.text()
    }

    fileprivate var defaultNote: String { defaultText.map { " [default: \($0)]" } ?? "" }
}

/// The short forms in which parameters are shown: `<city>`, `[hosts]…`, `--units <metric|imperial>`.
enum Usage {
    /// `martlet config set <key> <value> [--project]`.
    ///
    /// - Parameter words: replaces the words of the action, for the default action of a group.
    static func line(_ action: Action, program: String, words other: [String]? = nil) -> String {
        var words = [program] + (other ?? action.alias.map { [$0] } ?? action.id.split(separator: ".").map(String.init))
        words += action.parameters.filter { $0.form == .positional }.map(place)
        let options = action.parameters.filter { $0.form != .positional }
        words += options.filter { $0.isRequired && $0.form == .option }.map { "--\($0.name) \(placeholder($0))" }
        if options.contains(where: { !$0.isRequired || $0.form == .secret }) { words.append("[options]") }
        return words.joined(separator: " ")
    }

    static func place(_ parameter: ParameterDeclaration) -> String {
        let name = parameter.isRequired ? "<\(parameter.name)>" : "[\(parameter.name)]"
        return parameter.isRepeated ? name + "…" : name
    }

    /// `-u, --units <metric|imperial>`.
    static func option(_ parameter: ParameterDeclaration) -> String {
        let letter = parameter.short.map { "-\($0), " } ?? "    "
        switch parameter.form {
        case .flag where parameter.defaultValue == .bool(true): return letter + "--no-\(parameter.name)"
        case .flag: return letter + "--\(parameter.name)"
        case .secret: return letter + "--\(parameter.name)-stdin|-env <name>|-fd <n>"
        case .option, .positional: return letter + "--\(parameter.name) \(placeholder(parameter))"
        }
    }

    static func placeholder(_ parameter: ParameterDeclaration) -> String {
        let isMap = if case .map = parameter.schema.unwrapped { true } else { false }
        return "<\(kind(parameter.schema))>" + (parameter.isRepeated || isMap ? "…" : "")
    }

    /// The summary with the possible choices and the default.
    static func summary(_ parameter: ParameterDeclaration) -> String {
        var text = parameter.summary
        if parameter.form == .positional,
            case .choice(let names) = (parameter.schema.element ?? parameter.schema).unwrapped
        {
            text += " (\(names.joined(separator: ", ")))"
        }
        return parameter.form == .flag ? text : text + parameter.property.defaultNote
    }

    static func kind(_ schema: Schema) -> String {
        switch (schema.element ?? schema).unwrapped {
        case .choice(let names): names.joined(separator: "|")
        case .integer(let range?) where range.upperBound == .max: "number from \(range.lowerBound)"
        case .integer(let range?): "\(range.lowerBound)…\(range.upperBound)"
        case .number(let range?): "\(range.lowerBound)…\(range.upperBound)"
        case .integer, .number: "number"
        case .path: "path"
        case .url: "url"
        case .host: "host"
        case .secretName: "name"
        case .program: "program"
        case .duration: "duration"
        case .size: "size"
        case .time: "2h|yesterday|date"
        case .boolean: "true|false"
        case .map: "name=value"
        case .any, .record: "json"
        default: "text"
        }
    }
}

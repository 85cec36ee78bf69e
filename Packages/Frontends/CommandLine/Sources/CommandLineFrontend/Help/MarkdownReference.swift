import Capabilities
import JSON
import Registry
import Settings

/// The reference of all commands and settings as Markdown.
enum MarkdownReference {
    static func text(_ host: Host) -> String {
        var lines = ["# Reference of \(host.name) \(host.version)", ""]
        lines += [
            "Made from the declarations of the actions; the same facts as `\(host.name) help`.", "", "## Commands", "",
        ]
        for action in host.registry.actions.all.sorted(by: { $0.id < $1.id }) where !action.isHidden {
            lines += self.action(action, program: host.name)
        }
        lines += ["## Options of every command", ""] + options(SettingOption.everyOption(host))
        lines += settings(host) + screens(host.registry.screens)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func screens(_ index: ScreenIndex) -> [String] {
        if index.all.isEmpty { return [] }
        var lines = ["", "## Screens", "", "| Screen | Title | Where | Arguments |", "|---|---|---|---|"]
        for screen in index.all.sorted(by: { $0.id < $1.id }) {
            let arguments = screen.parameters.map { "`\($0.form == .positional ? "" : "--")\($0.name)`" }
            lines.append(
                "| `\(screen.id)` | \(cell(screen.title)) | \(screen.placement.words) | \(arguments.joined(separator: " ")) |"
            )
        }
        return lines
    }

    private static func action(_ action: Action, program: String) -> [String] {
        let destroying = action.destroyingFlag.map { "; with --\($0): destroys" } ?? ""
        let effect = action.effect.rawValue + (action.sends ? ", sends" : "") + destroying
        var lines = ["### \(action.words)", "", "\(action.summary). Effect: \(effect).", ""]
        lines += ["```", Usage.line(action, program: program), "```", ""]
        if !action.details.isEmpty { lines += [action.details, ""] }
        lines += options(action.parameters)
        if !action.questions.isEmpty {
            lines += ["| Question | Answer |", "|---|---|"]
            lines += action.questions.map { "| `\($0.id)` | \(cell($0.summary)) |" } + [""]
        }
        for example in action.examples { lines += ["\(example.summary):", "", "```", example.command, "```", ""] }
        if case .record(let properties) = (action.result.element ?? action.result).unwrapped, !properties.isEmpty {
            lines += [
                action.result.element == nil ? "Result:" : "Result, a list of:", "", "| Member | Meaning |",
                "|---|---|",
            ]
            lines += properties.map { "| `\($0.name)` | \(cell($0.summary)) |" } + [""]
        }
        if let events = action.events {
            lines += ["Events:", "", "| Event | Member | Meaning |", "|---|---|---|"]
            for event in events {
                lines.append("| `\(event.type)` | | \(cell(event.summary)) |")
                lines += event.members.map { "| | `\($0.name)` | \(cell($0.summary)) |" }
            }
            lines.append("")
        }
        return lines
    }

    private static func options(_ parameters: [ParameterDeclaration]) -> [String] {
        if parameters.isEmpty { return [] }
        var lines = ["| Parameter | Meaning |", "|---|---|"]
        for parameter in parameters {
            let form = parameter.form == .positional ? Usage.place(parameter) : Usage.option(parameter)
            lines.append("| `\(cell(form.trimmed))` | \(cell(Usage.summary(parameter))) |")
        }
        return lines + [""]
    }

    private static func settings(_ host: Host) -> [String] {
        var lines = ["## Settings", "", "| Key | Variable | Default | Meaning |", "|---|---|---|---|"]
        for setting in host.catalogue.declarations {
            let defaultValue = setting.defaultValue.map { $0.isNull ? "" : "`\(cell($0.text()))`" } ?? ""
            let variable = SettingsVariables.name(of: setting.key)
            lines.append("| `\(setting.name)` | `\(variable)` | \(defaultValue) | \(cell(setting.summary)) |")
        }
        return lines
    }

    private static func cell(_ text: String) -> String {
        String(text.flatMap { $0 == "|" ? ["\\", "|"] : [$0] })
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}

import Capabilities
import Registry
import Settings

/// The manual page, in the man macros that every `man` understands.
enum ManPage {
    static func text(_ host: Host, summary: String) -> String {
        let name = host.name
        var lines = [".TH \(name.uppercased()) 1 \"\" \"\(name) \(host.version)\" \"User Commands\""]
        lines += [
            ".SH NAME", "\(name) \\- \(escaped(summary))", ".SH SYNOPSIS", ".B \(name)",
            "<command> [arguments] [options]",
        ]
        lines.append(".SH COMMANDS")
        for action in host.registry.actions.all.sorted(by: { $0.id < $1.id }) where !action.isHidden {
            lines += [".SS \(escaped(Usage.line(action, program: name)))", escaped(action.summary + ".")]
            if !action.details.isEmpty { lines += [".PP", escaped(action.details)] }
            lines += entries(action.parameters)
            lines += action.examples.flatMap(entry(of:))
            for question in action.questions {
                lines += [".TP", ".B \(escaped("--answers " + question.id))", escaped(question.summary)]
            }
        }
        lines += [".SH OPTIONS"] + entries(SettingOption.everyOption(host))
        lines += [".SH EXAMPLES"]
        for action in host.registry.actions.all.sorted(by: { $0.id < $1.id }) {
            if action.isDefault || action.alias != nil { lines += action.examples.prefix(2).flatMap(entry(of:)) }
        }
        lines += [".SH FILES"] + terms(files(name))
        lines += [".SH ENVIRONMENT"] + terms(variables(host))
        lines += [".SH EXIT STATUS"] + terms(exitCodes.map { (String($0), $1) })
        return lines.joined(separator: "\n") + "\n"
    }

    /// The codes of `ExitCode` in words.
    static let exitCodes: [(Int32, String)] = [
        (ExitCode.done.rawValue, "Success"),
        (ExitCode.failed.rawValue, "Failed for a reason that no other code covers"),
        (ExitCode.usage.rawValue, "Invalid usage, settings or bundle"),
        (ExitCode.denied.rawValue, "A credential or trust is missing or was refused"),
        (ExitCode.unreachable.rawValue, "Not reached: name lookup, connection, transport or timeout"),
        (ExitCode.toolFailed.rawValue, "A tool or remote command failed"),
        (ExitCode.unanswered.rawValue, "An answer was needed, but nobody was there to give it"),
        (ExitCode.interrupted.rawValue, "Interrupted"),
        (ExitCode.terminated.rawValue, "Terminated"),
    ]

    private static func files(_ name: String) -> [(String, String)] {
        [
            ("~/.config/\(name)/config.json", "Your settings (or in $XDG_CONFIG_HOME)"),
            (
                ".martlet/config.json",
                "Settings of a project, in its folder; some take effect only after '\(name) config trust'"
            ),
            ("~/.local/share/\(name)/", "Stored data (or in $XDG_DATA_HOME); '\(name) data list' names each store"),
            ("~/.local/state/\(name)/", "Logs, locks, trust records (or in $XDG_STATE_HOME)"),
            ("~/.cache/\(name)/", "Data that can be fetched again (or in $XDG_CACHE_HOME)"),
        ]
    }

    private static func variables(_ host: Host) -> [(String, String)] {
        let setting = SettingsVariables.name(of: ["KEY"])
        return host.catalogue.variables.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + [
            (setting, "A setting: its key in capitals, with _ for . and -; '\(host.name) help settings' lists them")
        ]
    }

    private static func terms(_ rows: [(String, String)]) -> [String] {
        rows.flatMap { [".TP", ".B \(escaped($0))", escaped($1)] }
    }

    private static func entry(of example: Action.Example) -> [String] {
        [".TP", ".B \(escaped(example.command))", escaped(example.summary)]
    }

    private static func entries(_ parameters: [ParameterDeclaration]) -> [String] {
        parameters.flatMap { parameter in
            let form = parameter.form == .positional ? Usage.place(parameter) : Usage.option(parameter)
            return [".TP", ".B \(escaped(form))", escaped(Usage.summary(parameter))]
        }
    }

    /// A hyphen is a minus on a manual page, and a line must not begin with a control character.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
    }
}

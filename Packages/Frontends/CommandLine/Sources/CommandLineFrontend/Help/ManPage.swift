import Capabilities
import Registry

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
        for action in host.composition.registry.actions.all.sorted(by: { $0.id < $1.id }) where !action.isHidden {
            lines += [".SS \(escaped(Usage.line(action, program: name)))", escaped(action.summary + ".")]
            if !action.details.isEmpty { lines += [".PP", escaped(action.details)] }
            lines += entries(action.parameters)
            for question in action.questions {
                lines += [".TP", ".B \(escaped("--answers " + question.id))", escaped(question.summary)]
            }
        }
        lines += [".SH OPTIONS"] + entries(SettingOption.everyOption(host))
        lines += [".SH EXIT STATUS"]
        for (code, meaning) in exitCodes { lines += [".TP", ".B \(code)", escaped(meaning)] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The codes of `ExitCode` in words.
    static let exitCodes: [(Int32, String)] = [
        (ExitCode.done.rawValue, "Done"),
        (ExitCode.failed.rawValue, "Failed in a way that no other code names"),
        (ExitCode.usage.rawValue, "Wrong usage, settings or bundle"),
        (ExitCode.denied.rawValue, "A credential or trust is missing or was refused"),
        (ExitCode.unreachable.rawValue, "Not reached: name, connection, transport or time-out"),
        (ExitCode.toolFailed.rawValue, "The tool or remote command that was run failed"),
        (ExitCode.unanswered.rawValue, "An answer was needed and nobody was there to give it"),
        (ExitCode.interrupted.rawValue, "Interrupted"),
        (ExitCode.terminated.rawValue, "Terminated"),
    ]

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

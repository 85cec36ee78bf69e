import Capabilities
import Registry
import TerminalKit

/// Help for the program, a group or an action, made from declarations alone.
struct HelpPage {
    let program: String
    let width: Int?

    /// - Parameter summaries: what each feature is for, by the first word of its commands.
    func root(_ tree: CommandTree, summary: String, summaries: [String: String]) -> String {
        var lines = ["\(program): \(summary)", "", "Usage: \(program) <command> [arguments] [options]", ""]
        lines += section(
            "Commands",
            tree.root.visible.map { node in
                let name = node.path.joined(separator: " ")
                return (name, node.action?.summary ?? summaries[name] ?? verbs(node))
            })
        let aliases = tree.aliases.sorted { $0.key < $1.key }
        lines += section("Shortcuts", aliases.map { ($0.key, "\($0.value.words): \($0.value.summary)") })
        lines += options("Options for every command", CommonOptions.declarations)
        lines.append("'\(program) help <command>' shows more about a command.")
        return lines.joined(separator: "\n") + "\n"
    }

    func group(_ node: CommandTree.Node, summary: String?) -> String {
        var lines = [summary ?? verbs(node), "", "Usage: \(program) \(node.path.joined(separator: " ")) <verb> [arguments] [options]", ""]
        lines += section(
            "Verbs", node.visible.map { ($0.path.last ?? "", ($0.action ?? $0.standard)?.summary ?? verbs($0)) })
        if let standard = node.standard { lines.append("Without a verb: \(standard.words)") }
        return lines.joined(separator: "\n") + "\n"
    }

    func action(_ action: Action) -> String {
        var lines = [action.summary, "", "Usage: \(Usage.line(action, program: program))", ""]
        if !action.details.isEmpty { lines += wrapped(action.details, indent: 0) + [""] }
        lines += section(
            "Arguments", action.parameters.filter { $0.form == .positional }.map { (Usage.place($0), Usage.summary($0)) })
        lines += options("Options", action.parameters.filter { $0.form != .positional })
        if !action.examples.isEmpty {
            lines.append("Examples:")
            for example in action.examples { lines += ["  \(example.command)", "      \(example.summary)"] }
            lines.append("")
        }
        if action.effect == .destroys { lines += ["It asks before it does anything; --yes agrees beforehand.", ""] }
        lines.append("'\(program) help' lists the options that every command has.")
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Layout

    private func verbs(_ node: CommandTree.Node) -> String {
        node.visible.compactMap(\.path.last).joined(separator: ", ")
    }

    private func options(_ title: String, _ parameters: [ParameterDeclaration]) -> [String] {
        section(title, parameters.map { (Usage.option($0), Usage.summary($0)) })
    }

    /// Two columns; a name that is too long for the first has its text on the next line.
    private func section(_ title: String, _ rows: [(String, String)]) -> [String] {
        if rows.isEmpty { return [] }
        let column = min(30, (rows.map { TextWidth.of($0.0) }.max() ?? 0) + 2)
        var lines = ["\(title):"]
        for (name, text) in rows {
            let texts = wrapped(text, indent: column + 2)
            if TextWidth.of(name) + 2 > column {
                lines.append("  \(name)")
                lines += texts
            } else {
                lines.append("  " + TextWidth.pad(name, to: column) + (texts.first?.dropFirst(column + 2) ?? ""))
                lines += texts.dropFirst()
            }
        }
        return lines + [""]
    }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        let room = max(20, (width ?? 100) - indent)
        return TextWidth.wrap(text, to: room).map { String(repeating: " ", count: indent) + $0 }
    }
}

import Bundles
import Capabilities
import TerminalKit

/// A plan as a person reads it.
enum PlanText {
    static func text(_ plan: Plan, _ bundle: Bundle) -> String {
        var table = Table(["STEP", "DOES", "EFFECT", "RUNS", "NEEDS", "IF"].map { TableColumn($0) })
        for step in plan.steps {
            table.append([
                StyledText(step.id), StyledText(step.work), StyledText(Self.effect(of: step)),
                StyledText(step.runs.map(String.init) ?? "?"), StyledText(step.needs.joined(separator: ", ")),
                StyledText(step.condition ?? (step.isLast ? "always" : "")),
            ])
        }
        return "\(bundle.name)\n" + table.lines(width: nil).map { $0.plainText + "\n" }.joined()
    }

    private static func effect(of step: PlannedStep) -> String {
        [step.effect?.rawValue, step.sends ? "sends" : nil].compactMap(\.self).joined(separator: ", ")
    }

    /// What it can reach, a line each.
    static func text(_ reachable: Reachable) -> String {
        func list(_ words: [String]) -> String {
            words.isEmpty ? "none" : words.map { PlainText.escape($0) }.joined(separator: ", ")
        }
        let effects =
            switch reachable.effects {
            case .reads: "what reads"
            case .writes: "what reads and writes"
            case .destroys: "what reads, writes and destroys"
            }
        let actions = reachable.actions.isEmpty ? "" : ", and \(list(reachable.actions))"
        let limits = [
            reachable.calls.map { "\($0) actions and tool calls" }, reachable.time.map { "begun within \($0.words)" },
        ].compactMap(\.self).joined(separator: ", ")
        var table = Table([TableColumn(""), TableColumn("")], showsHeader: false)
        for (name, words) in [
            ("it may do", effects + actions), ("servers", list(reachable.servers)),
            ("files beneath", list(reachable.folders)), ("secrets", list(reachable.secrets)),
            ("variables", list(reachable.variables)), ("programs", list(reachable.programs)),
            ("tools unasked", list(reachable.tools)), ("at most", limits.isEmpty ? "no limit" : limits),
        ] {
            table.append([StyledText(name), StyledText(words)])
        }
        return table.lines(width: nil).map { $0.plainText + "\n" }.joined()
    }
}

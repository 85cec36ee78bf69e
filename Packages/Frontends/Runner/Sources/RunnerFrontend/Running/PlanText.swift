import Bundles
import Capabilities
import TerminalKit

/// A plan as a person reads it.
enum PlanText {
    static func text(_ plan: Plan, _ bundle: Bundle) -> String {
        var table = Table(["STEP", "DOES", "EFFECT", "RUNS", "NEEDS", "IF"].map { TableColumn($0) })
        for step in plan.steps {
            table.append([
                StyledText(step.id), StyledText(step.work), StyledText(step.effect?.rawValue ?? ""),
                StyledText(step.runs.map(String.init) ?? "?"), StyledText(step.needs.joined(separator: ", ")),
                StyledText(step.condition ?? (step.isLast ? "always" : "")),
            ])
        }
        return "\(bundle.name)\n" + table.lines(width: nil).map { $0.plainText + "\n" }.joined()
    }
}

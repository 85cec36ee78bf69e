public import Capabilities
import Expressions
import JSON

/// What a bundle would do, for a person to look at before.
public struct Plan: Sendable {
    public var steps: [PlannedStep] = []

    public init(of bundle: Bundle, in surroundings: any BundleSurroundings) {
        for step in bundle.allSteps {
            var planned = PlannedStep(id: step.id, work: step.work.name)
            planned.needs = step.needs
            planned.condition = step.condition.map { $0.text.trimmedForPlan }
            if case .action(let name) = step.work { planned.effect = surroundings.action(name)?.effect }
            switch step.spread {
            case .matrix(let matrix)?:
                // Lists that are known only later have no number yet.
                do throws(MatrixError) { planned.runs = try matrix.combinations(in: Scope()).count } catch {
                    planned.runs = nil
                }
            case .foreach(let list)?: planned.runs = list.constant?.array?.count
            case nil: planned.runs = 1
            }
            planned.isLast = step.path[0] == "finally"
            steps.append(planned)
        }
    }
}

/// A step as a plan shows it.
public struct PlannedStep: Record {
    public var id: String
    public var work: String
    public var effect: Effect?
    public var needs: [String] = []
    public var condition: String?
    /// How often it runs; nil where only the run itself tells.
    public var runs: Int?
    /// Whether it belongs to the end.
    public var isLast = false

    public static let fields: [Field<PlannedStep>] = [
        Field("id", "The step", .name) { $0.id },
        Field("does", "The action or the bundle") { $0.work },
        Field("effect", "What it changes") { $0.effect },
        Field("needs", "What has to be over before") { $0.needs },
        Field("if", "When it runs") { $0.condition },
        Field("runs", "How often it runs, where that is known") { $0.runs },
        Field("finally", "Whether it runs in the end in any case", .detail) { $0.isLast },
    ]
}

extension String {
    fileprivate var trimmedForPlan: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

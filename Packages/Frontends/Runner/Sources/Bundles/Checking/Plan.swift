public import Capabilities
import Expressions
public import JSON

/// What a bundle would do, for a person to look at before.
public struct Plan: Sendable {
    public var steps: [PlannedStep] = []

    /// - Parameter inputs: the value of every input, as far as they are known.
    public init(of bundle: Bundle, inputs: JSONObject = [:], in surroundings: any BundleSurroundings) {
        let known: Set<String> = ["inputs", "bundle"]
        let scope = Scope([
            "inputs": .object(inputs),
            "bundle": ["name": .string(bundle.name), "folder": .string(bundle.source.folder)],
        ])
        for step in bundle.allSteps {
            var planned = PlannedStep(id: step.id, work: step.work.name)
            planned.needs = step.needs
            planned.condition = step.condition.map { $0.text.trimmedForPlan }
            if case .action(let name) = step.work, let action = surroundings.action(name) {
                (planned.effect, planned.sends) = (action.effect(of: step), action.sends)
            }
            // Lists that are known only later have no number yet.
            switch step.spread {
            case .matrix(let matrix)?
            where (matrix.axes.map(\.values) + matrix.include + matrix.exclude).allSatisfy { $0.needs(only: known) }:
                do throws(MatrixError) { planned.runs = try matrix.combinations(in: scope).count } catch {
                    planned.runs = nil
                }
            case .foreach(let list)? where list.needs(only: known):
                do throws(JSONTemplate.Problem) { planned.runs = try list.value(in: scope).array?.count } catch {
                    planned.runs = nil
                }
            case .matrix?, .foreach?: planned.runs = nil
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
    /// Whether it leaves this machine, or costs something.
    public var sends = false
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
        Field("sends", "Whether it leaves this machine, or costs something") { $0.sends },
        Field("needs", "What has to be over before") { $0.needs },
        Field("if", "When it runs") { $0.condition },
        Field("runs", "How often it runs, where that is known") { $0.runs },
        Field("finally", "Whether it runs in the end in any case", .detail) { $0.isLast },
    ]
}

extension JSONTemplate {
    /// Whether nothing else is needed for its value than what these names stand for.
    fileprivate func needs(only names: Set<String>) -> Bool {
        expressions.allSatisfy { $0.expression.references.allSatisfy { names.contains($0.path[0]) } }
    }
}

extension String {
    fileprivate var trimmedForPlan: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

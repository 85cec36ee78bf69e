public import Capabilities
import ExpressionKit
public import JSON

/// What a bundle would do, for review before it runs.
public struct Plan: Sendable {
    /// The steps in the order of the file, the `finally` steps last.
    public var steps: [PlannedStep] = []

    /// - Parameter inputs: the known values of the inputs.
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
            // The length of a list may be known only during the run.
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

/// A step in a plan.
public struct PlannedStep: Record {
    /// The step's id.
    public var id: String
    /// The action or the bundle that it runs, as the file names it.
    public var work: String
    /// The effect of the action; nil for a bundle or an unknown action.
    public var effect: Effect?
    /// Whether it sends data to other machines or costs money.
    public var sends = false
    /// The ids of the steps that must end first.
    public var needs: [String] = []
    /// The condition on one line; nil if it has none.
    public var condition: String?
    /// The number of runs; nil if only the run itself can tell.
    public var runs: Int?
    /// Whether it is a `finally` step.
    public var isLast = false

    public static let fields: [Field<PlannedStep>] = [
        Field("id", "The step", .name) { $0.id },
        Field("does", "The action or the bundle") { $0.work },
        Field("effect", "Effect of the action") { $0.effect },
        Field("sends", "Whether it sends data to other machines or costs money") { $0.sends },
        Field("needs", "Steps that must end first") { $0.needs },
        Field("if", "Condition") { $0.condition },
        Field("runs", "Number of runs, if known") { $0.runs },
        Field("finally", "Whether it always runs at the end", .detail) { $0.isLast },
    ]
}

extension JSONTemplate {
    /// Whether its value depends only on these names.
    fileprivate func needs(only names: Set<String>) -> Bool {
        expressions.allSatisfy { $0.expression.references.allSatisfy { names.contains($0.path[0]) } }
    }
}

extension String {
    fileprivate var trimmedForPlan: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// What a bundle can reach, for review before it runs. Bundles that it runs reach no more, because their rights are
/// limited by its rights.
public struct Reachable: Record {
    /// The strongest effect that an action may have.
    public let effects: Effect
    /// Actions that are allowed whatever their effect.
    public let actions: [String]
    /// The servers that may be contacted, in the form of a grant.
    public let servers: [String]
    /// Folders whose files may be opened.
    public let folders: [String]
    /// The secrets that may be read, with `*`.
    public let secrets: [String]
    /// Environment variables that the bundle reads.
    public let variables: [String]
    /// Programs that may run in a sandbox.
    public let programs: [String]
    /// Tools that models may use without asking.
    public let tools: [String]
    /// The maximum number of actions and tool calls; nil for no limit.
    public let calls: Int?
    /// How long after the beginning new actions may start; nil for no limit.
    public let time: Duration?

    /// - Parameter reach: the folders and servers that defaults stand for. A folder that cannot be opened is left out.
    public init(of bundle: Bundle, in reach: BundleReach) {
        let permissions = bundle.permissions
        (effects, actions, tools) = (permissions.effects, permissions.actions, permissions.tools)
        (calls, time) = (permissions.calls, permissions.time)
        (secrets, programs) = (permissions.secrets, permissions.programs)
        variables = bundle.environment.compactMap(\.value.variable).sorted()
        servers = (permissions.hosts ?? [BundlePermissions.setUp]).flatMap {
            $0 == BundlePermissions.setUp ? reach.servers : [$0]
        }
        folders = bundle.folders(in: reach).map(\.canonical)
    }

    public static let fields: [Field<Reachable>] = [
        Field("effects", "The strongest effect that an action may have") { $0.effects },
        Field("actions", "Actions that are allowed whatever their effect") { $0.actions },
        Field("servers", "Servers that may be contacted") { $0.servers },
        Field("folders", "Folders whose files may be opened") { $0.folders },
        Field("secrets", "Secrets that may be read") { $0.secrets },
        Field("variables", "Environment variables that the bundle reads") { $0.variables },
        Field("programs", "Programs that may run in a sandbox") { $0.programs },
        Field("tools", "Tools that models may use without asking") { $0.tools },
        Field("calls", "Maximum number of actions and tool calls; null for no limit") { $0.calls },
        Field("time", "How long new actions may start; null for no limit") { $0.time },
    ]
}

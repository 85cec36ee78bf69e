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

/// What a bundle can reach, for a person to look at before. What it runs in turn reaches no more: each layer decides.
public struct Reachable: Record {
    public let effects: Effect
    /// Actions that may do whatever they do.
    public let actions: [String]
    public let servers: [String]
    /// The folders beneath which files may be opened.
    public let folders: [String]
    public let secrets: [String]
    /// Variables of the environment that it reads itself.
    public let variables: [String]
    /// Programs that may be run in a sandbox.
    public let programs: [String]
    /// Tools that models may use without being asked.
    public let tools: [String]
    /// How many actions and tool calls it may do, and for how long.
    public let calls: Int?
    public let time: Duration?

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
        Field("effects", "The farthest that any action may go") { $0.effects },
        Field("actions", "Actions that may do whatever they do") { $0.actions },
        Field("servers", "Servers that may be spoken to") { $0.servers },
        Field("folders", "Folders beneath which files may be opened") { $0.folders },
        Field("secrets", "Secrets whose values may be had") { $0.secrets },
        Field("variables", "Variables that are read into its environment") { $0.variables },
        Field("programs", "Programs that may be run in a sandbox") { $0.programs },
        Field("tools", "Tools that models may use without being asked") { $0.tools },
        Field("calls", "How many actions and tool calls it may do; null for any number") { $0.calls },
        Field("time", "For how long it may begin them; null for any time") { $0.time },
    ]
}

public import Capabilities
public import GatewayStore
public import ToolKit
public import TurnLoop

/// What holds for all turns.
public struct TurnSettings: Sendable {
    /// Who answers where a request names no model: `PROVIDER/MODEL`. The first provider that has a model when nil.
    public var defaultModel: String?
    /// Who has to agree before a tool is used; the rules of project and session come on top.
    public var rules: [ApprovalRule] = []
    /// The person's home, as `~` in rules.
    public var home: String?
    /// How commands are run, and what they are kept from.
    public var shell = ShellOptions()
    /// How long a question waits before it counts as a no.
    public var approvalTime: Duration = .seconds(60)
    /// Whether an agent turn goes on when its client vanishes, where the request does not say.
    public var keepsRunning = false

    /// How often the model is asked in one turn, and how long the turn and one of its calls may take.
    public var rounds = 50
    public var turnTime: Duration = .seconds(1800)
    public var callTime: Duration = .seconds(30)
    /// How many tokens a turn may write and what it may cost; unlimited when nil.
    public var outputTokens: Int?
    public var cost: Cost?
    /// What all turns of one day may take.
    public var dayBudget = BudgetLimit()

    public init() {}

    /// The rules of all, of a project, of its folder and of a session.
    func policy(
        in project: Project?, _ folder: [ApprovalRule], _ session: Session?, _ mode: ToolMode
    ) -> ApprovalPolicy {
        let places = PathGlob.Places(
            folder: AbsolutePath(project?.path ?? "/"), home: home.map { AbsolutePath($0) })
        return ApprovalPolicy(
            rules: rules + (project?.rules ?? []) + folder + (session?.rules ?? []), in: places, mode: mode)
    }
}

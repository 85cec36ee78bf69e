public import Capabilities
public import GatewayStore
public import ToolKit
public import TurnLoop

/// The settings of all turns.
public struct TurnSettings: Sendable {
    /// The default model as `PROVIDER/MODEL`; nil for the first provider that has a model.
    public var defaultModel: String?
    /// Rules for approving tools. The rules of project and session are added to them.
    public var rules: [ApprovalRule] = []
    /// The user's home folder, for `~` in rules.
    public var home: String?
    /// How commands run, and their sandbox.
    public var shell = ShellOptions()
    /// How long an approval request waits before it counts as denied.
    public var approvalTime: Duration = .seconds(60)
    /// Whether an agent turn continues when its client disconnects, unless the request says otherwise.
    public var keepsRunning = false

    /// The maximum number of requests to the model in one turn.
    public var rounds = 50
    /// The time limit of a whole turn.
    public var turnTime: Duration = .seconds(1800)
    /// The time limit of one call of a tool, and of listing the tools of a source.
    public var callTime: Duration = .seconds(30)
    /// How many tokens a turn may write; nil for no limit.
    public var outputTokens: Int?
    /// What a turn may cost; nil for no limit. It may be exceeded by one round.
    public var cost: Cost?
    /// The limit for all turns of one day.
    public var dayBudget = BudgetLimit()

    /// The defaults, which limit rounds and time, but neither tokens nor cost.
    public init() {}

    /// The rules of the settings, a project, its folder and a session combined.
    func policy(
        in project: Project?, _ folder: [ApprovalRule], _ session: Session?, _ mode: ToolMode
    ) -> ApprovalPolicy {
        let places = PathGlob.Places(
            folder: AbsolutePath(project?.path ?? "/"), home: home.map { AbsolutePath($0) })
        return ApprovalPolicy(
            rules: rules + (project?.rules ?? []) + folder + (session?.rules ?? []), in: places, mode: mode)
    }
}

/// What all turns of a gateway share. It is a class, so that each turn holds only a reference.
final class TurnParts: Sendable {
    let store: GatewayStore
    let settings: TurnSettings
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let tracer: Tracer
    let running: RunningTurns
    private let keeping: (any Sendable)?
    /// The answers kept for folders; nil if nothing keeps them, and answers apply to a session at most.
    let folders: FolderApprovals?
    /// Alarms for turns that take too long.
    let alarms: Alarms

    init(
        store: GatewayStore, settings: TurnSettings, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, tracer: Tracer, running: RunningTurns, keeping: (any Sendable)?,
        folders: (any FolderRules)?
    ) {
        self.store = store
        self.settings = settings
        self.clock = clock
        self.now = now
        self.tracer = tracer
        self.running = running
        self.keeping = keeping
        self.folders = folders.map(FolderApprovals.init)
        alarms = Alarms(after: settings.turnTime, on: clock)
    }

    var approvals: Approvals { running.approvals }
    var toolRuns: ToolRuns { running.toolRuns }

    /// Whether a limit applies to a request without a session.
    func isLimited(_ client: TurnClient?) -> Bool { !settings.dayBudget.isEmpty || client?.budgeted != nil }

    /// The rules kept for a project's folder, from any feature, with notices for the client. If they cannot be read,
    /// everything is denied.
    ///
    /// Answers stored with the project, as in versions without folder records, are first moved to the folder's record.
    func decided(in project: Project?) async -> (rules: [ApprovalRule], told: [String]) {
        guard let project, let folders else { return ([], []) }
        var told: [String] = []
        let answers = project.rules.filter(\.isAnswer)
        do {
            try await folders.adopt(answers.map(\.json), in: project.path) { told.append($0) }
            if !answers.isEmpty { try await store.removeRules(answers, ofProject: project.id) }
        } catch {
            told.append(
                "cannot move this project's approvals to its folder's record, so no tool is used: "
                    + AnyFailure(error).message)
            return ([ApprovalRule(.deny, scope: .project)], told)
        }
        return (folders.rules(in: project.path) { told.append($0) }, told)
    }

    /// Throws when the budget of a session, a project, the client's token or the day is used up, including usage that
    /// is not stored yet.
    func checkBudget(
        session: String?, project: String?, client: TurnClient?, unstored: Usage = Usage()
    ) async throws {
        if session == nil, project == nil, !isLimited(client) { return }
        let state = try await store.checkBudget(
            session: session, project: project, client: client?.budgeted, day: settings.dayBudget, unstored: unstored)
        guard let spent = state.spent else { return }
        throw GatewayError(
            .budgetExceeded, spent.message, retryAfter: spent.scope.isDaily ? Day.rest(after: now()) : nil)
    }
}

extension ApprovalRule {
    /// Whether the rule came from an answer and was not written for the project: it names one tool of one source, or
    /// one program, and applies to the project.
    fileprivate var isAnswer: Bool {
        scope == .project && source != nil && arguments.keys.allSatisfy { $0 == "/command" }
    }
}

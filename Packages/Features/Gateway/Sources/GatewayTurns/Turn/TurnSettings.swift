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

/// What all turns of a gateway share. An object, so that each of them holds a reference and not all of it.
final class TurnParts: Sendable {
    let store: GatewayStore
    let settings: TurnSettings
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    let tracer: Tracer
    let running: RunningTurns
    private let keeping: (any Sendable)?
    /// What was decided in folders; nil where nothing keeps that, and answers hold for a session at most.
    let folders: FolderApprovals?
    /// For turns that take too long.
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

    /// Whether something may be used up for a request that belongs to no session.
    func isLimited(_ client: TurnClient?) -> Bool { !settings.dayBudget.isEmpty || client?.budgeted != nil }

    /// What was decided in a project's folder, whoever asked there, with what the client is to be told of it. What cannot
    /// be read denies everything.
    ///
    /// Answers that were kept with the project, as they were before folders had records, are moved to the record first.
    func decided(in project: Project?) async -> (rules: [ApprovalRule], told: [String]) {
        guard let project, let folders else { return ([], []) }
        var told: [String] = []
        let answers = project.rules.filter(\.isAnswer)
        do {
            try await folders.adopt(answers.map(\.json), in: project.path) { told.append($0) }
            if !answers.isEmpty { try await store.removeRules(answers, ofProject: project.id) }
        } catch {
            told.append(
                "what was decided in this project could not be moved to its folder's record, so no tool is used: "
                    + AnyFailure(error).message)
            return ([ApprovalRule(.deny, scope: .project)], told)
        }
        return (folders.rules(in: project.path) { told.append($0) }, told)
    }

    /// Throws when tokens or money of a session, a project, the client's token or the day are used up, with what is not
    /// stored yet.
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
    /// Whether it was made of an answer, and is none that somebody has written for the project: it names one tool of one
    /// source, or one program, and holds for the project.
    fileprivate var isAnswer: Bool {
        scope == .project && source != nil && arguments.keys.allSatisfy { $0 == "/command" }
    }
}

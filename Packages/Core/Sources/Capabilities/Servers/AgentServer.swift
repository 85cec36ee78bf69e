/// A server on which agents work: sessions of a model with tools, in the folders of projects.
///
/// Servers differ in what they have, so the answer to each request can be `notOffered`. Every method throws
/// `AgentServerError` `.notFound` if the project, session, file or question does not exist, `AccessFailure` or the server's
/// refusal if the caller may not do it, and `CancellationError`.
public protocol AgentServer: AnyObject, Sendable {
    /// The server, as people know it.
    var server: ServerID { get }

    // MARK: The server

    /// Whether it works. A server that says that it does not is a value, one that does not answer an error.
    func health() async throws -> Offered<AgentHealth>
    /// The totals of all sessions.
    func stats() async throws -> Offered<AgentStats>

    // MARK: Sessions

    /// The sessions, up to a limit. Some servers list only those in memory.
    ///
    /// - Parameter project: only sessions of this project; nil for all.
    func sessions(ofProject project: String?) async throws -> Offered<AgentList<AgentSession>>
    /// One session.
    func session(_ id: String) async throws -> Offered<AgentSession>
    /// Creates a session.
    func createSession(_ new: NewAgentSession) async throws -> Offered<AgentSession>
    /// Ends a session and removes it from the server. Throws `.busy` while a turn runs in it.
    func endSession(_ id: String) async throws -> Offered<Nothing>
    /// What a session does now.
    func status(ofSession id: String) async throws -> Offered<AgentStatus>
    /// Stops the running turn of a session. Some servers end the session too, so that it cannot be continued.
    func stop(session id: String) async throws -> Offered<AgentStop>

    // MARK: Files

    /// The entries of a project's folder.
    func files(ofProject project: String, _ query: AgentFileQuery) async throws -> Offered<AgentList<AgentFile>>
    /// The content of a file, or the part of it in `range`. A whole file has at most `AgentFileContent.most` bytes.
    func readFile(
        _ path: String, ofProject project: String, in range: Range<Int>?
    ) async throws -> Offered<AgentFileContent>
    /// Replaces or creates a file at once. Throws `.changed` if the condition does not hold; nothing is written then.
    func writeFile(
        _ bytes: [UInt8], to path: String, ofProject project: String, if condition: AgentWriteCondition
    ) async throws -> Offered<AgentFile>

    // MARK: Tools

    /// The sources of tools.
    ///
    /// - Parameter project: the project in whose folder the tools would work; nil for tools that need none.
    func toolServers(_ scope: AgentToolScope, project: String?) async throws -> Offered<[AgentToolServer]>
    /// The tools of one source.
    func tools(ofServer id: String, project: String?) async throws -> Offered<[AgentTool]>
    /// Sets which tools a session may use from its next turn on, and returns what the server applies.
    func setTools(_ selection: ToolSelection, ofSession id: String) async throws -> Offered<ToolSelection>
    /// The calls of a session that wait for approval, oldest first.
    func approvals(ofSession id: String) async throws -> Offered<[AgentApproval]>
    /// Allows or denies a call. An answer for the whole project may need more rights than one for the session.
    func answer(
        _ approval: String, ofSession session: String, _ answer: AgentApprovalAnswer
    ) async throws -> Offered<Nothing>

    // MARK: Accounts

    /// Sums of what was used.
    func usage(by group: UsageGroup, _ filter: UsageFilter) async throws -> Offered<[UsageSum]>
    /// What was done in a session, newest first, up to a limit.
    func audit(ofSession id: String) async throws -> Offered<AgentList<AuditEntry>>
}

/// The health of an agent server. Unknown values are nil.
public struct AgentHealth: Record, Hashable {
    /// Whether the server says that it works.
    public var isHealthy: Bool
    /// The version of the server.
    public var version: String?
    /// The version of the agent behind it, such as that of a command.
    public var agentVersion: String?
    /// How many sessions have a running turn.
    public var activeSessions: Int?
    /// What is wrong, in the server's words.
    public var problem: String?

    /// Everything but the verdict may be unknown.
    public init(
        isHealthy: Bool, version: String? = nil, agentVersion: String? = nil, activeSessions: Int? = nil,
        problem: String? = nil
    ) {
        self.isHealthy = isHealthy
        self.version = version
        self.agentVersion = agentVersion
        self.activeSessions = activeSessions
        self.problem = problem
    }

    public static let fields: [Field<AgentHealth>] = [
        Field("healthy", "Whether the server works", .state) { $0.isHealthy },
        Field("version", "Version of the server") { $0.version },
        Field("agent_version", "Version of the agent behind it") { $0.agentVersion },
        Field("active_sessions", "Number of sessions with a running turn") { $0.activeSessions },
        Field("problem", "What is wrong") { $0.problem },
    ]
}

/// The totals of an agent server. Unknown values are nil.
public struct AgentStats: Sendable, Hashable {
    /// How many sessions have a running turn.
    public var activeSessions: Int?
    /// The ids of these sessions.
    public var running: [String]
    /// How many sessions there are.
    public var sessions: Int?
    /// How many projects there are.
    public var projects: Int?
    /// How many messages there are in all sessions.
    public var messages: Int?
    /// The tokens that were used.
    public var tokens: Int?
    /// What it has cost.
    public var cost: Cost?
    /// The models of the sessions.
    public var models: [String]

    /// Everything may be unknown.
    public init(
        activeSessions: Int? = nil, running: [String] = [], sessions: Int? = nil, projects: Int? = nil,
        messages: Int? = nil, tokens: Int? = nil, cost: Cost? = nil, models: [String] = []
    ) {
        self.activeSessions = activeSessions
        self.running = running
        self.sessions = sessions
        self.projects = projects
        self.messages = messages
        self.tokens = tokens
        self.cost = cost
        self.models = models
    }
}

/// A session of an agent server. Unknown values are nil.
public struct AgentSession: Record, Hashable {
    /// The id with which requests name it.
    public var id: String
    /// The project in whose folder its tools work.
    public var project: String?
    /// The title that a person or the server gave it; nil for a made-up one.
    public var title: String?
    /// The model that answers.
    public var model: String?
    /// The instructions for the model.
    public var systemPrompt: String?
    /// Whether a turn is running.
    public var isRunning: Bool?
    /// When it was created.
    public var created: Timestamp?
    /// When it was last used.
    public var updated: Timestamp?
    /// How many messages it has.
    public var messages: Int?
    /// The tokens that were used in it.
    public var tokens: Int?
    /// What it has cost.
    public var cost: Cost?
    /// The tools that it may use; nil if the server has no such choice.
    public var tools: ToolSelection?

    /// Everything but the id may be unknown.
    public init(
        id: String, project: String? = nil, title: String? = nil, model: String? = nil, systemPrompt: String? = nil,
        isRunning: Bool? = nil, created: Timestamp? = nil, updated: Timestamp? = nil, messages: Int? = nil,
        tokens: Int? = nil, cost: Cost? = nil, tools: ToolSelection? = nil
    ) {
        self.id = id
        self.project = project
        self.title = title
        self.model = model
        self.systemPrompt = systemPrompt
        self.isRunning = isRunning
        self.created = created
        self.updated = updated
        self.messages = messages
        self.tokens = tokens
        self.cost = cost
        self.tools = tools
    }

    public static let fields: [Field<AgentSession>] = [
        Field("id", "Id of the session", .name) { $0.id },
        Field("title", "Title of the session") { $0.title },
        Field("project", "Project in which it works") { $0.project },
        Field("model", "Model that answers") { $0.model },
        Field("running", "Whether a turn is running") { $0.isRunning },
        Field("messages", "Number of messages") { $0.messages },
        Field("tokens", "Tokens used so far") { $0.tokens },
        Field("cost_usd", "Cost so far in US dollars") { $0.cost },
        Field("created", "Creation time", .detail) { $0.created },
        Field("updated", "Time of the last use") { $0.updated },
    ]
}

/// The values for a new session.
public struct NewAgentSession: Sendable, Hashable {
    /// The project in whose folder its tools work. Some servers require one.
    public var project: String?
    /// The title.
    public var title: String?
    /// The model that answers; nil for the server's default.
    public var model: String?
    /// Instructions for the model. With some agents they replace the agent's own.
    public var systemPrompt: String?
    /// The tools that it may use; nil for the server's default.
    public var tools: ToolSelection?

    /// Without arguments the server decides everything.
    public init(
        project: String? = nil, title: String? = nil, model: String? = nil, systemPrompt: String? = nil,
        tools: ToolSelection? = nil
    ) {
        self.project = project
        self.title = title
        self.model = model
        self.systemPrompt = systemPrompt
        self.tools = tools
    }
}

/// What a session does now.
public struct AgentStatus: Sendable, Hashable {
    /// The session, with the values that a status has.
    public var session: AgentSession
    /// Whether a turn is running.
    public var isRunning: Bool
    /// How many calls wait for approval; nil if the server does not say.
    public var openApprovals: Int?

    /// By default the number of waiting calls is unknown.
    public init(session: AgentSession, isRunning: Bool, openApprovals: Int? = nil) {
        self.session = session
        self.isRunning = isRunning
        self.openApprovals = openApprovals
    }
}

/// The effect of a stop.
public struct AgentStop: Sendable, Hashable {
    /// Whether a turn was running; nil if the server does not say.
    public var wasRunning: Bool?

    /// What the server says about it.
    public init(wasRunning: Bool?) {
        self.wasRunning = wasRunning
    }
}

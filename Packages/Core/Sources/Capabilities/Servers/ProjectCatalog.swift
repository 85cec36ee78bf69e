/// The projects of a server: folders in which agents work.
///
/// Every method throws `AgentServerError` `.notFound` if there is no such project, `AccessFailure` or the server's refusal
/// if the caller may not do it, and `CancellationError`.
public protocol ProjectCatalog: AnyObject, Sendable {
    /// The server, as people know it.
    var server: ServerID { get }
    /// All projects, up to a limit.
    func projects() async throws -> Offered<AgentList<AgentProject>>
    /// One project.
    func project(_ id: String) async throws -> Offered<AgentProject>
    /// Creates a project, and its folder if there is none.
    func createProject(_ new: NewAgentProject) async throws -> Offered<AgentProject>
    /// Deletes a project with its sessions. Some servers delete its folder as well. Throws `.busy` while a turn runs in it.
    func deleteProject(_ id: String) async throws -> Offered<Nothing>
}

/// A project of a server. Unknown values are nil.
public struct AgentProject: Record, Hashable {
    /// The id with which requests name it.
    public var id: String
    /// The name, which several projects may have.
    public var name: String
    /// What it is about.
    public var summary: String?
    /// Its folder on the server's machine.
    public var path: String?
    /// When it was created.
    public var created: Timestamp?
    /// When it was last changed or used.
    public var updated: Timestamp?
    /// How many sessions it has.
    public var sessions: Int?
    /// The tokens that were used in it.
    public var tokens: Int?
    /// What it has cost.
    public var cost: Cost?

    /// Everything but the id and the name may be unknown.
    public init(
        id: String, name: String, summary: String? = nil, path: String? = nil, created: Timestamp? = nil,
        updated: Timestamp? = nil, sessions: Int? = nil, tokens: Int? = nil, cost: Cost? = nil
    ) {
        self.id = id
        self.name = name
        self.summary = summary
        self.path = path
        self.created = created
        self.updated = updated
        self.sessions = sessions
        self.tokens = tokens
        self.cost = cost
    }

    public static let fields: [Field<AgentProject>] = [
        Field("id", "Id of the project", .name) { $0.id },
        Field("name", "Name of the project") { $0.name },
        Field("description", "What it is about", .detail) { $0.summary },
        Field("path", "Folder on the server's machine") { $0.path },
        Field("created", "Creation time", .detail) { $0.created },
        Field("updated", "Time of the last change or use") { $0.updated },
        Field("sessions", "Number of sessions") { $0.sessions },
        Field("tokens", "Tokens used so far") { $0.tokens },
        Field("cost_usd", "Cost so far in US dollars") { $0.cost },
    ]
}

/// The values for a new project.
public struct NewAgentProject: Sendable, Hashable {
    /// The name, with at least one visible character.
    public var name: String
    /// What it is about.
    public var summary: String?
    /// The folder on the server's machine; nil lets the server choose one.
    public var path: String?

    /// By default the server chooses the folder.
    public init(name: String, summary: String? = nil, path: String? = nil) {
        self.name = name
        self.summary = summary
        self.path = path
    }
}

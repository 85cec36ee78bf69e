public import Capabilities
import ProcessKit
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Creates a session. Throws `.notFound` if its project does not exist.
    @discardableResult
    public func createSession(_ new: NewSession) async throws -> Session {
        let time = now()
        let id = Identifier.make(at: time)
        let (title, system, selection) = (kept(new.title ?? ""), new.systemPrompt.map(kept), kept(new.selection))
        return try await database.write { [turns] connection in
            if let project = new.project { _ = try connection.project(project) }
            try connection.run(
                """
                INSERT INTO sessions
                    (id, project, title, model, system, servers, tools, priority, audit_log, rules, created, updated)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                id, new.project, Self.name(title), new.model, system,
                selection.servers.map(Written.init), selection.tools.map(Written.init), Written(selection.priority),
                selection.auditLog, Written(new.rules), time, time)
            return try connection.session(id, turns)
        }
    }

    /// The session with an id; nil if there is none.
    public func session(_ id: String) async throws -> Session? {
        try await database.read { [turns] in try $0.findSession(id, turns) }
    }

    /// Sessions, most recently used first.
    public func sessions(project: String? = nil, page: PageRequest = PageRequest()) async throws -> Page<Session> {
        try await database.read { [turns] connection in
            let condition: SQL = project == nil ? " WHERE ?1 IS NULL" : " WHERE project = ?1"
            let total = try connection.first("SELECT count(*) FROM sessions" + condition, project) { row in
                try row[0] as Int
            }
            let sessions = try connection.sessions(
                condition + " ORDER BY updated DESC, sessions.id DESC LIMIT ?2 OFFSET ?3", turns, project, page.size,
                page.offset)
            return Page(items: sessions, request: page, total: total ?? 0)
        }
    }

    /// The sessions in which a turn runs, also one of another process.
    public func runningSessions() async throws -> [Session] {
        try await database.read { [turns] connection in
            try connection.running(turns).compactMap { try connection.findSession($0, turns) }
        }
    }

    /// Replaces the selection of tools, from the next turn on. Throws `.notFound`.
    public func setTools(_ selection: ToolSelection, of session: String) async throws {
        let selection = kept(selection)
        try await change(session) { connection in
            try connection.run(
                "UPDATE sessions SET servers = ?, tools = ?, priority = ?, audit_log = ? WHERE id = ?",
                selection.servers.map(Written.init), selection.tools.map(Written.init), Written(selection.priority),
                selection.auditLog, session)
        }
    }

    /// Sets the title, shortened to one line of 200 characters. If it is empty, the user's next message sets it.
    public func setTitle(_ title: String, of session: String) async throws {
        let title = kept(title)
        try await change(session) { connection in
            try connection.run("UPDATE sessions SET title = ? WHERE id = ?", Self.name(title), session)
        }
    }

    /// Sets the model of the next turns, by its name in requests. Throws `.notFound`.
    public func setModel(_ model: String, of session: String) async throws {
        try await change(session) { connection in
            try connection.run("UPDATE sessions SET model = ? WHERE id = ?", model, session)
        }
    }

    /// Adds rules, which replace earlier rules for the same calls.
    public func addRules(_ rules: [ApprovalRule], toSession id: String) async throws {
        try await finish { connection in
            let old = try connection.first("SELECT rules FROM sessions WHERE id = ?", id) { row in
                try row[0] as Written<[ApprovalRule]>
            }
            guard let old else { throw GatewayStoreError.noSession(id) }
            let all = Written(old.value.replacing(with: rules))
            _ = try connection.run("UPDATE sessions SET rules = ? WHERE id = ?", all, id)
        }
    }

    /// Removes rules that were revoked.
    public func removeRules(_ rules: [ApprovalRule], ofSession id: String) async throws {
        try await finish { [turns] connection in
            let others = try connection.session(id, turns).rules.filter { !rules.contains($0) }
            _ = try connection.run("UPDATE sessions SET rules = ? WHERE id = ?", Written(others), id)
        }
    }

    /// The sessions that have rules for tools.
    public func sessionsWithRules() async throws -> [Session] {
        try await database.read { [turns] in
            try $0.sessions(" WHERE rules != '[]' ORDER BY updated DESC, sessions.id DESC", turns)
        }
    }

    /// Removes a session with its messages, unless a turn runs. Its usage and the audit log stay.
    public func deleteSession(_ id: String) async throws {
        try await database.write { [turns] connection in
            if try connection.session(id, turns).isRunning { throw GatewayStoreError.busy(id) }
            _ = try connection.run("DELETE FROM sessions WHERE id = ?", id)
        }
    }

    /// Erases sessions with every trace of their content in the files. Sessions that do not exist are ignored. The
    /// audit log keeps the actions without the content. Throws and removes nothing while a turn runs in one of them, or
    /// while another program, such as the gateway, has the files open.
    public func erase(sessions: [String]) async throws {
        try await database.requireAlone()
        try await database.write { [turns] connection in
            for id in sessions {
                if try connection.findSession(id, turns)?.isRunning == true { throw GatewayStoreError.busy(id) }
                _ = try connection.run("DELETE FROM sessions WHERE id = ?", id)
                _ = try connection.run(Self.blankAudit + " WHERE session = ?", id)
            }
        }
        try await eraseAudit(of: sessions)
        try await database.erase()
    }

    /// The totals of everything that is stored now.
    public func stats() async throws -> Stats {
        try await database.read { [turns] connection in
            let sessions = try connection.first(Self.sessionFigures) { row in
                (count: try row[0] as Int, messages: try row[1] as Int)
            }
            return Stats(
                projects: try connection.first("SELECT count(*) FROM projects") { row in try row[0] } ?? 0,
                sessions: sessions?.count ?? 0, running: try connection.running(turns),
                messages: sessions?.messages ?? 0, usage: try connection.usageOfAll(),
                models: try connection.all(
                    "SELECT DISTINCT model FROM sessions WHERE model IS NOT NULL ORDER BY model"
                ) { row in try row[0] as String })
        }
    }

    static let sessionFigures: SQL = "SELECT count(*), coalesce(sum(messages), 0) FROM sessions"

    /// A title set by a user, which may be longer than one taken from a message.
    private static func name(_ title: String) -> String { Line.title(of: title, longest: 200) }

    /// The selection without secrets. Its names come from a client and may contain anything.
    private func kept(_ selection: ToolSelection) -> ToolSelection {
        ToolSelection(
            servers: selection.servers?.map(kept), tools: selection.tools?.map(kept),
            priority: selection.priority.map(kept), auditLog: selection.auditLog)
    }

    /// Changes a session. `body` returns the number of changed rows; zero means that there is no such session.
    private func change(_ session: String, _ body: @escaping @Sendable (Connection) throws -> Int) async throws {
        try await database.write { connection in
            if try body(connection) == 0 { throw GatewayStoreError.noSession(session) }
        }
    }
}

/// A conversation stored by the gateway, without its messages.
public struct Session: Sendable, Hashable {
    /// The permanent id.
    public let id: String
    /// The id of its project; nil if it works in no folder.
    public let project: String?
    /// Its title, or else the beginning of its user's first message; empty before that.
    public let title: String
    /// The model of the next turn, by its name in requests; nil for the default.
    public let model: String?
    /// The instructions for the model; nil for none.
    public let systemPrompt: String?
    /// The tools that its turns offer.
    public let selection: ToolSelection
    /// What its user approved or denied for the whole session.
    public let rules: [ApprovalRule]
    /// The number of its messages.
    public let messages: Int
    /// The usage of all its answers.
    public let usage: UsageSum
    /// Whether a turn runs, in this process or another.
    public let isRunning: Bool
    /// The time of its creation.
    public let created: Timestamp
    /// The time of its last message, or of the start of its last turn.
    public let updated: Timestamp
}

/// The values for a new session.
public struct NewSession: Sendable, Hashable {
    /// The id of its project; nil for a session that works in no folder.
    public var project: String?
    /// The title; nil to use the beginning of the user's first message.
    public var title: String?
    /// The model, by its name in requests; nil for the default.
    public var model: String?
    /// The instructions for the model; nil for none.
    public var systemPrompt: String?
    /// The tools that its turns offer.
    public var selection: ToolSelection
    /// Rules for approving tools, which apply to this session only.
    public var rules: [ApprovalRule]

    /// Without arguments it has no project, the default model and all tools.
    public init(
        project: String? = nil, title: String? = nil, model: String? = nil, systemPrompt: String? = nil,
        selection: ToolSelection = ToolSelection(), rules: [ApprovalRule] = []
    ) {
        self.project = project
        self.title = title
        self.model = model
        self.systemPrompt = systemPrompt
        self.selection = selection
        self.rules = rules
    }
}

/// The totals of the gateway's records.
public struct Stats: Sendable, Hashable {
    /// The number of projects.
    public let projects: Int
    /// The number of sessions.
    public let sessions: Int
    /// Sessions in which a turn runs now.
    public let running: [String]
    /// The number of messages in all sessions.
    public let messages: Int
    /// The total usage so far, including what is deleted.
    public let usage: UsageSum
    /// The models of the sessions.
    public let models: [String]
}

extension Connection {
    static let sessionColumns: SQL = """
        SELECT sessions.id, project, title, model, system, servers, tools, priority, audit_log, rules, messages,
            created, updated, turns.id, holder FROM sessions LEFT JOIN turns ON turns.session = sessions.id
        """

    /// The sessions selected by these columns and a query.
    func sessions<each Value: Storable>(
        _ query: SQL, _ turns: Holdings, _ values: repeat each Value
    ) throws -> [Session] {
        try all(Self.sessionColumns + query, repeat each values) { row in
            let id: String = try row[0]
            let (servers, tools): (Written<[String]>?, Written<[String]>?) = (try row[5], try row[6])
            let (priority, rules): (Written<[String]>, Written<[ApprovalRule]>) = (try row[7], try row[9])
            let (turn, holder): (String?, String?) = (try row[13], try row[14])
            return Session(
                id: id, project: try row[1], title: try row[2], model: try row[3], systemPrompt: try row[4],
                selection: ToolSelection(
                    servers: servers?.value, tools: tools?.value, priority: priority.value, auditLog: try row[8]),
                rules: rules.value, messages: try row[10], usage: try usage(ofSession: id),
                isRunning: turns.isHeld(turn ?? "", by: holder), created: try row[11], updated: try row[12])
        }
    }

    func findSession(_ id: String, _ turns: Holdings) throws -> Session? {
        try sessions(" WHERE sessions.id = ?", turns, id).first
    }

    func session(_ id: String, _ turns: Holdings) throws -> Session {
        guard let session = try findSession(id, turns) else { throw GatewayStoreError.noSession(id) }
        return session
    }
}

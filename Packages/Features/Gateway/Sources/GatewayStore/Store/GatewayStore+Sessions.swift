import Capabilities
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Throws `.notFound` where its project is not there.
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

    /// Nil where there is none.
    public func session(_ id: String) async throws -> Session? {
        try await database.read { [turns] in try $0.findSession(id, turns) }
    }

    /// The one that was used last first.
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

    public func setTools(_ selection: ToolSelection, of session: String) async throws {
        let selection = kept(selection)
        try await change(session) { connection in
            try connection.run(
                "UPDATE sessions SET servers = ?, tools = ?, priority = ?, audit_log = ? WHERE id = ?",
                selection.servers.map(Written.init), selection.tools.map(Written.init), Written(selection.priority),
                selection.auditLog, session)
        }
    }

    /// Kept on one line, up to 200 characters; without any the next message of its user gives it one.
    public func setTitle(_ title: String, of session: String) async throws {
        let title = kept(title)
        try await change(session) { connection in
            try connection.run("UPDATE sessions SET title = ? WHERE id = ?", Self.name(title), session)
        }
    }

    public func setModel(_ model: String, of session: String) async throws {
        try await change(session) { connection in
            try connection.run("UPDATE sessions SET model = ? WHERE id = ?", model, session)
        }
    }

    /// Adds rules; those that were there for the same calls give way.
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

    /// Removes rules that were taken back.
    public func removeRules(_ rules: [ApprovalRule], ofSession id: String) async throws {
        try await finish { [turns] connection in
            let others = try connection.session(id, turns).rules.filter { !rules.contains($0) }
            _ = try connection.run("UPDATE sessions SET rules = ? WHERE id = ?", Written(others), id)
        }
    }

    /// The sessions in which something was decided about tools.
    public func sessionsWithRules() async throws -> [Session] {
        try await database.read { [turns] in
            try $0.sessions(" WHERE rules != '[]' ORDER BY updated DESC, sessions.id DESC", turns)
        }
    }

    /// Removes a session with its messages, unless a turn runs. What it took and the audit log stay.
    public func deleteSession(_ id: String) async throws {
        try await database.write { [turns] connection in
            if try connection.session(id, turns).isRunning { throw GatewayStoreError.busy(id) }
            _ = try connection.run("DELETE FROM sessions WHERE id = ?", id)
        }
    }

    /// Removes sessions for good, with every trace that the files have of what was said in them; those that are gone already
    /// are no error. The audit log keeps what was done, without the words. Throws, and has removed nothing, while a turn
    /// runs in one of them or another program, such as the gateway, has the files open.
    public func erase(sessions: [String]) async throws {
        try await database.requireAlone()
        try await database.write { [turns] connection in
            for id in sessions {
                if try connection.findSession(id, turns)?.isRunning == true { throw GatewayStoreError.busy(id) }
                _ = try connection.run("DELETE FROM sessions WHERE id = ?", id)
                _ = try connection.run(Self.blankAudit + " WHERE session = ?", id)
            }
        }
        try await database.erase()
    }

    /// Takes the words out of the audit log that come from sessions which are gone, and tells of how many entries.
    public func blankAudit() async throws -> Int {
        try await database.write { connection in
            try connection.run(
                Self.blankAudit + """
                     WHERE session IS NOT NULL AND json_remove(detail, '$.input', '$.beginning', '$.message') != detail
                        AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = audit.session)
                    """)
        }
    }

    /// What a tool was given may be what somebody said.
    private static let blankAudit: SQL =
        "UPDATE audit SET detail = json_remove(detail, '$.input', '$.beginning', '$.message')"

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

    /// What somebody has called it, who may well use more words than are shown of a message.
    private static func name(_ title: String) -> String { Line.title(of: title, longest: 200) }

    /// Its names are a client's, who may have written anything there.
    private func kept(_ selection: ToolSelection) -> ToolSelection {
        ToolSelection(
            servers: selection.servers?.map(kept), tools: selection.tools?.map(kept),
            priority: selection.priority.map(kept), auditLog: selection.auditLog)
    }

    /// `body` tells how many rows it has changed.
    private func change(_ session: String, _ body: @escaping @Sendable (Connection) throws -> Int) async throws {
        try await database.write { connection in
            if try body(connection) == 0 { throw GatewayStoreError.noSession(session) }
        }
    }
}

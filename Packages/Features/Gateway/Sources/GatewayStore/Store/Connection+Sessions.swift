import Capabilities
import ProcessKit
import StorageKit
import TurnLoop

extension Connection {
    static let sessionColumns: SQL = """
        SELECT sessions.id, project, title, model, system, servers, tools, priority, audit_log, rules, messages,
            created, updated, turns.id, holder FROM sessions LEFT JOIN turns ON turns.session = sessions.id
        """

    /// The sessions that a query behind these columns gives.
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

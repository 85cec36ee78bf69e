import Capabilities
import ProcessKit
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Takes the right to write to a session, until `endTurn`.
    ///
    /// Throws `.busy` while another turn has it, here or in another process; that of a process which died is taken over.
    public func beginTurn(session: String) async throws -> TurnLease {
        let time = now()
        let id = Identifier.make(at: time)
        // Known before it is stored, so that nobody here takes it for one that has ended.
        turns.take(id)
        do {
            let isTakeover = try await database.write { [turns] connection in
                try connection.beginTurn(id, of: session, turns, at: time)
            }
            return TurnLease(session: session, id: id, isTakeover: isTakeover)
        } catch {
            turns.giveBack(id)
            throw error
        }
    }

    /// Gives the right back. It works in a task that was cancelled, too, and a second time changes nothing.
    public func endTurn(_ lease: TurnLease) async throws {
        turns.giveBack(lease.id)
        _ = try await finish { connection in
            try connection.run("DELETE FROM turns WHERE session = ? AND id = ?", lease.session, lease.id)
        }
    }

    /// Stores a message with what it took, or nothing, and gives its number. An answer whose usage nobody told counts as
    /// one with unknown usage; one without a provider, too, was made elsewhere and brought along, and does not count.
    ///
    /// It works in a task that was cancelled, too. What it took counts for the client. Throws `.leaseLost` when the turn is not the session's any more.
    @discardableResult
    public func append(
        _ message: TurnMessage, provider: String? = nil, model: String? = nil, client: String? = nil, lease: TurnLease
    ) async throws -> Int {
        var message = message
        message.message = kept(message.message)
        message.start = message.start.map(kept)
        let (time, model) = (now(), (model ?? message.start?.model).map(kept))
        return try await finish { [message] connection in
            let number = try connection.insert(message, provider: provider, model: model, lease: lease, at: time)
            if message.usage != nil || message.message.role == .assistant && provider != nil {
                let entry = UsageEntry(
                    project: try connection.project(ofSession: lease.session), session: lease.session,
                    client: client, provider: provider ?? "", model: model ?? "", usage: message.usage ?? Usage())
                try connection.account(entry, message: number, at: time)
            }
            return number
        }
    }
}

extension GatewayStore {
    /// What a server says of itself is a text of somebody else as well.
    private func kept(_ start: ChatStart) -> ChatStart {
        ChatStart(
            id: start.id.map(kept), model: start.model.map(kept), session: start.session.map(kept),
            project: start.project.map(kept))
    }
}

extension Connection {
    /// Whether a turn that never ended was taken over.
    fileprivate func beginTurn(
        _ id: String, of session: String, _ turns: Holdings, at time: Timestamp
    ) throws -> Bool {
        let found: (project: String?, turn: String?, holder: String?)? = try first(
            """
            SELECT project, turns.id, holder FROM sessions LEFT JOIN turns ON turns.session = sessions.id
                WHERE sessions.id = ?
            """, session
        ) { row in (try row[0], try row[1], try row[2]) }
        guard let found else { throw GatewayStoreError.noSession(session) }
        if turns.isHeld(found.turn ?? "", by: found.holder) { throw GatewayStoreError.busy(session) }
        try run("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?)", session, id, turns.holder, time)
        try run("UPDATE sessions SET updated = max(updated, ?) WHERE id = ?", time, session)
        try run("UPDATE projects SET updated = max(updated, ?) WHERE id = ?", time, found.project)
        return found.turn != nil
    }

    /// The sessions in which a turn runs.
    func running(_ turns: Holdings, inProject project: String? = nil) throws -> [String] {
        let rows = try all(
            """
            SELECT session, turns.id, holder FROM turns JOIN sessions ON sessions.id = session
                WHERE ?1 IS NULL OR project = ?1 ORDER BY session
            """, project
        ) { row in (session: try row[0] as String, turn: try row[1] as String, holder: try row[2] as String) }
        return rows.filter { turns.isHeld($0.turn, by: $0.holder) }.map(\.session)
    }
}

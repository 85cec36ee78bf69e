public import Capabilities
import JSON
import ModelKit
import ProcessKit
import StorageKit
public import TurnLoop

extension GatewayStore {
    /// Takes the exclusive right to write to a session, until `endTurn`.
    ///
    /// Throws `.busy` while another turn has it, here or in another process. The right of a process that died is taken
    /// over.
    public func beginTurn(session: String) async throws -> TurnLease {
        let time = now()
        let id = Identifier.make(at: time)
        // Registered before it is stored, so that no task here considers it ended.
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

    /// Gives the right back. It also works in a cancelled task, and a second call changes nothing.
    public func endTurn(_ lease: TurnLease) async throws {
        turns.giveBack(lease.id)
        _ = try await finish { connection in
            try connection.run("DELETE FROM turns WHERE session = ? AND id = ?", lease.session, lease.id)
        }
    }

    /// Stores a message with its usage, or stores nothing, and returns its number. An answer without reported usage
    /// counts as unknown usage. An answer without usage and provider was made elsewhere and does not count.
    ///
    /// It also works in a cancelled task. The usage counts for the client. Throws `.leaseLost` if the turn is no longer
    /// the session's.
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
    /// The start without secrets. The texts come from a server and may contain anything.
    private func kept(_ start: ChatStart) -> ChatStart {
        ChatStart(
            id: start.id.map(kept), model: start.model.map(kept), session: start.session.map(kept),
            project: start.project.map(kept))
    }
}

extension Connection {
    /// Returns whether it took over a turn that never ended.
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

/// The right to write to a session. One turn has it at a time.
public struct TurnLease: Sendable, Hashable {
    /// The id of the session.
    public let session: String
    /// The id of the turn.
    public let id: String
    /// Whether the previous turn never ended, because its process died.
    public let isTakeover: Bool
}

extension GatewayStore {
    /// The history of a session in a form that every provider accepts. Calls without a result, because a process was
    /// killed, get a result that says so. Messages that cannot be read are left out.
    public func messages(of session: String) async throws -> [Message] {
        let messages = try await database.read { connection in
            try connection.requireSession(session)
            return try connection.messages(" WHERE m.session = ? ORDER BY m.position", session).map(\.sent)
        }
        return HistoryRepair.repaired(messages)
    }

    /// The stored messages, oldest first.
    public func storedMessages(
        of session: String, page: PageRequest = PageRequest()
    ) async throws -> Page<StoredMessage> {
        try await database.read { connection in
            let total = try connection.requireSession(session)
            let messages = try connection.messages(
                " WHERE m.session = ? AND m.position >= ? ORDER BY m.position LIMIT ?", session, page.offset, page.size)
            return Page(items: messages, request: page, total: total)
        }
    }

    /// The newest answer of a model; nil if there is none.
    public func lastAnswer(of session: String) async throws -> StoredMessage? {
        try await database.read { connection in
            try connection.requireSession(session)
            return try connection.messages(
                " WHERE m.session = ? AND m.role = 'assistant' ORDER BY m.position DESC LIMIT 1", session
            ).first
        }
    }
}

/// A stored message of a session.
public struct StoredMessage: Sendable, Hashable {
    /// The number of the message, unique over all sessions. Newer messages have larger numbers.
    public let number: Int
    /// The role and the content, as stored.
    public let message: Message
    /// False for an answer that was stopped or interrupted.
    public let isWhole: Bool
    /// The provider that wrote an answer.
    public let provider: String?
    /// The model that wrote an answer, by its id at the provider.
    public let model: String?
    /// What the provider reported at the start of an answer.
    public let start: ChatStart?
    /// Why the model stopped, for an answer whose end was reported.
    public let finish: ChatAnswer.Finish?
    /// The usage of an answer; nil if it does not count.
    public let usage: Usage?
    /// When it was stored.
    public let time: Timestamp
    /// Why the message cannot be read; it has no parts then. Nil if it can.
    public let problem: String?

    /// The message as it may be sent to a model. Providers refuse reasoning without the signature that comes at its
    /// end.
    var sent: Message {
        var message = message
        guard !isWhole else { return message }
        message.parts.removeAll { part in
            if case .reasoning(let thought) = part { thought.signature == nil && thought.sealed == nil } else { false }
        }
        return message
    }
}

extension Connection {
    static let messageColumns: SQL = """
        SELECT m.id, m.role, m.parts, m.whole, m.provider, m.model, m.finish, m.time, answer_id, answer_model,
            answer_session, answer_project, u.id, input, output, cached, cache_write, reasoning, cost
            FROM messages m LEFT JOIN usage u ON u.message = m.id
        """

    /// The messages selected by these columns and a query. A message that cannot be read does not hide the others.
    func messages<each Value: Storable>(_ query: SQL, _ values: repeat each Value) throws -> [StoredMessage] {
        try all(Self.messageColumns + query, repeat each values) { row in
            var message = Message(Message.Role(rawValue: try row[1]) ?? .user, [])
            var problem: String?
            do throws(ValueError) {
                message.parts = try MessageCoding.inline.parts(text: Self.text(row, 2))
            } catch {
                problem = "this stored message cannot be read: \(PlainText.escape("\(error)"))"
            }
            let start = ChatStart(
                id: try row[8], model: try row[9], session: try row[10], project: try row[11])
            let (finish, entry): (String?, Int?) = (try row[6], try row[12])
            return StoredMessage(
                number: try row[0], message: message, isWhole: try row[3], provider: try row[4], model: try row[5],
                start: start == ChatStart() ? nil : start, finish: finish.map(ChatAnswer.Finish.init(word:)),
                usage: try entry.map { _ in try Self.usage(row, from: 13) }, time: try row[7], problem: problem)
        }
    }

    private static func text(_ row: borrowing Row, _ column: Int) throws(ValueError) -> String {
        do {
            return try row[column]
        } catch {
            throw ValueError(error.message)
        }
    }

    /// The number of messages of a session. Throws if there is no such session.
    @discardableResult
    func requireSession(_ id: String) throws -> Int {
        let count = try first("SELECT messages FROM sessions WHERE id = ?", id) { row in try row[0] as Int }
        guard let count else { throw GatewayStoreError.noSession(id) }
        return count
    }

    /// Adds a message at the end of its session, and returns its number.
    func insert(
        _ new: TurnMessage, provider: String?, model: String?, lease: TurnLease, at time: Timestamp
    ) throws -> Int {
        let position = try first(
            """
            SELECT messages FROM sessions JOIN turns ON turns.session = sessions.id
                WHERE sessions.id = ? AND turns.id = ?
            """, lease.session, lease.id
        ) { row in try row[0] as Int }
        guard let position else { throw GatewayStoreError.leaseLost(lease.session) }
        try run(
            """
            INSERT INTO messages (session, position, role, parts, whole, provider, model, finish, time, answer_id,
                answer_model, answer_session, answer_project) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            lease.session, position, new.message.role.rawValue,
            try MessageCoding.inline.json(new.message.parts).text(), new.isWhole, provider, model, new.finish?.word,
            time, new.start?.id, new.start?.model, new.start?.session, new.start?.project)
        let number = Int(try lastInsertedID)
        let title = new.message.role == .user ? Line.title(of: new.message.text) : ""
        try run(
            """
            UPDATE sessions SET messages = messages + 1, updated = max(updated, ?),
                title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?
            """, time, title, lease.session)
        return number
    }
}

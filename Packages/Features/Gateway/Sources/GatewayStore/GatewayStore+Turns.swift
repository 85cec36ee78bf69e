public import Capabilities
import JSON
import ModelKit
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

/// The right to write to a session, which one turn has at a time.
public struct TurnLease: Sendable, Hashable {
    public let session: String
    /// What the turn is called.
    public let id: String
    /// Whether the turn before never ended, because its process died.
    public let isTakeover: Bool
}

extension GatewayStore {
    /// The history of a session as every provider takes it: calls whose results a killed process took with it are
    /// answered with that, and what cannot be read is left out.
    public func messages(of session: String) async throws -> [Message] {
        let messages = try await database.read { connection in
            try connection.requireSession(session)
            return try connection.messages(" WHERE m.session = ? ORDER BY m.position", session).map(\.sent)
        }
        return HistoryRepair.repaired(messages)
    }

    /// The messages as they were stored, the oldest first.
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

    /// The newest answer of a model; nil before the first.
    public func lastAnswer(of session: String) async throws -> StoredMessage? {
        try await database.read { connection in
            try connection.requireSession(session)
            return try connection.messages(
                " WHERE m.session = ? AND m.role = 'assistant' ORDER BY m.position DESC LIMIT 1", session
            ).first
        }
    }
}

/// A message of a session as it was stored.
public struct StoredMessage: Sendable, Hashable {
    /// What it is called, in all sessions. Newer ones have larger numbers.
    public let number: Int
    public let message: Message
    /// False for an answer that was stopped or broke off.
    public let isWhole: Bool
    /// Who wrote it, of an answer.
    public let provider: String?
    public let model: String?
    /// What the provider said when it began.
    public let start: ChatStart?
    public let finish: ChatAnswer.Finish?
    public let usage: Usage?
    public let time: Timestamp
    /// Why it cannot be read, if so; it has no parts then.
    public let problem: String?

    /// What a model may be given of it. Providers refuse thoughts without the proof that comes at their end.
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

    /// The messages that a query behind these columns gives. One that cannot be read does not hide the others.
    func messages<each Value: Storable>(_ query: SQL, _ values: repeat each Value) throws -> [StoredMessage] {
        try all(Self.messageColumns + query, repeat each values) { row in
            var message = Message(Message.Role(rawValue: try row[1]) ?? .user, [])
            var problem: String?
            do throws(ValueError) {
                message.parts = try MessageCoding.inline.parts(text: Self.text(row, 2))
            } catch {
                problem = "what is stored of this message cannot be read: \(PlainText.escape("\(error)"))"
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

    /// How many messages a session has; throws where there is none.
    @discardableResult
    func requireSession(_ id: String) throws -> Int {
        let count = try first("SELECT messages FROM sessions WHERE id = ?", id) { row in try row[0] as Int }
        guard let count else { throw GatewayStoreError.noSession(id) }
        return count
    }

    /// Adds a message at the end of its session, and gives its number.
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

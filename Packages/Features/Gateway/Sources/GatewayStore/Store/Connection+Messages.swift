import Capabilities
import JSON
import ModelKit
import StorageKit
import TurnLoop

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

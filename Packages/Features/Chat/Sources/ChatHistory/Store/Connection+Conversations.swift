import Capabilities
import JSON
import StorageKit

/// A conversation with the number of its row.
struct StoredConversation: Sendable {
    let row: Int64
    let conversation: Conversation
}

extension Connection {
    /// How conversations are read: `c` is the conversation, `h` its newest message, `p` the one it was forked from.
    static let conversationColumns: SQL = """
        SELECT c.id, c.name, c.title, c.provider, c.model, c.server, c.system, c.options, c.tools, c.created, c.updated,
            c.head, h.position, c.preview, c.usage, p.name, c.deleted, c.deployment
        FROM conversations c LEFT JOIN messages h ON h.id = c.head LEFT JOIN conversations p ON p.id = c.parent

        """

    static func conversation(_ row: borrowing Row) throws -> StoredConversation {
        let position: Int? = try row[12]
        let setup = ConversationSetup(
            provider: try row[3], model: try row[4], server: try row[5], deployment: try row[17], system: try row[6],
            options: try json(row[7]), tools: try json(row[8]))
        return StoredConversation(
            row: try row[0],
            conversation: Conversation(
                id: try row[1], title: try row[2], setup: setup, created: try row[9], updated: try row[10],
                head: try row[11], messages: position.map { $0 + 1 } ?? 0, preview: try row[13],
                usage: try EntryCoding.usage(json(row[14])), parent: try row[15], deleted: try row[16]))
    }

    /// What this program wrote itself, which may nest as deep as the tools of a server let it.
    static func json(_ text: String) throws -> JSON {
        try JSON(parsing: text, reading: .deep)
    }

    func conversation(_ id: ConversationID) throws -> StoredConversation {
        let found = try first(Self.conversationColumns + "WHERE c.name = ?", id) { row in try Self.conversation(row) }
        guard let found else { throw HistoryError.missing(id) }
        return found
    }

    func row(of id: ConversationID) throws -> Int64 {
        let found: Int64? = try first("SELECT id FROM conversations WHERE name = ?", id) { row in try row[0] }
        guard let found else { throw HistoryError.missing(id) }
        return found
    }

    /// A new conversation without messages.
    func insert(
        _ setup: ConversationSetup, title: String, created: Timestamp, updated: Timestamp, parent: Int64? = nil
    ) throws -> (row: Int64, id: ConversationID) {
        var random = SystemRandomNumberGenerator()
        var id = ConversationID(at: created, using: &random)
        while try first("SELECT 1 FROM conversations WHERE tag = ?", id.tag, row: { _ in true }) != nil {
            id = ConversationID(at: created, using: &random)
        }
        try run(
            """
            INSERT INTO conversations
                (name, tag, title, provider, model, server, deployment, system, options, tools, created, updated, parent)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            id, id.tag, title, setup.provider, setup.model, setup.server, setup.deployment, setup.system,
            setup.options.text(), setup.tools.text(), created, updated, parent)
        let row = try lastInsertedID
        try run(
            "UPDATE conversations SET tree = coalesce((SELECT tree FROM conversations WHERE id = ?), id) WHERE id = ?",
            parent, row)
        return (row, id)
    }

    /// Makes a message the newest one of its conversation, and its text the preview.
    func setHead(_ head: MessageID, of conversation: Int64) throws {
        let text = try lastText(upTo: head)
        try run(
            "UPDATE conversations SET head = ?, preview = ? WHERE id = ?", head, Line.preview(text), conversation)
    }

    /// The newest text that somebody said on the way to a message.
    private func lastText(upTo tip: MessageID) throws -> String {
        try first(
            """
            WITH RECURSIVE path (id) AS (
                SELECT ?1 UNION ALL
                SELECT m.parent FROM path JOIN messages m ON m.id = path.id WHERE m.parent IS NOT NULL AND m.text = '')
            SELECT substr(m.text, 1, 2000) FROM path JOIN messages m ON m.id = path.id WHERE m.text != ''
            """, tip
        ) { row in try row[0] as String } ?? ""
    }
}

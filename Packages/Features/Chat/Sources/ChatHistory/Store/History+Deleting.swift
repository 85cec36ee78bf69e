public import Capabilities
import StorageKit

extension History {
    /// Puts a conversation aside, which `restore` undoes until it is purged. Forks of it stay whole.
    public func delete(_ id: ConversationID) async throws {
        let time = now()
        _ = try await change(id) { connection, row in
            try connection.run("UPDATE conversations SET deleted = ? WHERE id = ? AND deleted IS NULL", time, row)
        }
    }

    /// Takes a conversation back that was deleted.
    @discardableResult
    public func restore(_ id: ConversationID) async throws -> Conversation {
        try await change(id) { try $0.run("UPDATE conversations SET deleted = NULL WHERE id = ?", $1) }
    }

    /// Removes for good what was deleted before a moment, and tells how many conversations these were.
    @discardableResult
    public func purge(deletedBefore time: Timestamp) async throws -> Int {
        try await database.write { connection in
            let rows = try connection.all("SELECT id FROM conversations WHERE deleted < ?", time) { row in
                try row[0] as Int64
            }
            for row in rows { try connection.remove(row) }
            try connection.sweepBlobs()
            return rows.count
        }
    }

    /// Removes one conversation for good, deleted before or not. `database.erase` takes its traces out of the files.
    public func purge(_ id: ConversationID) async throws {
        try await database.write { connection in
            try connection.remove(connection.row(of: id))
            try connection.sweepBlobs()
        }
    }

    /// The sessions of servers in which answers were given, by the providers that were asked, and in which no conversation
    /// goes on that stays.
    ///
    /// - Parameter id: of which conversation; nil for all that were deleted.
    public func sessions(of id: ConversationID?) async throws -> [String: [String]] {
        try await database.read { connection in
            let row: Int64? = try id.map(connection.row)
            let found = try connection.all(
                """
                WITH going (id) AS (SELECT id FROM conversations WHERE id = ?1 OR ?1 IS NULL AND deleted IS NOT NULL),
                    known (conversation, provider, session) AS (
                        SELECT conversation, provider, start ->> 'session' FROM messages
                            WHERE start IS NOT NULL AND start ->> 'session' IS NOT NULL AND provider IS NOT NULL)
                SELECT DISTINCT provider, session FROM known WHERE conversation IN (SELECT id FROM going)
                EXCEPT SELECT provider, session FROM known WHERE conversation NOT IN (SELECT id FROM going)
                """, row
            ) { row in (provider: try row[0] as String, session: try row[1] as String) }
            return Dictionary(grouping: found, by: \.provider).mapValues { $0.map(\.session) }
        }
    }
}

extension Connection {
    /// Gives the messages that others lead through to them, those first that are not deleted.
    ///
    /// So they stay when this one goes.
    func handOver(_ conversation: Int64) throws {
        let ways = try all(
            """
            SELECT m.parent, m.conversation, o.deleted IS NOT NULL FROM messages p
                JOIN messages m ON m.parent = p.id JOIN conversations o ON o.id = m.conversation
                WHERE p.conversation = ?1 AND m.conversation != ?1
            UNION SELECT o.head, o.id, o.deleted IS NOT NULL FROM messages p JOIN conversations o ON o.head = p.id
                WHERE p.conversation = ?1 AND o.id != ?1
            ORDER BY 3, 2
            """, conversation
        ) { row in (tip: try row[0] as Int64, heir: try row[1] as Int64) }
        for (tip, heir) in ways {
            try run(
                """
                WITH RECURSIVE path (id) AS (
                    SELECT ?1 UNION ALL SELECT m.parent FROM path JOIN messages m ON m.id = path.id
                        WHERE m.parent IS NOT NULL AND m.conversation = ?2)
                UPDATE messages SET conversation = ?3 WHERE conversation = ?2 AND id IN (SELECT id FROM path)
                """, tip, conversation, heir)
        }
    }

    /// Removes a conversation with all that nobody else needs.
    func remove(_ conversation: Int64) throws {
        try handOver(conversation)
        try run("UPDATE conversations SET head = NULL WHERE id = ?", conversation)
        try run(
            """
            INSERT INTO messages_text (messages_text, rowid, text)
                SELECT 'delete', id, text FROM messages WHERE conversation = ?
            """, conversation)
        try run("DELETE FROM messages WHERE conversation = ?", conversation)
        try run("DELETE FROM conversations WHERE id = ?", conversation)
    }
}

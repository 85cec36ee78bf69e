import Capabilities
import StorageKit

extension History {
    /// Messages in which the words occur, those that were stored last first.
    ///
    /// All words have to occur; `"several words"` in this order, `-word` not at all, `wor*` as the beginning of one. The
    /// filter's text is not looked at. `before` is the last message of the page before.
    ///
    /// A message that forks share is found once: in the conversation that wrote it, or while that one is deleted, in the
    /// newest fork.
    public func search(
        _ typed: String, _ filter: HistoryFilter = HistoryFilter(), before: MessageID? = nil, limit: Int = 20
    ) async throws -> [SearchHit] {
        guard let query = SearchQuery(typed) else { return [] }
        return try await database.read { connection in
            try connection.all(
                Self.head + (filter.isDeleted ? Self.deletedPlace : Self.livingPlace) + Self.tail,
                query.text, before?.rawValue ?? Int64.max, filter.provider, filter.model, filter.server, filter.since,
                filter.until, Snippet.marks.open, Snippet.marks.close, "…", max(1, limit)
            ) { row in
                SearchHit(
                    conversation: try row[0], title: try row[1], message: try row[2],
                    role: Message.Role(rawValue: try row[3]) ?? .user, time: try row[4], model: try row[5],
                    snippet: Snippet(marked: try row[6]))
            }
        }
    }

    /// The index is walked from its newest row on, until there are enough that fit; hence the order of the joins.
    private static let head: SQL = """
        SELECT c.name, c.title, m.id, m.role, m.time, coalesce(m.model, c.model),
            snippet(messages_text, 0, ?8, ?9, ?10, 16)
        FROM messages_text CROSS JOIN messages m ON m.id = messages_text.rowid CROSS JOIN conversations c ON

        """

    private static let deletedPlace: SQL = "c.id = m.conversation AND c.deleted IS NOT NULL"

    /// The ways to the messages of all forks are only walked where the writer is deleted.
    private static let livingPlace: SQL = """
        c.id = coalesce(
            (SELECT id FROM conversations WHERE id = m.conversation AND deleted IS NULL),
            (WITH RECURSIVE path (fork, id) AS (
                SELECT id, head FROM conversations WHERE tree = m.tree AND deleted IS NULL
                UNION ALL SELECT path.fork, p.parent FROM path JOIN messages p ON p.id = path.id
                    WHERE p.parent IS NOT NULL AND p.position > m.position)
            SELECT max(fork) FROM path WHERE id = m.id))
        """

    private static let tail: SQL = """
         WHERE messages_text MATCH ?1 AND messages_text.rowid < ?2
            AND (?3 IS NULL OR coalesce(m.provider, c.provider) = ?3)
            AND (?4 IS NULL OR coalesce(m.model, c.model) = ?4) AND (?5 IS NULL OR c.server = ?5)
            AND (?6 IS NULL OR m.time >= ?6) AND (?7 IS NULL OR m.time < ?7)
        ORDER BY messages_text.rowid DESC LIMIT ?11
        """
}

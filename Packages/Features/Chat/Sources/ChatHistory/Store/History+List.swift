import Capabilities
import StorageKit

extension History {
    /// Conversations, the one that was written to last first; `after` is the `next` of the page before.
    public func list(
        _ filter: HistoryFilter = HistoryFilter(), after cursor: ListCursor? = nil, limit: Int = 50
    ) async throws -> Page {
        let limit = max(1, limit)
        let words = filter.text.flatMap(SearchQuery.init)?.text
        let rows = try await database.read { connection in
            try connection.all(
                Self.listQuery(filter, hasWords: words != nil), cursor?.updated, cursor?.row, filter.provider,
                filter.model, filter.server, filter.since, filter.until, limit + 1, filter.text.map(Self.pattern), words
            ) { row in try Connection.conversation(row) }
        }
        let items = rows.prefix(limit)
        let next =
            rows.count > limit ? items.last.map { ListCursor(updated: $0.conversation.updated, row: $0.row) } : nil
        return Page(items: items.map(\.conversation), next: next)
    }

    private static func listQuery(_ filter: HistoryFilter, hasWords: Bool) -> SQL {
        let state: SQL = filter.isDeleted ? "WHERE c.deleted IS NOT NULL" : "WHERE c.deleted IS NULL"
        let text: SQL =
            switch (filter.text != nil, hasWords) {
            // The numbers of all values stand in the text, wanted or not.
            case (false, _): " AND ?9 IS NULL AND ?10 IS NULL"
            case (true, false): " AND c.title LIKE ?9 ESCAPE '\\' AND ?10 IS NULL"
            case (true, true):
                """
                 AND (c.title LIKE ?9 ESCAPE '\\' OR c.id IN (
                    SELECT m.conversation FROM messages_text t CROSS JOIN messages m ON m.id = t.rowid
                    WHERE messages_text MATCH ?10))
                """
            }
        return Connection.conversationColumns + state + """
             AND (?1 IS NULL OR (c.updated, c.id) < (?1, ?2)) AND (?3 IS NULL OR c.provider = ?3)
            AND (?4 IS NULL OR c.model = ?4) AND (?5 IS NULL OR c.server = ?5)
            AND (?6 IS NULL OR c.updated >= ?6) AND (?7 IS NULL OR c.updated < ?7)
            """ + text + " ORDER BY c.updated DESC, c.id DESC LIMIT ?8"
    }

    /// A pattern for LIKE that finds the text as it is.
    private static func pattern(_ text: String) -> String {
        var pattern = "%"
        for character in text.unicodeScalars {
            if ["%", "_", "\\"].contains(character) { pattern += "\\" }
            pattern.unicodeScalars.append(character)
        }
        return pattern + "%"
    }
}

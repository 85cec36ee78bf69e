import StorageKit

/// What a person is offered while typing: only what is in the history now, which is not created for this.
extension History {
    /// The longest list that still helps.
    private static let most = 200

    /// The conversations with their titles, newest first; the deleted ones with `isDeleted`.
    public func offered(isDeleted: Bool = false) -> [(id: ConversationID, title: String)] {
        let state: SQL = isDeleted ? "deleted IS NOT NULL" : "deleted IS NULL"
        let found: [(id: ConversationID, title: String)]? = database.glance { connection in
            try connection.all(
                "SELECT name, title FROM conversations WHERE " + state + " ORDER BY updated DESC LIMIT ?", Self.most
            ) { row in (id: try row[0] as ConversationID, title: try row[1] as String) }
        }
        return found ?? []
    }

    /// The messages of the conversation that is named as for `find`, with who wrote each and how it begins, newest first.
    public func offeredMessages(of conversation: String) -> [(id: MessageID, text: String)] {
        let found: [(id: MessageID, text: String)]? = database.glance { connection in
            let named = try connection.conversations(like: conversation, isDeleted: false)
            guard named.count == 1, let head = named[0].head else { return [] }
            return try connection.all(
                """
                WITH RECURSIVE path (id) AS (
                    SELECT ?1 UNION ALL
                    SELECT m.parent FROM path JOIN messages m ON m.id = path.id WHERE m.parent IS NOT NULL LIMIT ?2)
                SELECT m.id, m.role, substr(m.text, 1, 100) FROM path JOIN messages m ON m.id = path.id
                ORDER BY m.position DESC
                """, head, Self.most
            ) { row in (id: try row[0] as MessageID, text: "\(try row[1] as String): \(try row[2] as String)") }
        }
        return found ?? []
    }

    /// The models of the conversations with their providers, the most recently used first; only those of a provider that
    /// is given.
    public func offeredModels(of provider: String? = nil) -> [(provider: String, model: String)] {
        let found: [(provider: String, model: String)]? = database.glance { connection in
            try connection.all(
                """
                SELECT provider, model FROM conversations
                WHERE provider != '' AND model != '' AND (?1 IS NULL OR provider = ?1)
                GROUP BY provider, model ORDER BY max(updated) DESC LIMIT ?2
                """, provider, Self.most
            ) { row in (provider: try row[0] as String, model: try row[1] as String) }
        }
        return found ?? []
    }
}

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

    /// The models of the conversations with their providers, the most recently used first.
    public func offeredModels() -> [(provider: String, model: String)] {
        let found: [(provider: String, model: String)]? = database.glance { connection in
            try connection.all(
                """
                SELECT provider, model FROM conversations WHERE provider != '' AND model != ''
                GROUP BY provider, model ORDER BY max(updated) DESC LIMIT ?
                """, Self.most
            ) { row in (provider: try row[0] as String, model: try row[1] as String) }
        }
        return found ?? []
    }
}

public import Capabilities
import ProcessKit
import StorageKit

extension History {
    /// Stores a whole message after the one that the caller saw last; nil is the beginning.
    ///
    /// What follows an older message is a branch. `entry.isBranch` tells that somebody else was faster.
    @discardableResult
    public func append(
        _ message: Message, to id: ConversationID, after parent: MessageID?, as placement: Placement = .next,
        provider: String? = nil, model: String? = nil
    ) async throws -> Entry {
        let new = NewEntry(message: kept(message), provider: provider, model: model, time: now())
        return try await database.write { [drafts] connection in
            let (message, isBranch) = try connection.insert(
                new, into: connection.row(of: id), after: parent, placement)
            return try connection.entry(message, drafts, isBranch: isBranch)
        }
    }

    /// An answer that is going to stream. It is stored from its first event on; what goes wrong is told at its end.
    public func begin(
        in id: ConversationID, after parent: MessageID?, provider: String? = nil, model: String? = nil
    ) -> Draft {
        Draft(self, id, after: parent, provider: provider, model: model)
    }

    /// The messages on the way to the newest one, or to another, the oldest first; with a limit only the last of them.
    public func entries(
        of id: ConversationID, upTo tip: MessageID? = nil, limit: Int? = nil
    ) async throws -> [Entry] {
        try await database.read { [drafts] connection in
            let stored = try connection.conversation(id)
            if let tip { _ = try connection.position(of: tip, in: stored.row) }
            guard let tip = tip ?? stored.conversation.head else { return [] }
            return try connection.path(to: tip, drafts, limit: limit)
        }
    }

    /// All ways through a conversation, the newest first.
    public func branches(of id: ConversationID) async throws -> [Branch] {
        try await database.read { connection in
            let stored = try connection.conversation(id)
            return try connection.all(
                """
                SELECT id, time, position, id IS ?2 FROM messages
                WHERE id IS ?2 OR conversation = ?1 AND NOT EXISTS (
                    SELECT 1 FROM messages m WHERE m.parent = messages.id AND m.conversation = ?1)
                ORDER BY id DESC
                """, stored.row, stored.conversation.head
            ) { row in
                Branch(
                    tip: try row[0], time: try row[1], messages: try row[2] as Int + 1, isCurrent: try row[3])
            }
        }
    }

    /// Shows and continues a conversation from another of its messages.
    @discardableResult
    public func select(_ tip: MessageID, in id: ConversationID) async throws -> Conversation {
        try await change(id) { connection, row in
            _ = try connection.position(of: tip, in: row)
            try connection.setHead(tip, of: row)
        }
    }
}

extension Connection {
    func path(to tip: MessageID, _ drafts: Holdings, limit: Int? = nil) throws -> [Entry] {
        try entries(
            drafts,
            before: """
                WITH RECURSIVE path (id) AS (
                    SELECT ?1 UNION ALL
                    SELECT m.parent FROM path JOIN messages m ON m.id = path.id WHERE m.parent IS NOT NULL LIMIT ?2)

                """, "JOIN path ON path.id = m.id ORDER BY m.position", tip, limit ?? -1)
    }
}

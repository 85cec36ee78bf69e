import ProcessKit
import StorageKit

/// What a reader of a growing conversation has not seen yet.
public struct ConversationNews: Sendable, Hashable {
    /// The conversation now.
    public let conversation: Conversation
    /// Its messages from the one on that the reader named, oldest first; without one, the newest ones.
    public var entries: [Entry]
    /// Whether `entries` begins with the message that the reader named. Otherwise another branch is shown now.
    public var isContinued: Bool
    /// Its tool calls from the one on that the reader named, oldest first; without one, the newest ones.
    public var calls: [CallEntry]
}

extension History {
    /// The news of a conversation, read at one moment, for a reader who looks again and again. What was read before is
    /// not read again, however long the conversation is.
    ///
    /// - Parameters:
    ///   - message: the first message that may have changed or be new; nil for the newest ones.
    ///   - call: the same for tool calls.
    ///   - limit: how many messages are returned at most, without `message` or if it is no longer shown.
    ///   - mostCalls: how many calls are returned at most.
    public func news(
        of id: ConversationID, from message: MessageID? = nil, _ call: CallID? = nil, limit: Int, mostCalls: Int
    ) async throws -> ConversationNews {
        try await database.read { [drafts] connection in
            let stored = try connection.conversation(id)
            let calls = try connection.timeline(of: stored.row, from: call, limit: mostCalls)
            let conversation = stored.conversation
            func news(_ entries: [Entry], isContinued: Bool) -> ConversationNews {
                ConversationNews(conversation: conversation, entries: entries, isContinued: isContinued, calls: calls)
            }
            guard let tip = conversation.head else { return news([], isContinued: false) }
            if let message, let entries = try connection.messages(from: message, to: tip, drafts) {
                return news(entries, isContinued: true)
            }
            return news(try connection.path(to: tip, drafts, limit: limit), isContinued: false)
        }
    }
}

extension Connection {
    /// The messages from one to another; nil if the first one does not lead to the other, or is gone.
    fileprivate func messages(from start: MessageID, to tip: MessageID, _ drafts: Holdings) throws -> [Entry]? {
        let position: Int? = try first("SELECT position FROM messages WHERE id = ?", start) { row in try row[0] }
        guard let position else { return nil }
        // Positions count along a path, so the walk ends at the place where the first message has to be.
        let found = try entries(
            drafts,
            before: """
                WITH RECURSIVE path (id, position) AS (
                    SELECT id, position FROM messages WHERE id = ?1 UNION ALL
                    SELECT m.id, m.position FROM path
                        JOIN messages c ON c.id = path.id JOIN messages m ON m.id = c.parent
                        WHERE path.position > ?2)

                """, "JOIN path ON path.id = m.id ORDER BY m.position", tip, position)
        return found.first?.id == start ? found : nil
    }
}

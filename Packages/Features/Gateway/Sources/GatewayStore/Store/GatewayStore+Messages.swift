public import Capabilities
import StorageKit
import TurnLoop

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

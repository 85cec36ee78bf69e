import Capabilities
public import JSON
import StorageKit

/// What was left out of a conversation because it did not fit, so that the next command leaves out the same and no
/// summary is made twice.
extension History {
    public func cut(of id: ConversationID) async throws -> JSON? {
        try await database.read { connection in
            let text: String?? = try connection.first("SELECT cut FROM conversations WHERE name = ?", id) { row in
                try row[0] as String?
            }
            return try (text ?? nil).map(Connection.json)
        }
    }

    public func set(cut: JSON?, of id: ConversationID) async throws {
        let text = cut.map { redactor?.kept($0) ?? $0 }?.text()
        _ = try await change(id) { try $0.run("UPDATE conversations SET cut = ? WHERE id = ?", text, $1) }
    }
}

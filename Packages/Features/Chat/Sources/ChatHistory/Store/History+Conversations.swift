import Capabilities
public import JSON
import StorageKit

extension History {
    /// Begins a conversation. Without a title it gets one from the first message of the person.
    @discardableResult
    public func create(_ setup: ConversationSetup, title: String? = nil) async throws -> Conversation {
        let (time, setup, title) = (now(), kept(setup), kept(title ?? ""))
        return try await database.write { connection in
            let made = try connection.insert(setup, title: Line.cut(title, 200), created: time, updated: time)
            return try connection.conversation(made.id).conversation
        }
    }

    func kept(_ setup: ConversationSetup) -> ConversationSetup {
        var setup = setup
        setup.system = setup.system.map { kept($0) }
        return setup
    }

    public func conversation(_ id: ConversationID) async throws -> Conversation {
        try await database.read { try $0.conversation(id).conversation }
    }

    /// The one conversation whose id begins like that, or whose letters at the end of the id do.
    ///
    /// Deleted ones are found only when these are wanted. Throws `HistoryError.notFound`, or `.ambiguous` with those that are meant perhaps.
    public func find(_ typed: String, isDeleted: Bool = false) async throws -> Conversation {
        let typed = typed.lowercased()
        guard let first = typed.first else {
            throw HistoryError(.notFound, "an empty word names no conversation; give the beginning of an id")
        }
        let column: SQL = first.isNumber ? "c.name" : "c.tag"
        let state: SQL = isDeleted ? "WHERE c.deleted IS NOT NULL AND " : "WHERE c.deleted IS NULL AND "
        let end = typed + "\u{10FFFF}"
        let found = try await database.read { connection in
            try connection.all(
                Connection.conversationColumns + state + column + " >= ? AND " + column
                    + " < ? ORDER BY c.updated DESC LIMIT 6", typed, end
            ) { row in try Connection.conversation(row).conversation }
        }
        // A whole id or tag is meant even where a longer one begins like it.
        if let exact = found.first(where: { $0.id.rawValue == typed || $0.id.tag == typed }) { return exact }
        let word = PlainText.escape(typed).quotedForMessage
        guard let conversation = found.first else {
            throw HistoryError(.notFound, "no conversation begins with \(word); martlet chat list shows all")
        }
        guard found.count == 1 else {
            let names = found.prefix(5).map { "\($0.id.rawValue) (\(PlainText.escape($0.title)))" }
            let more = found.count > 5 ? " and more" : ""
            throw HistoryError(
                .ambiguous, "several conversations begin with \(word): \(names.joined(separator: ", "))\(more)")
        }
        return conversation
    }

    /// Gives it another title, on one line and at most 200 characters long.
    @discardableResult
    public func rename(_ id: ConversationID, to title: String) async throws -> Conversation {
        let title = Line.cut(kept(title), 200)
        guard !title.isEmpty else { throw HistoryError(.invalid, "a title needs at least one letter") }
        return try await change(id) { try $0.run("UPDATE conversations SET title = ? WHERE id = ?", title, $1) }
    }

    /// Lets another model give the next answers, perhaps at another server; those that are there keep theirs.
    @discardableResult
    public func switchModel(
        _ id: ConversationID, provider: String?, model: String?, server: String? = nil, deployment: String? = nil
    ) async throws -> Conversation {
        try await change(id) { connection, row in
            try connection.run(
                "UPDATE conversations SET provider = ?, model = ?, server = ?, deployment = ? WHERE id = ?", provider,
                model, server, deployment, row)
        }
    }

    /// Changes what a conversation asks its models with, from its next answer on.
    ///
    /// - Parameter change: is given what is stored, in one step in which nobody else changes it.
    @discardableResult
    public func changeOptions(
        of id: ConversationID, _ change: @escaping @Sendable (_ options: JSON) -> JSON
    ) async throws -> Conversation {
        try await self.change(id) { connection, row in
            let text: String? = try connection.first("SELECT options FROM conversations WHERE id = ?", row) { row in
                try row[0]
            }
            let options = change(try text.map(Connection.json) ?? [:])
            try connection.run("UPDATE conversations SET options = ? WHERE id = ?", options.text(), row)
        }
    }

    /// The one that was written to last; nil where there is none.
    public func newest() async throws -> Conversation? {
        guard let newest = try await list(limit: 1).items.first else { return nil }
        guard newest.updated > now() else { return newest }
        // The clock was ahead then, so that its times say nothing; the order in which things were stored still does.
        return try await database.read { connection in
            try connection.first(
                Connection.conversationColumns
                    + "WHERE c.deleted IS NULL ORDER BY c.head IS NULL, c.head DESC, c.id DESC LIMIT 1"
            ) { row in try Connection.conversation(row).conversation }
        }
    }

    /// A conversation of its own that shares everything up to a message, or to the newest one, with this one.
    @discardableResult
    public func fork(_ id: ConversationID, at message: MessageID? = nil) async throws -> Conversation {
        let time = now()
        return try await database.write { connection in
            let origin = try connection.conversation(id)
            if let message { _ = try connection.position(of: message, in: origin.row) }
            let fork = try connection.insert(
                origin.conversation.setup, title: origin.conversation.title, created: time, updated: time,
                parent: origin.row)
            if let head = message ?? origin.conversation.head { try connection.setHead(head, of: fork.row) }
            return try connection.conversation(fork.id).conversation
        }
    }

    /// Does something to the row of a conversation and gives what became of it.
    func change(
        _ id: ConversationID, _ body: @escaping @Sendable (Connection, Int64) throws -> Void
    ) async throws -> Conversation {
        try await database.write { connection in
            try body(connection, connection.row(of: id))
            return try connection.conversation(id).conversation
        }
    }
}

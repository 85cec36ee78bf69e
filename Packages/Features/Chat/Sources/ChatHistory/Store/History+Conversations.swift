public import Capabilities
public import JSON
import StorageKit

extension History {
    /// Creates a conversation. Without a title, the first message of the user provides it.
    ///
    /// - Parameter id: its id; nil for a new one. If there is a conversation with that id, it is returned as it is.
    @discardableResult
    public func create(
        _ setup: ConversationSetup, title: String? = nil, as id: ConversationID? = nil
    ) async throws -> Conversation {
        let (time, setup, title) = (now(), kept(setup), kept(title ?? ""))
        return try await database.write { connection in
            if let id, let found = try connection.stored(id) { return found.conversation }
            let made = try connection.insert(setup, title: Line.cut(title, 200), created: time, updated: time, as: id)
            return try connection.conversation(made.id).conversation
        }
    }

    func kept(_ setup: ConversationSetup) -> ConversationSetup {
        var setup = setup
        setup.system = setup.system.map { kept($0) }
        return setup
    }

    /// The conversation with this id, deleted or not. Throws `HistoryError.notFound`.
    public func conversation(_ id: ConversationID) async throws -> Conversation {
        try await database.read { try $0.conversation(id).conversation }
    }

    /// The conversation with this id, deleted or not; nil if there is none.
    public func existing(_ id: ConversationID) async throws -> Conversation? {
        try await database.read { try $0.stored(id)?.conversation }
    }

    /// The one conversation whose id, or the letters at the end of it, begin with this text.
    ///
    /// Deleted conversations are found only with `isDeleted`. Throws `HistoryError.notFound`, or `.ambiguous` with the
    /// candidates.
    public func find(_ typed: String, isDeleted: Bool = false) async throws -> Conversation {
        if typed.isEmpty {
            throw HistoryError(.notFound, "the conversation id is empty; specify the beginning of an id")
        }
        let found = try await database.read { try $0.conversations(like: typed, isDeleted: isDeleted) }
        let word = PlainText.escape(typed.lowercased()).quotedForMessage
        guard let conversation = found.first else {
            throw HistoryError(.notFound, "no conversation id begins with \(word); 'martlet chat list' shows all")
        }
        guard found.count == 1 else {
            let names = found.prefix(5).map { "\($0.id.rawValue) (\(PlainText.escape($0.title)))" }
            let more = found.count > 5 ? " and more" : ""
            throw HistoryError(
                .ambiguous, "several conversation ids begin with \(word): \(names.joined(separator: ", "))\(more)")
        }
        return conversation
    }

    /// Renames it. The title becomes one line of at most 200 characters.
    @discardableResult
    public func rename(_ id: ConversationID, to title: String) async throws -> Conversation {
        let title = Line.cut(kept(title), 200)
        guard !title.isEmpty else { throw HistoryError(.invalid, "the title is empty; specify at least one letter") }
        return try await change(id) { try $0.run("UPDATE conversations SET title = ? WHERE id = ?", title, $1) }
    }

    /// Switches the model of the next answers, optionally with another server. Earlier answers keep theirs.
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

    /// Changes the options of a conversation for its next answers.
    ///
    /// - Parameter change: gets the stored options, in one transaction.
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

    /// The most recently changed conversation; nil if there is none.
    public func newest() async throws -> Conversation? {
        guard let newest = try await list(limit: 1).items.first else { return nil }
        guard newest.updated > now() else { return newest }
        // The clock was ahead, so the times cannot be trusted. The order of storing can.
        return try await database.read { connection in
            try connection.first(
                Connection.conversationColumns
                    + "WHERE c.deleted IS NULL ORDER BY c.head IS NULL, c.head DESC, c.id DESC LIMIT 1"
            ) { row in try Connection.conversation(row).conversation }
        }
    }

    /// Creates a conversation that shares all messages of this one up to a message, or up to the newest.
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

    /// Changes the row of a conversation and returns the result.
    func change(
        _ id: ConversationID, _ body: @escaping @Sendable (Connection, Int64) throws -> Void
    ) async throws -> Conversation {
        try await database.write { connection in
            try body(connection, connection.row(of: id))
            return try connection.conversation(id).conversation
        }
    }
}

/// A conversation with its row number.
struct StoredConversation: Sendable {
    let row: Int64
    let conversation: Conversation
}

extension Connection {
    /// The columns of a conversation: `c` is the conversation, `h` its newest message, `p` the one it was forked from.
    static let conversationColumns: SQL = """
        SELECT c.id, c.name, c.title, c.provider, c.model, c.server, c.system, c.options, c.tools, c.created, c.updated,
            c.head, h.position, c.preview, c.usage, p.name, c.deleted, c.deployment
        FROM conversations c LEFT JOIN messages h ON h.id = c.head LEFT JOIN conversations p ON p.id = c.parent

        """

    static func conversation(_ row: borrowing Row) throws -> StoredConversation {
        let position: Int? = try row[12]
        let setup = ConversationSetup(
            provider: try row[3], model: try row[4], server: try row[5], deployment: try row[17], system: try row[6],
            options: try json(row[7]), tools: try json(row[8]))
        return StoredConversation(
            row: try row[0],
            conversation: Conversation(
                id: try row[1], title: try row[2], setup: setup, created: try row[9], updated: try row[10],
                head: try row[11], messages: position.map { $0 + 1 } ?? 0, preview: try row[13],
                usage: try EntryCoder.usage(json(row[14])), parent: try row[15], deleted: try row[16]))
    }

    /// The conversations whose id or tag begins with this text, newest first; one alone whose id or tag is this text.
    /// None for empty text, which would name all.
    func conversations(like typed: String, isDeleted: Bool) throws -> [Conversation] {
        let typed = typed.lowercased()
        if typed.isEmpty { return [] }
        let column: SQL = typed.first?.isNumber == true ? "c.name" : "c.tag"
        let state: SQL = isDeleted ? "WHERE c.deleted IS NOT NULL AND " : "WHERE c.deleted IS NULL AND "
        let end = typed + "\u{10FFFF}"
        let found = try all(
            Self.conversationColumns + state + column + " >= ? AND " + column + " < ? ORDER BY c.updated DESC LIMIT 6",
            typed, end
        ) { row in try Self.conversation(row).conversation }
        return found.first { $0.id.rawValue == typed || $0.id.tag == typed }.map { [$0] } ?? found
    }

    /// Stored JSON, which may nest as deeply as the tools of a server allow.
    static func json(_ text: String) throws -> JSON {
        try JSON(parsing: text, reading: .deep)
    }

    func conversation(_ id: ConversationID) throws -> StoredConversation {
        guard let found = try stored(id) else { throw HistoryError.missing(id) }
        return found
    }

    func stored(_ id: ConversationID) throws -> StoredConversation? {
        try first(Self.conversationColumns + "WHERE c.name = ?", id) { row in try Self.conversation(row) }
    }

    func row(of id: ConversationID) throws -> Int64 {
        let found: Int64? = try first("SELECT id FROM conversations WHERE name = ?", id) { row in try row[0] }
        guard let found else { throw HistoryError.missing(id) }
        return found
    }

    /// A new conversation without messages.
    func insert(
        _ setup: ConversationSetup, title: String, created: Timestamp, updated: Timestamp, parent: Int64? = nil,
        as chosen: ConversationID? = nil
    ) throws -> (row: Int64, id: ConversationID) {
        func isTaken(_ id: ConversationID) throws -> Bool {
            try first("SELECT 1 FROM conversations WHERE tag = ?", id.tag, row: { _ in true }) != nil
        }
        var random = SystemRandomNumberGenerator()
        var id = chosen ?? ConversationID(at: created, using: &random)
        while try isTaken(id) {
            if chosen != nil { throw HistoryError.taken(id) }
            id = ConversationID(at: created, using: &random)
        }
        try run(
            """
            INSERT INTO conversations
                (name, tag, title, provider, model, server, deployment, system, options, tools, created, updated, parent)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            id, id.tag, title, setup.provider, setup.model, setup.server, setup.deployment, setup.system,
            setup.options.text(), setup.tools.text(), created, updated, parent)
        let row = try lastInsertedID
        try run(
            "UPDATE conversations SET tree = coalesce((SELECT tree FROM conversations WHERE id = ?), id) WHERE id = ?",
            parent, row)
        return (row, id)
    }

    /// Makes a message the newest of its conversation, and its text the preview.
    func setHead(_ head: MessageID, of conversation: Int64) throws {
        let text = try lastText(upTo: head)
        try run(
            "UPDATE conversations SET head = ?, preview = ? WHERE id = ?", head, Line.preview(text), conversation)
    }

    /// The newest text on the path to a message.
    private func lastText(upTo tip: MessageID) throws -> String {
        try first(
            """
            WITH RECURSIVE path (id) AS (
                SELECT ?1 UNION ALL
                SELECT m.parent FROM path JOIN messages m ON m.id = path.id WHERE m.parent IS NOT NULL AND m.text = '')
            SELECT substr(m.text, 1, 2000) FROM path JOIN messages m ON m.id = path.id WHERE m.text != ''
            """, tip
        ) { row in try row[0] as String } ?? ""
    }
}

extension History {
    /// Deletes a conversation. `restore` undoes this until it is purged. Forks of it stay whole.
    public func delete(_ id: ConversationID) async throws {
        let time = now()
        _ = try await change(id) { connection, row in
            try connection.run("UPDATE conversations SET deleted = ? WHERE id = ? AND deleted IS NULL", time, row)
        }
    }

    /// Restores a deleted conversation.
    @discardableResult
    public func restore(_ id: ConversationID) async throws -> Conversation {
        try await change(id) { try $0.run("UPDATE conversations SET deleted = NULL WHERE id = ?", $1) }
    }

    /// Permanently removes the conversations deleted before a time, and returns their number.
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

    /// Permanently removes one conversation, deleted or not. `database.erase` removes its traces from the files.
    public func purge(_ id: ConversationID) async throws {
        try await database.write { connection in
            try connection.remove(connection.row(of: id))
            try connection.sweepBlobs()
        }
    }

    /// The server sessions of conversations, by provider, that no remaining conversation uses.
    ///
    /// - Parameter id: the conversation; nil for all deleted ones.
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
    /// Assigns messages that other conversations use to those conversations, preferably ones that are not deleted.
    ///
    /// These messages stay when this conversation is removed.
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

    /// Removes a conversation with everything that only it uses.
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

/// What was left out of a conversation because it did not fit. The next command leaves out the same, and no summary is
/// made twice.
extension History {
    /// What was left out the last time, in the format of the caller. Nil if nothing was, or if there is no such
    /// conversation.
    public func cut(of id: ConversationID) async throws -> JSON? {
        try await database.read { connection in
            let text: String?? = try connection.first("SELECT cut FROM conversations WHERE name = ?", id) { row in
                try row[0] as String?
            }
            return try (text ?? nil).map(Connection.json)
        }
    }

    /// Stores what was left out; nil if nothing was. Throws `HistoryError.notFound`.
    public func set(cut: JSON?, of id: ConversationID) async throws {
        let text = cut.map { redactor?.kept($0) ?? $0 }?.text()
        _ = try await change(id) { try $0.run("UPDATE conversations SET cut = ? WHERE id = ?", text, $1) }
    }
}

public import Capabilities
import Cryptography
import JSON
import ModelKit
import ProcessKit
import StorageKit

extension History {
    /// Stores a whole message after the last one that the caller saw; nil is the beginning.
    ///
    /// A message after an older one is a branch. `entry.isBranch` reports that another message was added first.
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

    /// Begins an answer that will stream. It is stored from its first event on. Failures are reported at its end.
    ///
    /// - Parameter stored: called when the first of it is stored, from when on the draft has a `growth`.
    public func begin(
        in id: ConversationID, after parent: MessageID?, provider: String? = nil, model: String? = nil,
        stored: (@Sendable () -> Void)? = nil
    ) -> Draft {
        Draft(self, id, after: parent, provider: provider, model: model, stored: stored)
    }

    /// The messages on the path to the newest one, or to `tip`, oldest first. With a limit, only the last ones.
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

    /// All branches of a conversation, newest first.
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

/// A message to be stored.
struct NewEntry: Sendable {
    var message: Message
    var state: Entry.State = .complete
    var provider: String?
    var model: String?
    var time: Timestamp
    var start: ChatStart?
    var finish: ChatAnswer.Finish?
    var usage: Usage?
    /// The writer, while it streams.
    var lease: String?
}

extension Connection {
    /// Adds a message after another. Returns whether it became a branch.
    func insert(
        _ new: NewEntry, into conversation: Int64, after parent: MessageID?, _ placement: Placement
    ) throws -> (id: MessageID, isBranch: Bool) {
        let position = try parent.map { try self.position(of: $0, in: conversation) + 1 } ?? 0
        let found: (head: MessageID?, title: String, tree: Int64)? = try first(
            "SELECT head, title, tree FROM conversations WHERE id = ?", conversation
        ) { row in (try row[0], try row[1], try row[2]) }
        let (head, title, tree) = found ?? (nil, "", conversation)
        let id = try insert(new, into: conversation, tree: tree, after: parent, position: position)

        if title.isEmpty, new.message.role == .user {
            try run("UPDATE conversations SET title = ? WHERE id = ?", Line.title(of: new.message), conversation)
        }
        let isNewest = placement == .branch || head == parent
        if isNewest { try setHead(id, of: conversation) }
        try run("UPDATE conversations SET updated = max(updated, ?) WHERE id = ?", new.time, conversation)
        return (id, !isNewest)
    }

    /// Adds a message without changing its conversation.
    func insert(
        _ new: NewEntry, into conversation: Int64, tree: Int64, after parent: MessageID?, position: Int
    ) throws -> MessageID {
        try run(
            """
            INSERT INTO messages (conversation, tree, parent, position, role, text, provider, model, time, state)
                VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?)
            """,
            conversation, tree, parent, position, new.message.role.rawValue, new.provider, new.model, new.time,
            StateWord.streaming)
        let id = MessageID(rawValue: try lastInsertedID)
        try fill(id, with: new, isNew: true)
        return id
    }

    /// Writes all members of a message over the old ones.
    func fill(_ id: MessageID, with new: NewEntry, isNew: Bool = false) throws {
        let isStreaming = new.state == .streaming
        // A growing message can be found once it is complete.
        let text = isStreaming || new.message.role == .tool ? "" : new.message.searchableText
        if !isNew { try forget(id) }
        let (code, words): (String?, String?) =
            if case .failed(let code, let message) = new.state { (code, message) } else { (nil, nil) }
        try run(
            """
            UPDATE messages SET text = ?, parts = ?, state = ?, error_code = ?, error_message = ?, model = ?, start = ?,
                finish = ?, usage = ?, lease = ? WHERE id = ?
            """,
            text, try stored(new.message.parts, text: text, of: id), StateWord(new.state), code, words, new.model,
            new.start.map { EntryCoder.json($0).text() }, new.finish?.word,
            new.usage.map { EntryCoder.json($0).text() }, new.lease, id)
        // Texts without words too, because the index needs every row of its table.
        try run("INSERT INTO messages_text (rowid, text) VALUES (?, ?)", id, text)
    }

    /// Removes a message from the search index, which needs the indexed text, and releases its blobs.
    private func forget(_ id: MessageID) throws {
        try run(
            """
            INSERT INTO messages_text (messages_text, rowid, text)
                SELECT 'delete', id, text FROM messages WHERE id = ?
            """, id)
        try run("DELETE FROM message_blobs WHERE message = ?", id)
    }

    /// The stored parts; nil if they are only the text, which is stored anyway.
    private func stored(_ parts: [Message.Part], text: String, of id: MessageID) throws -> String? {
        if parts == [.text(text)], !text.isEmpty { return nil }
        return try blobs(of: id).json(parts).text()
    }

    /// The position of a message in its path. Throws unless it is in the tree of the conversation.
    func position(of id: MessageID, in conversation: Int64) throws -> Int {
        let found: Int? = try first(
            """
            SELECT m.position FROM messages m JOIN conversations c ON c.tree = m.tree WHERE m.id = ? AND c.id = ?
            """, id, conversation
        ) { row in try row[0] }
        guard let found else { throw HistoryError.missing(id) }
        return found
    }
}

extension Message {
    /// The text that searches cover: messages, not tool results.
    var searchableText: String {
        let texts = parts.compactMap { part -> String? in
            switch part {
            case .text(let text), .refusal(let text): text.isEmpty ? nil : text
            default: nil
            }
        }
        return texts.joined(separator: "\n")
    }
}

/// A message as its row stores it.
private struct StoredEntry {
    let id: MessageID
    let parent: MessageID?
    let role: Message.Role
    let text: String
    let parts: String?
    let provider: String?
    let model: String?
    let time: Timestamp
    let state: StateWord
    let code: String?
    let words: String?
    let start: String?
    let finish: String?
    let usage: String?
    let lease: String?
}

extension Connection {
    static let entryColumns: SQL = """
        SELECT m.id, m.parent, m.role, m.text, m.parts, m.provider, m.model, m.time, m.state, m.error_code,
            m.error_message, m.start, m.finish, m.usage, m.lease FROM messages m

        """

    /// The messages that a query over `messages m` returns.
    ///
    /// - Parameter drafts: knows which of them still stream.
    func entries<each Value: Storable>(
        _ drafts: Holdings, _ sql: SQL, _ values: repeat each Value
    ) throws -> [Entry] {
        try entries(drafts, before: "", sql, repeat each values)
    }

    /// The same with common table expressions before it.
    func entries<each Value: Storable>(
        _ drafts: Holdings, before: SQL, _ sql: SQL, _ values: repeat each Value
    ) throws -> [Entry] {
        let rows = try all(before + Self.entryColumns + sql, repeat each values) { row in
            StoredEntry(
                id: try row[0], parent: try row[1], role: Message.Role(rawValue: try row[2]) ?? .user, text: try row[3],
                parts: try row[4],
                provider: try row[5], model: try row[6], time: try row[7], state: try row[8], code: try row[9],
                words: try row[10], start: try row[11], finish: try row[12], usage: try row[13], lease: try row[14])
        }
        return try rows.map { try entry($0, drafts) }
    }

    func entry(_ id: MessageID, _ drafts: Holdings, isBranch: Bool = false) throws -> Entry {
        guard let entry = try entries(drafts, "WHERE m.id = ?", id).first else { throw HistoryError.missing(id) }
        guard isBranch else { return entry }
        return Entry(
            id: entry.id, parent: entry.parent, message: entry.message, state: entry.state, provider: entry.provider,
            model: entry.model, time: entry.time, start: entry.start, finish: entry.finish, usage: entry.usage,
            isBranch: true)
    }

    /// An unreadable message is shown as failed and does not hide the others.
    private func entry(_ row: StoredEntry, _ drafts: Holdings) throws -> Entry {
        do {
            return try readable(row, drafts)
        } catch let error where error is ValueError || error is JSONError {
            let message = "this stored message cannot be read: \(PlainText.escape("\(error)"))"
            return Entry(
                id: row.id, parent: row.parent, message: Message(row.role, []),
                state: .failed(code: HistoryError.Kind.damaged.description, message: message), provider: row.provider,
                model: row.model, time: row.time, start: nil, finish: nil, usage: Usage(), isBranch: false)
        }
    }

    private func readable(_ row: StoredEntry, _ drafts: Holdings) throws -> Entry {
        var parts: [Message.Part] = try row.parts.map { try blobs.parts(Self.json($0)) } ?? [.text(row.text)]
        if [.streaming, .interrupted].contains(row.state) {
            parts = try PartialAnswer(joining: parts + pieces(of: row.id)).parts
        }
        var state = row.state
        if state == .streaming, !drafts.isHeld(row.id.draftName, by: row.lease) { state = .interrupted }
        return Entry(
            id: row.id, parent: row.parent, message: Message(row.role, parts),
            state: state.state(code: row.code, message: row.words), provider: row.provider, model: row.model,
            time: row.time, start: try row.start.map { try EntryCoder.start(Self.json($0)) },
            finish: row.finish.map(ChatAnswer.Finish.init(word:)),
            usage: try row.usage.map { try EntryCoder.usage(Self.json($0)) } ?? Usage(), isBranch: false)
    }

    /// The stored pieces of a message.
    func pieces(of id: MessageID) throws -> [Message.Part] {
        let texts = try all("SELECT parts FROM pieces WHERE message = ? ORDER BY number", id) { row in
            try row[0] as String
        }
        return try texts.flatMap { try blobs.parts(Self.json($0)) }
    }
}

extension Connection {
    /// The coding of message parts. Equal large contents are stored only once.
    func blobs(of message: MessageID) -> MessageCoding {
        blobs { blob in
            try self.run("INSERT OR IGNORE INTO message_blobs (message, blob) VALUES (?, ?)", message, blob)
        }
    }

    /// The coding of the result of a call, in the same way.
    func blobs(of call: CallID) -> MessageCoding {
        blobs { blob in
            try self.run("INSERT OR IGNORE INTO call_blobs (call, blob) VALUES (?, ?)", call, blob)
        }
    }

    /// `use` receives the row of each blob.
    private func blobs(use: @escaping (Int64) throws -> Void) -> MessageCoding {
        MessageCoding { bytes in
            let digest = Hexadecimal.encode(Digest.sha256(bytes))
            try use(try self.row(ofBlob: digest) ?? self.insertBlob(digest, bytes))
            return digest
        } fetch: { digest in
            try self.blob(digest)
        }
    }

    /// The coding for reading parts.
    var blobs: MessageCoding { blobs(use: { _ in }) }

    private func row(ofBlob digest: String) throws -> Int64? {
        try first("SELECT id FROM blobs WHERE digest = ?", digest) { row in try row[0] as Int64 }
    }

    private func insertBlob(_ digest: String, _ bytes: [UInt8]) throws -> Int64 {
        try run("INSERT INTO blobs (digest, bytes) VALUES (?, ?)", digest, bytes)
        return try lastInsertedID
    }

    private func blob(_ digest: String) throws -> [UInt8] {
        let bytes: [UInt8]? = try first("SELECT bytes FROM blobs WHERE digest = ?", digest) { row in try row[0] }
        guard let bytes else { throw ValueError("refers to contents that are missing") }
        return bytes
    }

    /// Removes unused blobs.
    func sweepBlobs() throws {
        try run(
            """
            DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM message_blobs WHERE blob = blobs.id)
                AND NOT EXISTS (SELECT 1 FROM call_blobs WHERE blob = blobs.id)
            """)
    }
}

import Capabilities
import JSON
import ModelKit
import StorageKit

/// A message on its way into the history.
struct NewEntry: Sendable {
    var message: Message
    var state: Entry.State = .complete
    var provider: String?
    var model: String?
    var time: Timestamp
    var start: ChatStart?
    var finish: ChatAnswer.Finish?
    var usage: Usage?
    /// Who is writing it, while it streams.
    var lease: String?
}

extension Connection {
    /// Adds a message after another, and says whether it had to become a branch.
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

    /// Adds a message and leaves its conversation as it is.
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

    /// Writes all that is known of a message over what was known before.
    func fill(_ id: MessageID, with new: NewEntry, isNew: Bool = false) throws {
        let isStreaming = new.state == .streaming
        // What still grows is found once it is whole.
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
            new.start.map { EntryCoding.json($0).text() }, new.finish?.word,
            new.usage.map { EntryCoding.json($0).text() }, new.lease, id)
        // Also a text without words, for the index has to know every row of its table.
        try run("INSERT INTO messages_text (rowid, text) VALUES (?, ?)", id, text)
    }

    /// Takes a message out of the index of words, which has to be told the text that it holds, and lets go of its blobs.
    private func forget(_ id: MessageID) throws {
        try run(
            """
            INSERT INTO messages_text (messages_text, rowid, text)
                SELECT 'delete', id, text FROM messages WHERE id = ?
            """, id)
        try run("DELETE FROM message_blobs WHERE message = ?", id)
    }

    /// The parts as they are stored: nothing, where they are one text that is stored anyway.
    private func stored(_ parts: [Message.Part], text: String, of id: MessageID) throws -> String? {
        if parts == [.text(text)], !text.isEmpty { return nil }
        return try blobs(of: id).json(parts).text()
    }

    /// The place of a message in its path; throws unless it is in the tree of the conversation.
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
    /// What people look for: what was said, not what tools gave.
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

extension Line {
    /// What a conversation is called by its first message.
    static func title(of message: Message) -> String {
        let title = title(message.text)
        guard title.isEmpty else { return title }
        for case .attachment(let attachment) in message.parts { return Line.title(attachment.name) }
        return ""
    }
}

import Capabilities
import JSON
import ModelKit
import ProcessKit
import StorageKit

extension Connection {
    /// Adds what came since the last time.
    func addPiece(_ number: Int, _ parts: [Message.Part], to id: MessageID) throws {
        let text = try blobs(of: id).json(parts).text()
        try run("INSERT INTO pieces (message, number, parts) VALUES (?, ?, ?)", id, number, text)
    }

    /// Makes a message that streamed whole; the pieces have served.
    func complete(_ id: MessageID, with new: NewEntry, at time: Timestamp) throws {
        let found: (conversation: Int64, usage: String)? = try first(
            """
            SELECT c.id, c.usage FROM messages m JOIN conversations c ON c.id = m.conversation WHERE m.id = ?
            """, id
        ) { row in (try row[0], try row[1]) }
        guard let found else { throw HistoryError.missing(id) }
        try fill(id, with: new)
        try run("DELETE FROM pieces WHERE message = ?", id)
        let usage = try EntryCoding.usage(Self.json(found.usage)).adding(new.usage ?? Usage())
        try run(
            "UPDATE conversations SET usage = ?, updated = max(updated, ?) WHERE id = ?",
            EntryCoding.json(usage).text(), time, found.conversation)
        // Also of forks that lead here.
        let heads = try all("SELECT id FROM conversations WHERE head = ?", id) { row in try row[0] as Int64 }
        for conversation in heads { try setHead(id, of: conversation) }
    }

    /// Gives messages that nobody writes any more their last form, so that their words are found too.
    func settle(_ drafts: Holdings) throws {
        let streaming = try all("SELECT id, lease FROM messages WHERE state = 'streaming'") { row in
            (id: try row[0] as MessageID, lease: try row[1] as String?)
        }
        for (id, lease) in streaming where !drafts.isHeld(id.draftName, by: lease) {
            let entry = try entry(id, drafts)
            guard entry.state == .interrupted else {
                // What cannot be read is left as it is.
                try run("UPDATE messages SET state = ? WHERE id = ?", StateWord.interrupted, id)
                continue
            }
            let new = NewEntry(
                message: entry.message, state: .interrupted, model: entry.model, time: entry.time, start: entry.start)
            try complete(id, with: new, at: entry.time)
        }
    }
}

extension MessageID {
    /// By what a message is known among those that are being written.
    var draftName: String { String(rawValue) }
}

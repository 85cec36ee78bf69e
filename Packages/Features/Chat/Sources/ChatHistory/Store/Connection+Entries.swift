import Capabilities
import JSON
import ModelKit
import ProcessKit
import StorageKit

/// A message as its row has it.
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

    /// The messages that a query over `messages m` gives.
    ///
    /// - Parameter drafts: says which of them still stream.
    func entries<each Value: Storable>(
        _ drafts: Holdings, _ sql: SQL, _ values: repeat each Value
    ) throws -> [Entry] {
        try entries(drafts, before: "", sql, repeat each values)
    }

    /// The same with common tables before it.
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

    /// A message that cannot be read does not hide the others: it is shown as failed.
    private func entry(_ row: StoredEntry, _ drafts: Holdings) throws -> Entry {
        do {
            return try readable(row, drafts)
        } catch let error where error is ValueError || error is JSONError {
            let message = "what is stored of this message cannot be read: \(PlainText.escape("\(error)"))"
            return Entry(
                id: row.id, parent: row.parent, message: Message(row.role, []),
                state: .failed(code: HistoryError.Kind.damaged.description, message: message), provider: row.provider,
                model: row.model, time: row.time, start: nil, finish: nil, usage: Usage(), isBranch: false)
        }
    }

    private func readable(_ row: StoredEntry, _ drafts: Holdings) throws -> Entry {
        var parts: [Message.Part] = try row.parts.map { try blobs.parts(Self.json($0)) } ?? [.text(row.text)]
        if [.streaming, .interrupted].contains(row.state) {
            parts = try PartCollector(joining: parts + pieces(of: row.id)).parts
        }
        var state = row.state
        if state == .streaming, !drafts.isHeld(row.id.draftName, by: row.lease) { state = .interrupted }
        return Entry(
            id: row.id, parent: row.parent, message: Message(row.role, parts),
            state: state.state(code: row.code, message: row.words), provider: row.provider, model: row.model,
            time: row.time, start: try row.start.map { try EntryCoding.start(Self.json($0)) },
            finish: row.finish.map(ChatAnswer.Finish.init(word:)),
            usage: try row.usage.map { try EntryCoding.usage(Self.json($0)) } ?? Usage(), isBranch: false)
    }

    /// What has been stored of a message as it came.
    func pieces(of id: MessageID) throws -> [Message.Part] {
        let texts = try all("SELECT parts FROM pieces WHERE message = ? ORDER BY number", id) { row in
            try row[0] as String
        }
        return try texts.flatMap { try blobs.parts(Self.json($0)) }
    }
}

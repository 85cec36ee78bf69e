import Capabilities
import JSON
import ModelKit
import StorageKit

extension History {
    /// A conversation with all its messages and branches, as it is handed on.
    public func transcript(of id: ConversationID) async throws -> Transcript {
        try await database.read { [drafts] connection in
            let stored = try connection.conversation(id)
            var entries: [MessageID: Entry] = [:]
            if let head = stored.conversation.head {
                for entry in try connection.path(to: head, drafts) { entries[entry.id] = entry }
            }
            for entry in try connection.entries(drafts, "WHERE m.conversation = ?", stored.row) {
                // The way to it may lead through messages of others.
                for entry in try entries[entry.id] == nil ? connection.path(to: entry.id, drafts) : [] {
                    entries[entry.id] = entry
                }
            }
            return Transcript(
                stored.conversation, entries.values.sorted { $0.id < $1.id },
                calls: try connection.timeline(of: stored.row))
        }
    }

    /// Brings a conversation in, as a new one. Its options and what it allows tools to do are not taken over, since nobody
    /// here has chosen them; nor is a time that is yet to come, by which it would stay the newest for good.
    @discardableResult
    public func add(_ transcript: Transcript) async throws -> Conversation {
        let (now, transcript) = (now(), kept(transcript))
        return try await database.write { connection in
            let created = min(now, transcript.created ?? transcript.items.compactMap(\.time).min() ?? now)
            let updated = min(now, transcript.updated ?? transcript.items.compactMap(\.time).max() ?? now)
            let first = transcript.items.first { $0.message.role == .user }?.message
            let title = Line.cut(transcript.title ?? "", 200)
            var setup = transcript.setup
            (setup.options, setup.tools) = ([:], [:])
            let (row, id) = try connection.insert(
                setup, title: title.isEmpty ? first.map(Line.title) ?? "" : title, created: created,
                updated: updated)
            let messages = try connection.insert(transcript.items, into: row, at: created, until: now)
            if let head = transcript.head { try connection.setHead(messages[head], of: row) }
            let usage = transcript.items.reduce(Usage()) { $0.adding($1.usage ?? Usage()) }
            try connection.run(
                "UPDATE conversations SET usage = ? WHERE id = ?", EntryCoding.json(usage).text(), row)
            for call in transcript.calls { _ = try connection.note(call, in: row, at: call.started ?? created) }
            return try connection.conversation(id).conversation
        }
    }
}

extension History {
    private func kept(_ transcript: Transcript) -> Transcript {
        var transcript = transcript
        transcript.title = transcript.title.map { kept($0) }
        transcript.setup = kept(transcript.setup)
        // Nobody here has chosen these either, so that they are texts like all the others.
        transcript.setup.provider = transcript.setup.provider.map { kept($0) }
        transcript.setup.model = transcript.setup.model.map { kept($0) }
        transcript.setup.server = transcript.setup.server.map { kept($0) }
        transcript.setup.deployment = transcript.setup.deployment.map { kept($0) }
        transcript.items = transcript.items.map { kept($0) }
        transcript.calls = transcript.calls.map { kept($0) }
        return transcript
    }

    private func kept(_ item: Transcript.Item) -> Transcript.Item {
        var state = item.state
        if case .failed(let code, let message) = state { state = .failed(code: kept(code), message: kept(message)) }
        var start = item.start
        start?.id = item.start?.id.map { kept($0) }
        start?.model = item.start?.model.map { kept($0) }
        return Transcript.Item(
            parent: item.parent, kept(item.message), state: state, provider: item.provider.map { kept($0) },
            model: item.model.map { kept($0) }, time: item.time, start: start,
            finish: item.finish.map { ChatAnswer.Finish(word: kept($0.word)) }, usage: item.usage)
    }
}

extension Connection {
    /// The ids in the order of the items.
    fileprivate func insert(
        _ items: [Transcript.Item], into row: Int64, at time: Timestamp, until now: Timestamp
    ) throws -> [MessageID] {
        var (ids, positions): ([MessageID], [Int]) = ([], [])
        for item in items {
            // A session belongs to the conversation that was had in it, and a document may name any.
            let start = item.start.map { start in
                var start = start
                (start.session, start.project) = (nil, nil)
                return start
            }
            let new = NewEntry(
                message: item.message, state: item.state == .streaming ? .interrupted : item.state,
                provider: item.provider, model: item.model, time: min(now, item.time ?? time), start: start,
                finish: item.finish, usage: item.usage)
            let position = item.parent.map { positions[$0] + 1 } ?? 0
            // It is the first of its tree, whose number is its own.
            ids.append(
                try insert(new, into: row, tree: row, after: item.parent.map { ids[$0] }, position: position))
            positions.append(position)
        }
        return ids
    }
}

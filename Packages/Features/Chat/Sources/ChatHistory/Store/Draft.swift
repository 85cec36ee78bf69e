public import Capabilities
import JSON
import ModelKit
import ProcessKit
import StorageKit
import Synchronization

/// An answer that is stored while it streams.
///
/// A task of the draft stores what arrives, 150 milliseconds after the previous write. With the time for writing, a
/// killed process loses no more than its last 250 milliseconds. The reader of the stream never waits for the disk.
/// Every draft must be ended, with `finish`, `stop`, `fail` or `end`.
public final class Draft: Sendable {
    private struct State {
        /// Everything that arrived, and the part that is not stored yet.
        var all = PartialAnswer()
        var unsaved = PartialAnswer()
        /// What was taken out to be stored, as it is stored.
        var taken = PartialAnswer()
        var row: Row?
        var pieces = 0
        /// Stores what arrives. It ends by itself when nothing has arrived for a while.
        var saver: Task<Void, Never>?
        var isEnded = false
        var result: Entry?
    }

    /// The stored message. Other processes leave it alone while it is held.
    private struct Row {
        let id: MessageID
        let isBranch: Bool
        let hold: Holdings.Hold
    }

    private static let interval = Duration.milliseconds(150)

    private let history: History
    private let conversation: ConversationID
    private let parent: MessageID?
    private let provider: String?
    private let model: String?
    private let began: Timestamp
    private let stored: (@Sendable () -> Void)?
    private let state = Mutex(State())

    init(
        _ history: History, _ conversation: ConversationID, after parent: MessageID?, provider: String?,
        model: String?, stored: (@Sendable () -> Void)?
    ) {
        self.history = history
        self.conversation = conversation
        self.parent = parent
        self.provider = provider
        self.model = model
        began = history.now()
        self.stored = stored
    }

    /// Adds events. It never waits and never fails.
    public func append(_ events: [ChatEvent]) {
        state.withLock { state in
            guard !state.isEnded else { return }
            for event in events {
                state.all.add(event)
                state.unsaved.add(event)
            }
            // The draft keeps this task and awaits it at the end.
            if state.saver == nil { state.saver = Task { await self.save() } }
        }
    }
}

// MARK: What has arrived

extension Draft {
    /// An answer that grows.
    public struct Growth: Sendable {
        /// The message in the history.
        public let message: MessageID
        /// What has arrived, as it is stored. The possible beginning of a secret is left out.
        public let parts: [Message.Part]
        /// What the server has reported so far.
        public let usage: Usage?
    }

    /// What has arrived so far, more of it than is stored. Nil until the first of it is stored.
    public var growth: Growth? {
        state.withLock { state in
            guard let row = state.row else { return nil }
            var all = state.taken
            all.add(PartialAnswer(joining: state.unsaved.kept(by: history.redactor).parts))
            return Growth(message: row.id, parts: all.parts, usage: state.all.usage)
        }
    }
}

// MARK: While it streams

extension Draft {
    /// Stores new events repeatedly, with pauses, until nothing new has arrived.
    private func save() async {
        while let (parts, source, before, number, row) = nextPiece() {
            do {
                let written = try await write(parts, number, row)
                state.withLock { state in
                    state.row = written
                    state.pieces += 1
                }
                if row == nil { stored?() }
            } catch {
                // It may work next time, if space becomes free. If not, the end reports the reason.
                putBack(source, after: before)
            }
            do { try await history.clock.sleep(for: Self.interval) } catch { return }
        }
    }

    private typealias Piece = (
        parts: [Message.Part], source: PartialAnswer, before: PartialAnswer, number: Int, row: Row?
    )

    /// The next parts to store, the collector from which they were taken, and what was taken before.
    private func nextPiece() -> Piece? {
        state.withLock { state in
            // A possible beginning of a secret is stored only once more of it has arrived.
            let (parts, source, rest) = state.unsaved.kept(by: history.redactor)
            guard !state.isEnded, state.row == nil || !parts.isEmpty else {
                state.saver = nil
                return nil
            }
            state.unsaved = rest
            let before = state.taken
            state.taken.add(PartialAnswer(joining: parts))
            return (parts, source, before, state.pieces, state.row)
        }
    }

    private func putBack(_ source: PartialAnswer, after before: PartialAnswer) {
        state.withLock { state in
            state.taken = before
            let later = state.unsaved
            state.unsaved = source
            state.unsaved.add(later)
        }
    }

    private func write(_ parts: [Message.Part], _ number: Int, _ row: Row?) async throws -> Row {
        try await history.database.write { [self] connection in
            let row = try row ?? insert(into: connection, entry(Message(.assistant, []), .streaming))
            if !parts.isEmpty { try connection.addPiece(number, parts, to: row.id) }
            return row
        }
    }

    private func insert(into connection: Connection, _ entry: NewEntry) throws -> Row {
        try connection.settle(history.drafts)
        let (id, isBranch) = try connection.insert(
            entry, into: connection.row(of: conversation), after: parent, .next)
        return Row(id: id, isBranch: isBranch, hold: history.drafts.hold(id.draftName))
    }

    private func entry(_ message: Message, _ state: Entry.State) -> NewEntry {
        NewEntry(
            message: history.kept(message), state: state, provider: provider, model: model, time: began,
            lease: state == .streaming ? history.drafts.holder : nil)
    }
}

// MARK: The end

extension Draft {
    /// Replaces the stored pieces by the whole answer.
    @discardableResult
    public func finish(_ answer: ChatAnswer) async throws -> Entry {
        try await end(
            answer.message, answer.finish == .length ? .truncated : .complete, start: answer.start,
            finish: answer.finish, usage: answer.usage)
    }

    /// The user stopped the answer. What arrived is stored, unless `message` is given.
    @discardableResult
    public func stop(_ message: Message? = nil) async throws -> Entry {
        try await end(message, .stopped)
    }

    /// The answer is incomplete. What arrived is stored with the reason, unless `message` is given.
    @discardableResult
    public func fail(_ error: any Error, _ message: Message? = nil) async throws -> Entry {
        let failure = AnyFailure(error)
        return try await end(message, .failed(code: failure.code, message: history.kept(failure.message)))
    }

    /// Ends the draft in any state. It also works in a cancelled task, and a second end changes nothing.
    ///
    /// Throws `HistoryError.notSaved` if the answer could not be stored. The end can then be tried again.
    @discardableResult
    public func end(
        _ message: Message?, _ ending: Entry.State, start: ChatStart? = nil, finish: ChatAnswer.Finish? = nil,
        usage: Usage? = nil
    ) async throws -> Entry {
        let (saver, all, result) = state.withLock { state in
            state.isEnded = true
            return (state.saver, state.all, state.result)
        }
        if let result { return result }
        saver?.cancel()
        await saver?.value

        var new = entry(message ?? Message(.assistant, all.parts), ending)
        new.start = start ?? all.start
        new.model = new.start?.model ?? model
        new.finish = finish
        new.usage = usage ?? all.usage
        do {
            // The streaming task may have been cancelled.
            let entry = try await shielded { [self, new] in try await store(new) }
            state.withLock { $0.result = entry }
            return entry
        } catch {
            throw HistoryError(
                .notSaved, "the answer could not be stored: \(AnyFailure(error).message)", cause: error)
        }
    }

    private func store(_ new: NewEntry) async throws -> Entry {
        let row = state.withLock { $0.row }
        // The hold also ends if storing failed, because nobody writes the message any more.
        defer { row?.hold.giveBack() }
        let time = history.now()
        return try await history.database.write { [self] connection in
            var begun = new
            begun.usage = nil
            let row = try row ?? insert(into: connection, begun)
            try connection.complete(row.id, with: new, at: time)
            return try connection.entry(row.id, history.drafts, isBranch: row.isBranch)
        }
    }
}

extension Connection {
    /// Adds the events since the last piece.
    func addPiece(_ number: Int, _ parts: [Message.Part], to id: MessageID) throws {
        let text = try blobs(of: id).json(parts).text()
        try run("INSERT INTO pieces (message, number, parts) VALUES (?, ?, ?)", id, number, text)
    }

    /// Completes a streamed message and removes its pieces.
    func complete(_ id: MessageID, with new: NewEntry, at time: Timestamp) throws {
        let found: (conversation: Int64, usage: String)? = try first(
            """
            SELECT c.id, c.usage FROM messages m JOIN conversations c ON c.id = m.conversation WHERE m.id = ?
            """, id
        ) { row in (try row[0], try row[1]) }
        guard let found else { throw HistoryError.missing(id) }
        try fill(id, with: new)
        try run("DELETE FROM pieces WHERE message = ?", id)
        let usage = try EntryCoder.usage(Self.json(found.usage)).adding(new.usage ?? Usage())
        try run(
            "UPDATE conversations SET usage = ?, updated = max(updated, ?) WHERE id = ?",
            EntryCoder.json(usage).text(), time, found.conversation)
        // Also of forks that lead here.
        let heads = try all("SELECT id FROM conversations WHERE head = ?", id) { row in try row[0] as Int64 }
        for conversation in heads { try setHead(id, of: conversation) }
    }

    /// Completes messages that are no longer being written, so that searches find them too.
    func settle(_ drafts: Holdings) throws {
        let streaming = try all("SELECT id, lease FROM messages WHERE state = 'streaming'") { row in
            (id: try row[0] as MessageID, lease: try row[1] as String?)
        }
        for (id, lease) in streaming where !drafts.isHeld(id.draftName, by: lease) {
            let entry = try entry(id, drafts)
            guard entry.state == .interrupted else {
                // An unreadable message is not changed.
                try run("UPDATE messages SET state = ? WHERE id = ?", StateWord.interrupted, id)
                continue
            }
            let new = NewEntry(
                message: entry.message, state: .interrupted, model: entry.model, time: entry.time, start: entry.start)
            try complete(id, with: new, at: entry.time)
        }
    }
}

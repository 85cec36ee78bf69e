public import Capabilities
import ProcessKit
import StorageKit
import Synchronization

/// An answer that is being written down while it streams.
///
/// What arrives is stored by a task of the draft's own, 150 milliseconds after what came before it was. With the time
/// that writing takes, a process that is killed loses no more than its last 250 milliseconds. Nobody who streams ever
/// waits for the disk. Every draft has to be ended, by `finish`, `stop`, `fail` or `end`.
public final class Draft: Sendable {
    private struct State {
        /// All that came, and what of it is not stored yet.
        var all = PartCollector()
        var unsaved = PartCollector()
        var row: Row?
        var pieces = 0
        /// Stores what comes; ends by itself when nothing has come for a while.
        var saver: Task<Void, Never>?
        var isEnded = false
        var result: Entry?
    }

    /// The message, which others leave alone until its hold is given back.
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
    private let state = Mutex(State())

    init(
        _ history: History, _ conversation: ConversationID, after parent: MessageID?, provider: String?, model: String?
    ) {
        self.history = history
        self.conversation = conversation
        self.parent = parent
        self.provider = provider
        self.model = model
        began = history.now()
    }

    /// Takes what happened. It never waits and never fails.
    public func append(_ events: [ChatEvent]) {
        state.withLock { state in
            guard !state.isEnded else { return }
            for event in events {
                state.all.add(event)
                state.unsaved.add(event)
            }
            // The draft keeps this task and awaits it when it ends.
            if state.saver == nil { state.saver = Task { await self.save() } }
        }
    }
}

// MARK: While it streams

extension Draft {
    /// Stores what there is, again and again with a pause between, until nothing new has come.
    private func save() async {
        while let (parts, source, number, row) = nextPiece() {
            do {
                let row = try await write(parts, number, row)
                state.withLock { state in
                    state.row = row
                    state.pieces += 1
                }
            } catch {
                // It may work next time, when somebody has made space. If not, the end tells why.
                putBack(source)
            }
            do { try await history.clock.sleep(for: Self.interval) } catch { return }
        }
    }

    /// What is to be stored, and what it was taken from.
    private func nextPiece() -> (parts: [Message.Part], source: PartCollector, number: Int, row: Row?)? {
        state.withLock { state in
            // What may be the beginning of a secret is stored once more of it has come.
            let (parts, source, rest) = state.unsaved.kept(by: history.redactor)
            guard !state.isEnded, state.row == nil || !parts.isEmpty else {
                state.saver = nil
                return nil
            }
            state.unsaved = rest
            return (parts, source, state.pieces, state.row)
        }
    }

    private func putBack(_ source: PartCollector) {
        state.withLock { state in
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
    /// The whole answer takes the place of what was stored of it.
    @discardableResult
    public func finish(_ answer: ChatAnswer) async throws -> Entry {
        try await end(
            answer.message, answer.finish == .length ? .truncated : .complete, start: answer.start,
            finish: answer.finish, usage: answer.usage)
    }

    /// The person has had enough; what arrived is kept, unless `message` is given instead.
    @discardableResult
    public func stop(_ message: Message? = nil) async throws -> Entry {
        try await end(message, .stopped)
    }

    /// There is no whole answer; what arrived is kept with the reason, unless `message` is given instead.
    @discardableResult
    public func fail(_ error: any Error, _ message: Message? = nil) async throws -> Entry {
        let failure = AnyFailure(error)
        return try await end(message, .failed(code: failure.code, message: history.kept(failure.message)))
    }

    /// Ends it in any way. It works in a task that was cancelled, too, and a second end changes nothing.
    ///
    /// Throws `HistoryError.notSaved` when the answer could not be stored, after which ending it can be tried again.
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
            // A task of its own, which is awaited here, because the one that streamed may have been cancelled.
            let entry = try await Task { [new] in try await store(new) }.value
            state.withLock { $0.result = entry }
            return entry
        } catch {
            throw HistoryError(
                .notSaved, "the answer could not be stored: \(AnyFailure(error).message)", cause: error)
        }
    }

    private func store(_ new: NewEntry) async throws -> Entry {
        let row = state.withLock { $0.row }
        // Also where its end cannot be stored: nobody writes it any more.
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

public import Capabilities
import JSON
import ModelKit
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

/// Makes parts of what comes piece by piece.
struct PartCollector: Sendable {
    private enum Kind { case text, reasoning, refusal }

    private var done: [Message.Part] = []
    /// The text that still grows, apart from the rest, so that appending never copies it.
    private var growing = ""
    private var kind: Kind?
    /// The beginning, as it came, of the thought that grows, where it was taken out to be stored.
    private var taken = ""

    private(set) var start: ChatStart?
    private(set) var usage: Usage?

    init() {}

    /// Pieces that were stored one after the other, as one.
    init(joining parts: [Message.Part]) {
        for part in parts { add(part) }
    }

    var isEmpty: Bool { done.isEmpty && kind == nil }

    var parts: [Message.Part] {
        guard let kind else { return done }
        return done + [Self.part(kind, growing)]
    }

    /// What can be stored now, what it was taken from, and what waits for more.
    func kept(by redactor: Redactor?) -> (parts: [Message.Part], source: PartCollector, rest: PartCollector) {
        var stored = redactor?.kept(Message(.assistant, done)).parts ?? done
        var (source, rest) = (self, PartCollector())
        guard let kind else {
            if done.isEmpty { rest.taken = taken }
            return (stored, source, rest)
        }
        let (kept, waiting) = redactor?.keptSoFar(growing) ?? (growing, "")
        if !kept.isEmpty { stored.append(Self.part(kind, kept)) }
        if !waiting.isEmpty {
            (rest.kind, rest.growing) = (kind, waiting)
            source.growing = String(decoding: growing.utf8.dropLast(waiting.utf8.count), as: UTF8.self)
            if source.growing.isEmpty { source.kind = nil }
        }
        if kind == .reasoning { rest.taken = taken + source.growing }
        return (stored, source, rest)
    }

    /// What came since, behind what could not be stored.
    mutating func add(_ more: PartCollector) {
        for part in more.parts { add(part) }
    }

    mutating func add(_ event: ChatEvent) {
        switch event {
        case .began(let start): self.start = start
        case .text(let text): grow(.text, text)
        case .reasoning(let text): grow(.reasoning, text)
        case .thought(let end):
            // Its text grew until here, and what proves it goes with all of that: also with what is stored already, since
            // a thought that is not as the provider said it is refused.
            var thought = end
            if isThinking {
                thought.text = end.isProven ? taken + growing : growing
                (kind, growing) = (nil, "")
            }
            finish(.reasoning(thought))
        case .refusal(let text): grow(.refusal, text)
        case .call(let call): finish(.call(call))
        case .malformedCall(let call): finish(.malformedCall(call))
        case .result(let result): finish(.result(result))
        case .usage(let usage): self.usage = usage
        case .calling, .notice: break
        }
    }

    private mutating func add(_ part: Message.Part) {
        switch part {
        case .text(let text): grow(.text, text)
        case .refusal(let text): grow(.refusal, text)
        case .reasoning(let thought) where !thought.isProven: grow(.reasoning, thought.text)
        case .reasoning(let thought) where isThinking: finish(with: thought)
        default: finish(part)
        }
    }

    /// A thought whose beginning was stored before it ended stands there whole once more. What does not begin like that is
    /// only the rest of one, as versions before this one stored it; it proves nothing then.
    private mutating func finish(with thought: Reasoning) {
        // One without any text is sealed as a whole.
        if thought.signature == nil, thought.text.isEmpty { return finish(.reasoning(thought)) }
        guard thought.text.utf8.starts(with: (taken + growing).utf8) else { return grow(.reasoning, thought.text) }
        (kind, growing) = (nil, "")
        finish(.reasoning(thought))
    }

    /// Whether a thought grows, or all that came of it was taken out.
    private var isThinking: Bool { kind == .reasoning || kind == nil && !taken.isEmpty }

    private mutating func grow(_ kind: Kind, _ text: String) {
        if kind != self.kind {
            close()
            if kind != .reasoning { taken = "" }
        }
        self.kind = kind
        growing += text
    }

    private mutating func finish(_ part: Message.Part) {
        close()
        taken = ""
        done.append(part)
    }

    private mutating func close() {
        guard let kind else { return }
        done.append(Self.part(kind, growing))
        self.kind = nil
        growing = ""
        taken = ""
    }

    private static func part(_ kind: Kind, _ text: String) -> Message.Part {
        switch kind {
        case .text: .text(text)
        case .reasoning: .reasoning(Reasoning(text))
        case .refusal: .refusal(text)
        }
    }
}

extension Reasoning {
    /// Whether it has ended with what the provider wants back, together with every word of it.
    fileprivate var isProven: Bool { signature != nil || sealed != nil }
}

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

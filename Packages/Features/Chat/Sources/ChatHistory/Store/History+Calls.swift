public import Capabilities
import JSON
import ModelKit
public import StorageKit

extension History {
    /// Stores the state of a call, in a new row or in its existing row.
    @discardableResult
    public func note(_ call: CallEntry, in id: ConversationID) async throws -> CallEntry {
        let (time, call) = (now(), kept(call))
        return try await database.write { connection in
            try connection.note(call, in: connection.row(of: id), at: time)
        }
    }

    func kept(_ entry: CallEntry) -> CallEntry {
        guard let redactor else { return entry }
        var entry = entry
        entry.call = redactor.kept(entry.call)
        entry.source = entry.source.map { redactor.kept($0) }
        entry.decision = entry.decision.map { redactor.kept($0) }
        entry.result = entry.result.map(redactor.kept)
        return entry
    }

    /// A call of a conversation; nil if it has none with this id.
    public func call(_ call: CallID, of id: ConversationID) async throws -> CallEntry? {
        try await database.read { try $0.timeline(of: $0.row(of: id), from: call, through: call).first }
    }

    /// All calls of a conversation in order, including earlier ones of the conversations that it was forked from.
    public func timeline(of id: ConversationID) async throws -> [CallEntry] {
        try await database.read { try $0.timeline(of: $0.row(of: id)) }
    }
}

extension Connection {
    func note(_ call: CallEntry, in conversation: Int64, at time: Timestamp) throws -> CallEntry {
        var call = call
        if call.id == nil {
            try run(
                "INSERT INTO calls (conversation, call, state, time) VALUES (?, '{}', ?, ?)", conversation, call.state,
                time)
            call.id = CallID(rawValue: try lastInsertedID)
        }
        guard let id = call.id else { return call }
        try run("DELETE FROM call_blobs WHERE call = ?", id)
        let coding = blobs(of: id)
        try run(
            """
            UPDATE calls SET call = ?, source = ?, effect = ?, state = ?, decision = ?, result = ?, started = ?, ended = ?
                WHERE id = ? AND conversation = ?
            """,
            coding.json(call.call).text(), call.source, call.effect?.rawValue, call.state, call.decision,
            try call.result.map { try coding.json($0).text() }, call.started, call.ended, id, conversation)
        return call
    }

    /// The calls in order: all from `first` through `last`, or only the newest of them.
    func timeline(
        of conversation: Int64, from first: CallID? = nil, through last: CallID? = nil, limit: Int? = nil
    ) throws -> [CallEntry] {
        let rows = try all(
            """
            WITH RECURSIVE line (id, until) AS (
                SELECT ?1, 9223372036854775807 UNION ALL
                SELECT c.parent, min(line.until, c.created) FROM line JOIN conversations c ON c.id = line.id
                    WHERE c.parent IS NOT NULL)
            SELECT calls.id, call, source, effect, state, decision, result, started, ended
                FROM line JOIN calls ON calls.conversation = line.id AND calls.time <= line.until
                WHERE calls.id BETWEEN coalesce(?2, 0) AND coalesce(?4, 9223372036854775807)
                ORDER BY calls.id DESC LIMIT ?3
            """, conversation, first, limit ?? -1, last
        ) { row in
            let call = try MessageCoding.inline.call(Self.json(row[1]))
            let effect: String? = try row[3]
            var entry = CallEntry(
                call, try row[4], source: try row[2], effect: effect.flatMap(Effect.init), decision: try row[5],
                started: try row[7], ended: try row[8])
            entry.id = try row[0]
            return (entry, try row[6] as String?)
        }
        return try rows.reversed().map { entry, result in
            var entry = entry
            entry.result = try result.map { try blobs.result(Self.json($0)) }
            return entry
        }
    }
}

/// A tool call with its whole input and output.
public struct CallEntry: Sendable, Hashable {
    /// Its id in the history; nil until it is stored. The ids of models are not unique.
    public var id: CallID?
    /// The call as the model requested it, with its whole input.
    public var call: ToolCall
    /// The source of the tool.
    public var source: String?
    /// The effect of the tool; nil if it is not known.
    public var effect: Effect?
    /// How far the call got.
    public var state: State
    /// Whether it was allowed or denied, in a word.
    public var decision: String?
    /// The whole result; the model may have received less.
    public var result: ToolResult?
    /// When it began to run; nil if it never did.
    public var started: Timestamp?
    /// When it ended; nil until then.
    public var ended: Timestamp?

    /// The state of a call. It waits for approval, and runs only once it is approved.
    public enum State: String, Choice, Hashable { case waiting, approved, denied, running, done, failed }

    /// A call that is not stored yet; `History.note` gives it an id.
    public init(
        _ call: ToolCall, _ state: State, source: String? = nil, effect: Effect? = nil, decision: String? = nil,
        result: ToolResult? = nil, started: Timestamp? = nil, ended: Timestamp? = nil
    ) {
        self.call = call
        self.state = state
        self.source = source
        self.effect = effect
        self.decision = decision
        self.result = result
        self.started = started
        self.ended = ended
    }
}

/// The id of a call, unique in the history.
public struct CallID: RawRepresentable, Sendable, Hashable, Storable {
    /// The number of the call's row.
    public let rawValue: Int64

    /// - Parameter rawValue: a number that the history gave out.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

extension CallEntry.State: Storable {}

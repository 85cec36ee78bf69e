public import Capabilities
import FileKit
import JSON
import StorageKit
import TraceKit

/// How it stands with a collector.
public struct CollectorState: Sendable {
    /// How many spans wait to be sent.
    public var waiting = 0
    /// How many it has taken.
    public var sent = 0
    /// How many it has refused for good.
    public var refused = 0
    /// How many were removed before they could be sent.
    public var expired = 0
    /// How often in a row it could not be reached.
    public var attempts = 0
    /// Nothing is sent before this time.
    public var next: Timestamp?
    /// Why nothing can be sent at the moment.
    public var problem: String?
    /// Why something was refused the last time, or left out, and when.
    public var refusal: (reason: String, time: Timestamp)?

    /// Nothing was sent, and nothing waits.
    public init() {}
}

// The database is the queue of spans on their way to a collector: what waits is a row that names a span, so that it takes little
// more room than the span, and is removed with it.
extension TraceStore {
    /// How it stands with the collector at an address.
    public func state(ofCollector address: String) async throws -> CollectorState {
        guard Files.exists(database.path) else { return CollectorState() }
        return try await database.read { connection in
            let found = try connection.first(
                """
                SELECT sent, refused, expired, attempts, next, problem, refusal, refused_at,
                    (SELECT count(*) FROM unsent WHERE collector = c.number) FROM collectors AS c WHERE address = ?
                """, address
            ) { row in
                var state = CollectorState()
                (state.sent, state.refused, state.expired) = (try row[0], try row[1], try row[2])
                (state.attempts, state.next, state.problem) = (try row[3], try row[4], try row[5])
                if let reason = try row[6] as String?, let time = try row[7] as Timestamp? {
                    state.refusal = (reason, time)
                }
                state.waiting = try row[8]
                return state
            }
            return found ?? CollectorState()
        }
    }

    /// The spans that have waited longest for a collector.
    public func waiting(forCollector address: String, limit: Int) async throws -> [StoredSpan] {
        guard Files.exists(database.path) else { return [] }
        return try await database.read { connection in
            var programs = ProgramCache()
            return try connection.all(
                """
                SELECT s.line, r.attributes, s.received FROM unsent AS u JOIN collectors AS c ON c.number = u.collector
                    JOIN spans AS s ON s.trace = u.trace AND s.span = u.span
                    JOIN resources AS r ON r.number = s.resource
                    WHERE c.address = ? ORDER BY u.number LIMIT ?
                """, address, limit
            ) { row in try StoredSpan(row, &programs) }
        }
    }

    /// Takes note of spans that a collector has got. They wait no longer.
    ///
    /// - Parameters:
    ///   - refused: how many of them it has refused for good.
    ///   - reason: why, or what else it has said.
    public func hasGot(
        _ spans: [StoredSpan], collector address: String, refused: Int, because reason: String?
    ) async throws {
        let time = now()
        try await database.write { connection in
            let number = try connection.collector(address, at: time)
            for stored in spans {
                let context = stored.span.context
                try connection.run(
                    "DELETE FROM unsent WHERE trace = ? AND span = ? AND collector = ?", context.trace.bytes,
                    context.span.bytes, number)
            }
            try connection.run(
                """
                UPDATE collectors SET sent = sent + ?2, refused = refused + ?3, problem = NULL, attempts = 0, next = NULL,
                    refusal = coalesce(?4, refusal), refused_at = iif(?4 IS NULL, refused_at, ?5)
                    WHERE number = ?1
                """, number, spans.count - refused, refused, reason, time)
        }
    }

    /// Takes note that a collector cannot be reached until a time.
    public func postpone(collector address: String, until time: Timestamp, because problem: String) async throws {
        let now = now()
        try await database.write { connection in
            let number = try connection.collector(address, at: now)
            try connection.run(
                "UPDATE collectors SET attempts = attempts + 1, next = ?, problem = ? WHERE number = ?", time, problem,
                number)
        }
    }
}

extension Connection {
    /// The number of a collector, which is added if it is new.
    func collector(_ address: String, at time: Timestamp) throws -> Int {
        try run(
            """
            INSERT INTO collectors (address, used) VALUES (?, ?)
                ON CONFLICT (address) DO UPDATE SET used = max(used, excluded.used)
            """, address, time)
        return try first("SELECT number FROM collectors WHERE address = ?", address) { try $0[0] as Int } ?? 0
    }

    /// Lets a span wait for a collector.
    func enqueue(_ span: TraceSpan, for collector: Int) throws {
        try run(
            "INSERT OR IGNORE INTO unsent (collector, trace, span) VALUES (?, ?, ?)", collector,
            span.context.trace.bytes, span.context.span.bytes)
    }

    /// Forgets collectors that were not used since a time.
    func forgetCollectors(before time: Timestamp) throws {
        try run(
            """
            DELETE FROM collectors WHERE used < ?
                AND NOT EXISTS (SELECT 1 FROM unsent WHERE collector = collectors.number)
            """, time)
    }

    /// Lets the spans of a trace wait for no collector any more.
    func dequeue(_ trace: [UInt8], isExpired: Bool) throws {
        if isExpired {
            try run(
                """
                UPDATE collectors SET expired = expired + (
                    SELECT count(*) FROM unsent WHERE trace = ?1 AND collector = collectors.number)
                    WHERE number IN (SELECT collector FROM unsent WHERE trace = ?1)
                """, trace)
        }
        try run("DELETE FROM unsent WHERE trace = ?", trace)
    }
}

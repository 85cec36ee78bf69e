public import Capabilities
import FileKit
import JSON
public import StorageKit
public import TraceKit

/// How it stands with a collector.
public struct CollectorState: Sendable {
    /// How many spans or entries of the log wait to be sent.
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

/// What waits in the database for a collector: a span, or an entry of the log.
public protocol QueuedItem: Sendable {
    /// What they are to the collector.
    static var signal: OTLPSignal { get }
    /// Those of a collector that have waited longest.
    static func waiting(for collector: Int, limit: Int, in connection: Connection) throws -> [Self]
    /// Waits for the collector no longer.
    func dequeue(from collector: Int, in connection: Connection) throws
}

extension StoredSpan: QueuedItem {
    public static var signal: OTLPSignal { .traces }

    public static func waiting(for collector: Int, limit: Int, in connection: Connection) throws -> [StoredSpan] {
        var programs = ProgramCache()
        return try connection.all(
            """
            SELECT s.line, s.resource, s.received FROM unsent AS u
                JOIN spans AS s ON s.trace = u.trace AND s.span = u.span
                WHERE u.collector = ? ORDER BY u.number LIMIT ?
            """, collector, limit
        ) { row in try StoredSpan(row, &programs, connection) }
    }

    public func dequeue(from collector: Int, in connection: Connection) throws {
        try connection.run(
            "DELETE FROM unsent WHERE trace = ? AND span = ? AND collector = ?", span.context.trace.bytes,
            span.context.span.bytes, collector)
    }
}

extension StoredLog: QueuedItem {
    public static var signal: OTLPSignal { .logs }

    public static func waiting(for collector: Int, limit: Int, in connection: Connection) throws -> [StoredLog] {
        var programs = ProgramCache()
        return try connection.all(
            TraceStore.columns
                + """
                 FROM unsent_logs AS u JOIN logs AS l ON l.number = u.log JOIN resources AS r ON r.number = l.resource
                    WHERE u.collector = ? ORDER BY u.number LIMIT ?
                """, collector, limit
        ) { row in try StoredLog(row, &programs) }
    }

    public func dequeue(from collector: Int, in connection: Connection) throws {
        try connection.run("DELETE FROM unsent_logs WHERE log = ? AND collector = ?", number, collector)
    }
}

// The database is the queue of what is on its way to a collector: what waits is a row that names a span or an entry of the log, so
// that it takes little more room than that, and is removed with it. Metrics are not kept: their totals are read again.
extension TraceStore {
    /// How it stands with the collector of a signal at an address.
    public func state(of signal: OTLPSignal, forCollector address: String) async throws -> CollectorState {
        guard Files.exists(database.path) else { return CollectorState() }
        return try await database.read { connection in
            let found = try connection.first(
                """
                SELECT sent, refused, expired, attempts, next, problem, refusal, refused_at,
                    (SELECT count(*) FROM unsent WHERE collector = c.number)
                        + (SELECT count(*) FROM unsent_logs WHERE collector = c.number)
                    FROM collectors AS c WHERE address = ? AND signal = ?
                """, address, signal.rawValue
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

    /// The spans or entries of the log that have waited longest for a collector.
    public func waiting<Item: QueuedItem>(
        _ kind: Item.Type, forCollector address: String, limit: Int
    ) async throws -> [Item] {
        guard Files.exists(database.path) else { return [] }
        return try await database.read { connection in
            let number = try connection.first(
                "SELECT number FROM collectors WHERE address = ? AND signal = ?", address, Item.signal.rawValue
            ) { try $0[0] as Int }
            return try number.map { try Item.waiting(for: $0, limit: limit, in: connection) } ?? []
        }
    }

    /// Takes note of items that a collector has got. They wait no longer.
    ///
    /// - Parameters:
    ///   - refused: how many of them it has refused for good.
    ///   - reason: why, or what else it has said.
    public func hasGot<Item: QueuedItem>(
        _ items: [Item], collector address: String, refused: Int, because reason: String?
    ) async throws {
        let time = now()
        try await database.write { connection in
            let number = try connection.collector(address, Item.signal, at: time)
            for item in items { try item.dequeue(from: number, in: connection) }
            try connection.count(sent: items.count - refused, refused, because: reason, collector: number, at: time)
        }
    }

    /// Takes note of what a collector has got that did not wait here.
    public func hasGot(
        count: Int, of signal: OTLPSignal, collector address: String, refused: Int, because reason: String?
    ) async throws {
        let time = now()
        try await database.write { connection in
            let number = try connection.collector(address, signal, at: time)
            try connection.count(sent: count - refused, refused, because: reason, collector: number, at: time)
        }
    }

    /// Takes note that a collector cannot be reached until a time.
    public func postpone(
        _ signal: OTLPSignal, collector address: String, until time: Timestamp, because problem: String
    ) async throws {
        let now = now()
        try await database.write { connection in
            let number = try connection.collector(address, signal, at: now)
            try connection.run(
                "UPDATE collectors SET attempts = attempts + 1, next = ?, problem = ? WHERE number = ?", time, problem,
                number)
        }
    }
}

extension Connection {
    /// The number of a collector, which is added if it is new.
    func collector(_ address: String, _ signal: OTLPSignal, at time: Timestamp) throws -> Int {
        try run(
            """
            INSERT INTO collectors (address, signal, used) VALUES (?, ?, ?)
                ON CONFLICT (address, signal) DO UPDATE SET used = max(used, excluded.used)
            """, address, signal.rawValue, time)
        return try first(
            "SELECT number FROM collectors WHERE address = ? AND signal = ?", address, signal.rawValue
        ) { try $0[0] as Int } ?? 0
    }

    fileprivate func count(
        sent: Int, _ refused: Int, because reason: String?, collector: Int, at time: Timestamp
    ) throws {
        try run(
            """
            UPDATE collectors SET sent = sent + ?2, refused = refused + ?3, problem = NULL, attempts = 0, next = NULL,
                refusal = coalesce(?4, refusal), refused_at = iif(?4 IS NULL, refused_at, ?5)
                WHERE number = ?1
            """, collector, sent, refused, reason, time)
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
                AND NOT EXISTS (SELECT 1 FROM unsent_logs WHERE collector = collectors.number)
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

    /// Lets entries of the log that were removed wait for no collector any more.
    func dequeueRemovedLogs(isExpired: Bool) throws {
        if isExpired {
            try run(
                """
                UPDATE collectors SET expired = expired + (
                    SELECT count(*) FROM unsent_logs AS u WHERE collector = collectors.number
                        AND NOT EXISTS (SELECT 1 FROM logs WHERE number = u.log))
                    WHERE number IN (SELECT collector FROM unsent_logs)
                """)
        }
        try run("DELETE FROM unsent_logs WHERE NOT EXISTS (SELECT 1 FROM logs WHERE logs.number = unsent_logs.log)")
    }
}

public import Capabilities
public import JSON
import StorageKit
import TraceKit

/// Which entries of the log are wanted.
public struct LogQuery: PagedQuery {
    /// Only those at or after this time.
    public var since: Timestamp?
    /// Only those before this time.
    public var until: Timestamp?
    /// Only those that matter at least so much.
    public var level = LogLevel.debug
    /// Only those of this feature or library.
    public var scope: String?
    /// Only those of this program.
    public var service: String?
    /// Only those whose message contains this text.
    public var text: String?
    /// Only those of the trace with this id.
    public var trace: String?
    /// How many are wanted, the newest first.
    public var limit = 50
    /// How many of the newest are left out.
    public var offset = 0

    /// All of them, in pages.
    public init() {}
}

/// An entry of the log in the database.
public struct StoredLog: Sendable {
    /// What was told.
    public let log: LogRecord
    /// What the process is.
    public let resource: JSONObject
    /// Whether another program has sent it here.
    public let isReceived: Bool
    /// Its number in the database; 0 if it is not there.
    let number: Int

    /// An entry of a process.
    public init(log: LogRecord, resource: JSONObject) {
        (self.log, self.resource, isReceived, number) = (log, resource, false, 0)
    }
}

extension TraceStore {
    /// Entries of the log, the newest first, and how many there are in all.
    public func logs(_ query: LogQuery) async throws -> (logs: [StoredLog], total: Int) {
        guard !isEmpty else { return ([], 0) }
        try await takeSpools()
        let condition: SQL = """
             FROM logs AS l JOIN resources AS r ON r.number = l.resource
                WHERE (?1 IS NULL OR l.time >= ?1) AND (?2 IS NULL OR l.time < ?2) AND l.level >= ?3
                AND (?4 IS NULL OR l.scope = ?4) AND (?5 IS NULL OR r.attributes ->> '$."service.name"' = ?5)
                AND (?6 IS NULL OR l.message LIKE ?6 ESCAPE '\\') AND (?7 IS NULL OR l.trace = ?7)
            """
        let text = query.text.map(Self.pattern)
        let trace = query.trace.flatMap(Hexadecimal.decode)
        return try await database.read { connection in
            let total = try connection.first(
                "SELECT count(*)" + condition, query.since, query.until, query.level.severity, query.scope,
                query.service, text, trace
            ) { row in try row[0] as Int }
            var programs = ProgramCache()
            let found = try connection.all(
                Self.columns + condition + " ORDER BY l.time DESC, l.number DESC LIMIT ?8 OFFSET ?9", query.since,
                query.until, query.level.severity, query.scope, query.service, text, trace, max(0, query.limit),
                max(0, query.offset)
            ) { row in try StoredLog(row, &programs) }
            return (found, total ?? 0)
        }
    }

    /// A text as a pattern of SQL that finds it anywhere.
    static func pattern(_ text: String) -> String {
        "%\(text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_"))%"
    }

    /// What `StoredLog.init` reads.
    static var columns: SQL {
        "SELECT l.time, l.level, l.scope, l.message, l.attributes, l.trace, l.span, r.attributes, l.received, l.number"
    }

    /// Adds entries of the log that other programs have sent.
    ///
    /// - Returns: roughly their bytes.
    public func add(receivedLogs groups: [(resource: JSONObject, logs: [LogRecord])]) async throws -> Int {
        let time = now()
        return try await database.write { connection in
            try groups.reduce(0) { sum, group in
                try sum + connection.add(group.logs, of: group.resource, at: time, isReceived: true)
            }
        }
    }

    /// The part of a budget for traces that the log may have, and that metrics may have.
    static let share = 8

    /// Removes entries that are too old, and the oldest of too many.
    func pruneLogs(before oldest: Timestamp, _ budget: Budget) async throws {
        try await database.write { connection in
            var removed = try connection.run("DELETE FROM logs WHERE added < ?", oldest)
            for (isReceived, most) in [(false, budget.bytes / Self.share), (true, budget.received / Self.share)] {
                removed += try connection.removeLogs(over: most, isReceived: isReceived)
            }
            if removed > 0 { try connection.dequeueRemovedLogs(isExpired: true) }
        }
    }
}

extension Connection {
    /// Adds entries of the log that are not there yet, since a file may be read or sent again.
    ///
    /// - Parameter collector: the address of the one that they wait for, if any.
    /// - Returns: roughly their bytes.
    @discardableResult
    func add(
        _ logs: [LogRecord], of resource: JSONObject, for collector: String? = nil, at time: Timestamp,
        isReceived: Bool = false
    ) throws -> Int {
        let text = JSON.object(resource).text()
        let number = try self.number(ofResource: text)
        let queue = try collector.map { try self.collector($0, .logs, at: time) }
        var sum = 0
        for log in logs {
            let attributes = JSON.object(log.attributes).text()
            // Who sends a large resource with each entry takes as much of the share with each.
            let bytes = 150 + log.message.utf8.count + attributes.utf8.count + (isReceived ? text.utf8.count : 0)
            sum += bytes
            let added = try run(
                """
                INSERT INTO logs (time, added, level, scope, message, attributes, trace, span, resource, received, bytes)
                    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
                    WHERE NOT EXISTS (SELECT 1 FROM logs WHERE time = ?1 AND scope = ?4 AND message = ?5 AND resource = ?9)
                """,
                log.time, time, log.level.severity, log.scope, log.message, attributes, log.trace?.bytes,
                log.span?.bytes, number, isReceived, bytes)
            if let queue, added > 0 {
                try run("INSERT INTO unsent_logs (collector, log) VALUES (?, last_insert_rowid())", queue)
            }
        }
        return sum
    }

    /// - Returns: how many.
    fileprivate func removeLogs(over most: Int, isReceived: Bool) throws -> Int {
        var removed = 0
        var bytes =
            try first("SELECT coalesce(sum(bytes), 0) FROM logs WHERE received = ?", isReceived) { row in
                try row[0] as Int
            } ?? 0
        while bytes > most {
            let oldest = try all(
                "SELECT number, bytes FROM logs WHERE received = ? ORDER BY number LIMIT 1000", isReceived
            ) { (number: try $0[0] as Int, bytes: try $0[1] as Int) }
            var last = 0
            for entry in oldest where bytes > most { (last, bytes) = (entry.number, bytes - entry.bytes) }
            removed += try run("DELETE FROM logs WHERE received = ? AND number <= ?", isReceived, last)
        }
        return removed
    }
}

extension StoredLog {
    /// Reads the columns of `TraceStore.columns`.
    init(_ row: borrowing Row, _ programs: inout ProgramCache) throws {
        let (trace, span): ([UInt8]?, [UInt8]?) = (try row[5], try row[6])
        log = LogRecord(
            LogLevel(severity: try row[1]), try row[2], try row[3], try JSON(parsing: row[4] as String).object ?? [:],
            at: try row[0], trace: trace.flatMap { TraceID(bytes: $0) },
            span: span.flatMap { SpanID(bytes: $0) })
        resource = try programs.resource(row[7])
        (isReceived, number) = (try row[8], try row[9])
    }
}

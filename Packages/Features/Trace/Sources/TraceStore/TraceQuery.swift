public import Capabilities
public import JSON
import StorageKit
import TraceKit

/// Which traces are wanted.
public struct TraceQuery: PagedQuery {
    /// Only those that began at or after this time.
    public var since: Timestamp?
    /// Only those that began before this time.
    public var until: Timestamp?
    /// Only those of this program.
    public var service: String?
    /// Only those with a span whose name contains this text.
    public var text: String?
    /// Only those about the conversation, session, run or request with this id, or about a `message:NUMBER`.
    public var subject: String?
    /// Only those with these ids; all if there are none.
    public var ids: [String] = []
    /// Only those in which something failed.
    public var hasFailed = false
    /// Only those that took at least this long.
    public var longer: Duration?
    /// How many are wanted, the newest first.
    public var limit = 50
    /// How many of the newest are left out.
    public var offset = 0

    /// All of them, in pages.
    public init() {}

    /// The text as a pattern of SQL.
    var pattern: String? { text.map(TraceStore.pattern) }

    var leastMicroseconds: Int? { longer.map { Int($0.wholeNanoseconds / 1_000) } }
}

/// A trace in a list.
public struct TraceSummary: Sendable, Hashable {
    /// Its id.
    public let id: String
    /// The name of its first span, as far as that was recorded.
    public let name: String?
    /// The code of the error that ended its first span, if any.
    public let failure: String?
    /// The program in which it began.
    public let service: String
    /// When it began.
    public let began: Timestamp
    /// How long it took.
    public let duration: Duration
    /// How many spans it has.
    public let spans: Int
    /// How many of them failed.
    public let failures: Int
    /// The conversation it is about, if any.
    public let conversation: String?
    /// The run of a bundle it is about, if any.
    public let run: String?
}

/// A span in the database, with the process that recorded it.
public struct StoredSpan: Sendable {
    /// The span.
    public let span: TraceSpan
    /// What the process is.
    public let resource: JSONObject
    /// Whether another program has sent it here.
    public let isReceived: Bool

    /// A span of a process.
    public init(span: TraceSpan, resource: JSONObject, isReceived: Bool = false) {
        (self.span, self.resource, self.isReceived) = (span, resource, isReceived)
    }
}

extension TraceStore {
    /// Traces, the newest first, and how many there are in all.
    public func traces(_ query: TraceQuery) async throws -> (traces: [TraceSummary], total: Int) {
        guard !isEmpty else { return ([], 0) }
        try await takeSpools()
        let (text, least) = (query.pattern, query.leastMicroseconds)
        let condition: SQL = """
             WHERE (?1 IS NULL OR began >= ?1) AND (?2 IS NULL OR began < ?2) AND (?3 IS NULL OR service = ?3)
                AND (?4 IS NULL OR trace IN (SELECT trace FROM spans WHERE name LIKE ?4 ESCAPE '\\'))
                AND (NOT ?5 OR failures > 0) AND (?6 IS NULL OR ended - began >= ?6)
                AND (?7 IS NULL OR trace IN (SELECT trace FROM subjects WHERE id = ?7))
            """
        return try await database.read { connection in
            let total = try connection.first(
                "SELECT count(*) FROM traces" + condition, query.since, query.until, query.service, text,
                query.hasFailed, least, query.subject
            ) { row in try row[0] as Int }
            let found = try connection.all(
                "SELECT trace, name, service, began, ended, spans, failures, failure, " + Self.subject("'conversation'")
                    + ", " + Self.subject("'run'") + " FROM traces" + condition
                    + " ORDER BY began DESC LIMIT ?8 OFFSET ?9",
                query.since, query.until, query.service, text, query.hasFailed, least, query.subject,
                max(0, query.limit), max(0, query.offset)
            ) { row in
                let (trace, began, ended): ([UInt8], Timestamp, Timestamp) = (try row[0], try row[3], try row[4])
                return TraceSummary(
                    id: Hexadecimal.encode(trace), name: try row[1], failure: try row[7], service: try row[2],
                    began: began,
                    duration: ended - began, spans: try row[5], failures: try row[6], conversation: try row[8],
                    run: try row[9])
            }
            return (found, total ?? 0)
        }
    }

    /// What a trace is about, of one kind.
    private static func subject(_ kind: SQL) -> SQL {
        "(SELECT id FROM subjects AS s WHERE s.trace = traces.trace AND s.kind = " + kind + " LIMIT 1)"
    }

    /// The whole id of a trace, of which the beginning is enough.
    ///
    /// - Throws: `TraceError` if there is none, or more than one.
    public func trace(beginning start: String) async throws -> String {
        try await takeSpools()
        let wanted = start.lowercased()
        guard wanted.count >= 2, wanted.count <= 32, wanted.allSatisfy({ $0.isHexDigit }) else {
            throw TraceError.notID(start)
        }
        let least = wanted.padding(with: "0")
        let most = wanted.padding(with: "f")
        let found: [String] = try await database.read { connection in
            try connection.all(
                "SELECT trace FROM traces WHERE trace BETWEEN ? AND ? LIMIT 2", least, most
            ) { row in Hexadecimal.encode(try row[0] as [UInt8]) }
        }
        guard let id = found.first else { throw TraceError.unknown(start) }
        guard found.count == 1 else { throw TraceError.ambiguous(start) }
        return id
    }

    /// The span of a trace whose id begins so.
    ///
    /// - Throws: `TraceError` if there is none, or more than one.
    public func span(beginning start: String, of trace: String) async throws -> StoredSpan {
        var query = TraceQuery()
        query.ids = [trace]
        let wanted = start.lowercased()
        var found: [StoredSpan] = []
        try await forEachSpan(query) { span in
            if span.span.context.span.description.hasPrefix(wanted) { found.append(span) }
        }
        guard found.count == 1, let span = found.first else { throw TraceError.notOneSpan(start) }
        return span
    }

    /// The spans of a trace, in the order in which they began.
    ///
    /// - Parameters:
    ///   - last: only those that come after this one; nil for the first.
    ///   - limit: how many.
    public func spans(of trace: String, after last: TraceSpan? = nil, limit: Int) async throws -> [StoredSpan] {
        let lines = try await database.read { connection in
            var programs = ProgramCache()
            return try connection.spanLines(of: trace, after: last, limit: limit, &programs)
        }
        return try await SpanRow.read(lines)
    }

    /// Passes the spans of traces on, one trace after the other, the oldest first.
    public func forEachSpan(_ query: TraceQuery, _ body: (StoredSpan) async throws -> Void) async throws {
        var ids = query.ids
        if ids.isEmpty {
            var wanted = query
            (wanted.limit, wanted.offset) = (.max, 0)
            ids = try await traces(wanted).traces.reversed().map(\.id)
        }
        var (next, last): (Int, TraceSpan?) = (0, nil)
        while next < ids.count {
            let (page, read, isCut) = try await spans(of: ids[next...], after: last)
            for span in page { try await body(span) }
            // The last trace of a page may have more spans, with which the next page begins.
            last = isCut ? page.last?.span : nil
            next += isCut ? read - 1 : read
        }
    }

    /// The spans of the first of these traces: several at once, because each look into the database takes time.
    ///
    /// - Parameter last: only those of the first trace that come after this one.
    /// - Returns: the spans, of how many traces, and whether the last of these may have more.
    private func spans(
        of traces: ArraySlice<String>, after last: TraceSpan?
    ) async throws -> (page: [StoredSpan], traces: Int, isCut: Bool) {
        try await database.read { connection in
            var (page, last, read): ([StoredSpan], TraceSpan?, Int) = ([], last, 0)
            var programs = ProgramCache()
            for trace in traces where page.count < Self.together {
                page += try connection.spans(of: trace, after: last, limit: Self.together - page.count, &programs)
                (last, read) = (nil, read + 1)
            }
            return (page, read, page.count == Self.together)
        }
    }

    private static var together: Int { 2_000 }

    /// How many spans were left out because there were too many at once.
    public func lost(since: Timestamp?) async throws -> Int {
        guard !isEmpty else { return 0 }
        return try await database.read { connection in
            try connection.first(
                "SELECT coalesce(sum(spans), 0) FROM losses WHERE ?1 IS NULL OR time >= ?1", since
            ) { try $0[0] as Int } ?? 0
        }
    }

    /// Removes traces that began before a time; nil for all.
    ///
    /// - Returns: how many.
    public func clear(before time: Timestamp?) async throws -> Int {
        guard !isEmpty else { return 0 }
        try await takeSpools()
        return try await database.write { connection in
            try connection.run("DELETE FROM losses WHERE ?1 IS NULL OR time < ?1", time)
            try connection.run("DELETE FROM logs WHERE ?1 IS NULL OR time < ?1", time)
            try connection.dequeueRemovedLogs(isExpired: false)
            try connection.run("DELETE FROM series WHERE ?1 IS NULL OR time < ?1", time)
            try connection.clearFigures(before: time)
            guard let time else {
                let count = try connection.first("SELECT count(*) FROM traces") { try $0[0] as Int } ?? 0
                try connection.run("DELETE FROM unsent")
                try connection.run("DELETE FROM spans")
                try connection.run("DELETE FROM traces")
                try connection.run("DELETE FROM subjects")
                return count
            }
            return try connection.remove("SELECT trace FROM traces WHERE began < ?", time)
        }
    }
}

extension Connection {
    fileprivate func spans(
        of trace: String, after last: TraceSpan?, limit: Int, _ programs: inout ProgramCache
    ) throws -> [StoredSpan] {
        try spanLines(of: trace, after: last, limit: limit, &programs).map { try $0.stored }
    }

    fileprivate func spanLines(
        of trace: String, after last: TraceSpan?, limit: Int, _ programs: inout ProgramCache
    ) throws -> [SpanRow] {
        guard let id = Hexadecimal.decode(trace) else { return [] }
        let place = (last?.start ?? Timestamp(microseconds: .min), last?.context.span.bytes ?? [])
        return try all(
            """
            SELECT line, resource, received FROM spans
                WHERE trace = ? AND (began, span) > (?, ?) ORDER BY began, span LIMIT ?
            """, id, place.0, place.1, limit
        ) { row in try SpanRow(row, &programs, self) }
    }
}

/// A span whose line was not read yet.
private struct SpanRow: Sendable {
    let line: [UInt8]
    let resource: JSONObject
    let isReceived: Bool

    /// Reads the line, the number of the resource, and whether it was received.
    init(_ row: borrowing Row, _ programs: inout ProgramCache, _ connection: Connection) throws {
        line = try row[0]
        resource = try programs.resource(try row[1], in: connection)
        isReceived = try row[2]
    }

    var stored: StoredSpan {
        get throws { StoredSpan(span: try SpanLine.read(line), resource: resource, isReceived: isReceived) }
    }

    /// How many lines one task reads.
    private static let together = 1_000

    /// Reads many lines side by side.
    static func read(_ rows: [SpanRow]) async throws -> [StoredSpan] {
        guard rows.count > together else { return try rows.map { try $0.stored } }
        return try await withThrowingTaskGroup(of: (Int, [StoredSpan]).self) { group in
            for start in stride(from: 0, to: rows.count, by: together) {
                group.addTask {
                    (start, try rows[start..<min(start + together, rows.count)].map { try $0.stored })
                }
            }
            var parts: [(start: Int, spans: [StoredSpan])] = []
            for try await part in group { parts.append(part) }
            return parts.sorted { $0.start < $1.start }.flatMap(\.spans)
        }
    }
}

/// What the last program was, since neighbours are mostly of the same one.
struct ProgramCache {
    private var text = "{}"
    private var number: Int?
    private var resource: JSONObject = [:]

    mutating func resource(_ text: String) throws -> JSONObject {
        if text != self.text {
            (self.text, resource, number) = (text, try JSON(parsing: text).object ?? [:], nil)
        }
        return resource
    }

    /// The same by its number, which costs less to read for each of many spans.
    mutating func resource(_ number: Int, in connection: Connection) throws -> JSONObject {
        if number != self.number {
            let text = try connection.first("SELECT attributes FROM resources WHERE number = ?", number) {
                try $0[0] as String
            }
            _ = try resource(text ?? "{}")
            self.number = number
        }
        return resource
    }
}

extension StoredSpan {
    /// Reads the line, the number of the resource, and whether it was received.
    init(_ row: borrowing Row, _ programs: inout ProgramCache, _ connection: Connection) throws {
        self = try SpanRow(row, &programs, connection).stored
    }
}

extension String {
    /// The bytes of an id that begins with these digits and goes on with one digit.
    fileprivate func padding(with digit: Character) -> [UInt8] {
        Hexadecimal.decode(self + String(repeating: digit, count: 32 - count)) ?? []
    }
}

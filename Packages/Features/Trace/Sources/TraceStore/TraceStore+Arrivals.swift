import StorageKit

/// Where a follower stands: it has got all spans and entries of the log up to these.
public struct TracePlace: Sendable, Hashable {
    var span: Int
    var log: Int
}

/// What came since a place.
public struct TraceArrivals: Sendable {
    /// Spans in the order in which they came.
    public let spans: [StoredSpan]
    /// Entries of the log in the order in which they came.
    public let logs: [StoredLog]
    /// The place after them.
    public let end: TracePlace
}

extension TraceStore {
    /// The place after everything that is there.
    public func end() async throws -> TracePlace {
        try await takeSpools()
        return try await database.read { connection in
            func last(_ query: SQL) throws -> Int { try connection.first(query) { try $0[0] as Int } ?? 0 }
            return TracePlace(
                span: try last("SELECT coalesce(max(number), 0) FROM arrivals"),
                log: try last("SELECT coalesce(max(number), 0) FROM logs"))
        }
    }

    /// The next spans and entries of the log that came since a place.
    public func arrivals(since place: TracePlace) async throws -> TraceArrivals {
        try await takeSpools()
        return try await database.read { connection in
            var programs = ProgramCache()
            var end = place
            let spans = try connection.all(
                """
                SELECT s.line, s.resource, s.received, a.number FROM arrivals AS a
                    JOIN spans AS s ON s.trace = a.trace AND s.span = a.span
                    WHERE a.number > ? ORDER BY a.number LIMIT ?
                """, place.span, Self.together
            ) { row in
                end.span = try row[3]
                return try StoredSpan(row, &programs, connection)
            }
            let logs = try connection.all(
                Self.columns
                    + " FROM logs AS l JOIN resources AS r ON r.number = l.resource WHERE l.number > ? ORDER BY l.number LIMIT ?",
                place.log, Self.together
            ) { row in
                let stored = try StoredLog(row, &programs)
                end.log = stored.number
                return stored
            }
            return TraceArrivals(spans: spans, logs: logs, end: end)
        }
    }

    private static var together: Int { 2_000 }
}

extension Connection {
    /// Removes the order in which spans came, but for the last ones, which followers may not have got yet.
    func forgetArrivals() throws {
        try run("DELETE FROM arrivals WHERE number <= (SELECT max(number) FROM arrivals) - 100000")
    }
}

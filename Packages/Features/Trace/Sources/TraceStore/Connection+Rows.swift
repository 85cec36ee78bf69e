import Capabilities
import JSON
import StorageKit
import TraceKit

// How spans and traces become rows.
extension Connection {
    /// Adds spans that are not there yet.
    ///
    /// - Parameter isReceived: whether another program has sent them. They say nothing about traces in which there are spans
    ///   of ours, but are shown in them.
    /// - Returns: how many were new.
    func add(
        _ spans: [(TraceSpan, [UInt8])], of resource: JSONObject, for collector: String?, at time: Timestamp,
        isReceived: Bool = false
    ) throws -> Int {
        let text = JSON.object(resource).text()
        let number = try self.number(ofResource: text)
        let service = resource["service.name"]?.string ?? ""
        let queue = try collector.map { try self.collector($0, .traces, at: time) }
        // Who sends a large resource with each span takes as much of the share with each.
        let overhead = Self.overhead + (isReceived ? text.utf8.count : 0)
        var added = 0
        var tally = FigureTally(of: service, isReceived: isReceived, at: time)
        for (span, line) in spans {
            guard try insert(span, line, of: number, isReceived) else { continue }
            added += 1
            tally.add(span)
            try addSubjects(of: span, span.context.trace.bytes)
            if let queue { try enqueue(span, for: queue) }
            let isRoot = span.parent == nil || span.isParentRemote
            let bytes = line.count + overhead
            try run(
                """
                INSERT INTO traces (trace, began, ended, added, name, failure, service, spans, failures, bytes, received)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10)
                    ON CONFLICT (trace) DO UPDATE SET
                        began = iif(?9 > 0, iif(bytes > 0, min(began, ?2), ?2), iif(bytes > 0, began, min(began, ?2))),
                        ended = iif(?9 > 0, iif(bytes > 0, max(ended, ?3), ?3), iif(bytes > 0, ended, max(ended, ?3))),
                        name = iif(?9 > 0, coalesce(?5, name), coalesce(name, ?5)),
                        failure = iif(?9 > 0, coalesce(?6, failure), coalesce(failure, iif(bytes > 0, NULL, ?6))),
                        service = iif(?9 > 0 AND bytes = 0, ?7, service),
                        spans = spans + 1, failures = failures + ?8, bytes = bytes + ?9, received = received + ?10
                """,
                span.context.trace.bytes, span.start, span.end, time, isRoot ? span.name : nil,
                isRoot ? span.failure : nil, service, span.failure == nil ? 0 : 1, isReceived ? 0 : bytes,
                isReceived ? bytes : 0)
        }
        try tally.store(in: self)
        return added
    }

    /// The number of what recorded something, which is added if it is new.
    func number(ofResource text: String) throws -> Int {
        try run("INSERT OR IGNORE INTO resources (attributes) VALUES (?)", text)
        return try first("SELECT number FROM resources WHERE attributes = ?", text) { try $0[0] as Int } ?? 0
    }

    /// - Returns: whether it was not there yet. A span of ours takes the place of a received one with its id.
    private func insert(_ span: TraceSpan, _ line: [UInt8], of resource: Int, _ isReceived: Bool) throws -> Bool {
        let (trace, id) = (span.context.trace.bytes, span.context.span.bytes)
        for _ in 0..<2 {
            let changed = try run(
                """
                INSERT OR IGNORE INTO spans (trace, span, resource, name, feature, began, duration, failure, line, received)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                trace, id, resource, span.name, span.feature, span.start, span.duration.wholeNanoseconds, span.failure,
                line, isReceived)
            if changed > 0 {
                try run("INSERT INTO arrivals (trace, span) VALUES (?, ?)", trace, id)
                return true
            }
            guard !isReceived,
                try run("DELETE FROM spans WHERE trace = ? AND span = ? AND received", trace, id) > 0
            else { return false }
            try recount(trace)
        }
        return false
    }

    /// Removes the received spans of a trace, and the trace if there are no others.
    func removeReceived(of trace: [UInt8]) throws {
        try run("DELETE FROM spans WHERE trace = ? AND received", trace)
        if try run("DELETE FROM traces WHERE trace = ? AND bytes = 0", trace) > 0 {
            try run("DELETE FROM subjects WHERE trace = ?", trace)
        }
        try run("UPDATE traces SET received = 0 WHERE trace = ?", trace)
        try recount(trace)
    }

    private func recount(_ trace: [UInt8]) throws {
        try run(
            """
            UPDATE traces SET spans = (SELECT count(*) FROM spans WHERE trace = ?1),
                failures = (SELECT count(failure) FROM spans WHERE trace = ?1) WHERE trace = ?1
            """, trace)
    }

    /// Roughly what a span takes besides its line.
    private static var overhead: Int { 200 }

    func count(lost: Int, at time: Timestamp) throws {
        try run("INSERT INTO losses (time, spans) VALUES (?, ?)", time, lost)
    }

    /// Removes the traces that a query selects.
    ///
    /// - Parameter isExpired: whether what still waits for a collector is counted as lost to it.
    /// - Returns: how many.
    @discardableResult
    func remove<each Value: Storable>(
        _ query: SQL, _ values: repeat each Value, isExpired: Bool = false
    ) throws -> Int {
        let traces = try all(query, repeat each values) { try $0[0] as [UInt8] }
        var logs = 0
        for trace in traces {
            try dequeue(trace, isExpired: isExpired)
            try run("DELETE FROM spans WHERE trace = ?", trace)
            try run("DELETE FROM traces WHERE trace = ?", trace)
            logs += try run("DELETE FROM logs WHERE trace = ?", trace)
            try run("DELETE FROM subjects WHERE trace = ?", trace)
        }
        if logs > 0 { try dequeueRemovedLogs(isExpired: isExpired) }
        return traces.count
    }
}

public import Capabilities
public import JSON
import StorageKit
public import TraceKit

/// Which metrics are wanted.
public struct MetricQuery: PagedQuery {
    /// Only those whose name contains this text.
    public var text: String?
    /// Only those of this program.
    public var service: String?
    /// Which come first.
    public var order = MetricOrder.time
    /// How many are wanted.
    public var limit = 50
    /// How many of the first are left out.
    public var offset = 0

    /// All of them, in pages.
    public init() {}
}

/// The order of metrics.
public enum MetricOrder: String, Choice {
    /// The newest first.
    case time
    /// By their names.
    case name
}

/// A series of a metric: what one part of a program measures for the same attributes.
public struct StoredMetric: Sendable {
    /// The newest point. Its value is the whole one if the points are what came since the one before.
    public let point: MetricPoint
    /// How many points were received.
    public let points: Int
    /// What the program is.
    public let resource: JSONObject
}

extension TraceStore {
    /// The most series that are kept. Of more, those go that were not received for the longest time.
    public static let mostSeries = 10_000

    /// Metrics, and how many there are in all.
    public func metrics(_ query: MetricQuery) async throws -> (metrics: [StoredMetric], total: Int) {
        guard !isEmpty else { return ([], 0) }
        try await takeSpools()
        let condition: SQL = """
             FROM series AS s JOIN resources AS r ON r.number = s.resource
                WHERE (?1 IS NULL OR s.name LIKE ?1 ESCAPE '\\') AND (?2 IS NULL OR r.attributes ->> '$."service.name"' = ?2)
            """
        let order: SQL =
            switch query.order {
            case .time: " ORDER BY s.time DESC, s.name, s.number LIMIT ?3 OFFSET ?4"
            case .name: " ORDER BY s.name, s.time DESC, s.number LIMIT ?3 OFFSET ?4"
            }
        let text = query.text.map(Self.pattern)
        return try await database.read { connection in
            let total = try connection.first("SELECT count(*)" + condition, text, query.service) { try $0[0] as Int }
            var programs = ProgramCache()
            let found = try connection.all(
                """
                SELECT s.name, s.unit, s.kind, s.scope, s.attributes, s.time, s.value, s.count, s.sum, s.least, s.most,
                    s.points, r.attributes
                """ + condition + order, text, query.service, max(0, query.limit), max(0, query.offset)
            ) { row in
                StoredMetric(
                    point: try MetricPoint(row), points: try row[11], resource: try programs.resource(row[12]))
            }
            return (found, total ?? 0)
        }
    }

    /// Adds data points that other programs have sent. Of each series the newest one is kept.
    ///
    /// - Returns: roughly the bytes of series that are new.
    public func add(receivedMetrics groups: [(resource: JSONObject, metrics: [MetricPoint])]) async throws -> Int {
        let time = now()
        return try await database.write { connection in
            var bytes = 0
            for group in groups { bytes += try connection.add(group.metrics, of: group.resource, at: time) }
            let count = try connection.first("SELECT count(*) FROM series") { try $0[0] as Int } ?? 0
            if count > Self.mostSeries { try connection.removeSeries(over: .max) }
            return bytes
        }
    }

    /// Removes series that were not received for too long, and some of too many.
    func pruneMetrics(before oldest: Timestamp, _ budget: Budget) async throws {
        try await database.write { connection in
            try connection.run("DELETE FROM series WHERE seen < ?", oldest)
            try connection.removeSeries(over: budget.received / Self.share)
        }
    }
}

extension Connection {
    fileprivate func add(_ points: [MetricPoint], of resource: JSONObject, at time: Timestamp) throws -> Int {
        let text = JSON.object(resource).text()
        let number = try self.number(ofResource: text)
        var added = 0
        for point in points {
            // In whatever order they were sent, they say the same.
            let attributes = JSON.object(point.attributes).text(.sorted)
            let earlier = try first(
                """
                SELECT name, unit, kind, scope, attributes, time, value, count, sum, least, most FROM series
                    WHERE resource = ? AND scope = ? AND name = ? AND attributes = ?
                """, number, point.scope, point.name, attributes
            ) { try MetricPoint($0) }
            let newest = earlier.map { point.following($0, at: time) } ?? point
            // Who sends a large resource with each series takes as much of the share with each.
            let bytes =
                200 + text.utf8.count + 2 * (point.scope.utf8.count + point.name.utf8.count + attributes.utf8.count)
            if earlier == nil { added += bytes }
            let facts = newest.distribution
            try run(
                """
                INSERT INTO series (resource, scope, name, attributes, unit, kind, time, value, count, sum, least, most,
                        seen, bytes, points)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
                    ON CONFLICT (resource, scope, name, attributes) DO UPDATE SET unit = excluded.unit,
                        kind = excluded.kind, time = excluded.time, value = excluded.value, count = excluded.count,
                        sum = excluded.sum, least = excluded.least, most = excluded.most, seen = excluded.seen,
                        points = points + 1
                """,
                number, point.scope, point.name, attributes, newest.unit, newest.kind.rawValue, newest.time,
                newest.number, facts?.count, facts?.sum, facts?.least, facts?.most, time, bytes)
        }
        return added
    }

    /// Removes series that are too many or take too many bytes, those first that were not received for the longest time.
    fileprivate func removeSeries(over most: Int) throws {
        try run(
            """
            DELETE FROM series WHERE number IN (
                SELECT number FROM (SELECT number, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
                    FROM series WINDOW newest AS (ORDER BY seen DESC, number DESC))
                WHERE place > ? OR total > ?)
            """, TraceStore.mostSeries, most)
    }
}

extension MetricPoint {
    /// Reads the columns from the name to the largest value.
    fileprivate init(_ row: borrowing Row) throws {
        let (value, count): (Double?, Int?) = (try row[6], try row[7])
        let facts = Distribution(count: count ?? 0, sum: try row[8], least: try row[9], most: try row[10])
        self.init(
            try row[0], unit: try row[1], Kind(rawValue: try row[2]) ?? .gauge, scope: try row[3],
            attributes: try JSON(parsing: row[4] as String).object ?? [:], time: try row[5],
            value: value.map(Value.number) ?? .distribution(facts))
    }

    /// The value of a gauge or a sum.
    public var number: Double? {
        if case .number(let number) = value { number } else { nil }
    }

    /// The summary of many values.
    public var distribution: Distribution? {
        if case .distribution(let facts) = value { facts } else { nil }
    }

    /// What is known after an earlier point of the same series: the newer one, or both together if this is what came since.
    func following(_ earlier: MetricPoint, at now: Timestamp) -> MetricPoint {
        // After a clock that was ahead, the right time counts.
        let isAhead = earlier.time > now + .seconds(3_600)
        guard isDelta else { return time >= earlier.time || isAhead ? self : earlier }
        // A request may be sent again, whose points must not be added again.
        guard time > earlier.time || isAhead else { return earlier }
        guard kind == earlier.kind, unit == earlier.unit else { return self }
        var sum = self
        switch (value, earlier.value) {
        case (.number(let new), .number(let old)): sum.value = .number(.finite(old + new))
        case (.distribution(let new), .distribution(let old)): sum.value = .distribution(old + new)
        default: break
        }
        return sum
    }
}

extension MetricPoint.Distribution {
    /// What is known about the values of both.
    fileprivate static func + (left: Self, right: Self) -> Self {
        let (count, isOver) = left.count.addingReportingOverflow(right.count)
        let sums = [left.sum, right.sum].compactMap(\.self)
        return Self(
            count: isOver ? .max : count, sum: sums.isEmpty ? nil : .finite(sums.reduce(0, +)),
            least: [left.least, right.least].compactMap(\.self).min(),
            most: [left.most, right.most].compactMap(\.self).max())
    }
}

extension Double {
    /// The number, or the largest one there is instead of infinity.
    fileprivate static func finite(_ number: Double) -> Double {
        min(max(number, -.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
}

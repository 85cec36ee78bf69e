public import Capabilities
import StorageKit
import TraceKit

/// Which figures are wanted.
public struct FigureQuery: Sendable {
    /// Only of spans that began since this time.
    public var since: Timestamp?
    /// Only of spans that began before this time.
    public var until: Timestamp?
    /// Only of this program.
    public var service: String?
    /// Apart for each of these periods; nil for all of the time together.
    public var width: FigureWidth?
    /// How many figures are read. Each takes a few kilobytes, and nobody reads more; more are an error.
    public var limit = 50_000

    /// Of all spans.
    public init() {}
}

extension TraceStore {
    /// The figures of each kind of work, from what was counted when spans were added. They are there when the spans are not
    /// any more: by minute for two days, by hour for forty days and by day for a year. Where the period begins or ends earlier
    /// than that, it is taken to the hour or day.
    public func figures(_ query: FigureQuery) async throws -> [OperationFigures] {
        guard !isEmpty else { return [] }
        try await takeSpools()
        let parts = FigurePeriod(query, now: now()).parts
        return try await database.read { connection in
            let wanted = try query.service.map { try connection.operations(of: $0) }
            var sums: [FigureKey: Figures] = [:]
            for part in parts {
                for isReceived in [false, true] {
                    try connection.forEach(
                        """
                        SELECT operation, start, failures, sum, longest, input_tokens, output_tokens, nanodollars, sketch
                            FROM figures WHERE width = ? AND received = ? AND start >= ? AND start < ?
                        """, part.width.seconds, isReceived, part.range.lowerBound, part.range.upperBound
                    ) { row in
                        let operation = try row[0] as Int
                        if wanted?.contains(operation) == false { return }
                        let time = try query.width.map { $0.start(of: try row[1] as Int) }
                        let key = FigureKey(operation: operation, time: time)
                        if sums.count >= query.limit, sums[key] == nil {
                            throw TraceError.tooManyFigures(query.limit)
                        }
                        try sums[key, default: Figures()].merge(row, from: 2)
                    }
                }
            }
            var operations: [Int: Operation] = [:]
            return try sums.compactMap { key, figures in
                let operation = try operations[key.operation] ?? connection.operation(key.operation)
                operations[key.operation] = operation
                return operation.map { OperationFigures(key.time, $0, figures) }
            }
        }
    }

    /// The figures of each kind of work, from the spans of traces that are still there.
    ///
    /// - Parameter traces: which traces. Its period and program are not asked about, since those of the spans count.
    public func figures(_ query: FigureQuery, ofSpansIn traces: TraceQuery) async throws -> [OperationFigures] {
        guard !isEmpty else { return [] }
        try await takeSpools()
        return try await database.read { connection in
            var sums: [SpanKey: Figures] = [:]
            try connection.forEach(
                "SELECT s.name, s.feature, " + FoundSpan.service
                    + """
                    , s.received, s.duration, s.failure IS NOT NULL, s.began,
                        iif(instr(s.line, CAST('gen_ai.usage.' AS BLOB)) OR instr(s.line, CAST('martlet.cost' AS BLOB)), s.line, NULL)
                        FROM traces AS t JOIN spans AS s ON s.trace = t.trace JOIN resources AS r ON r.number = s.resource
                        WHERE (?1 IS NULL OR s.began >= ?1) AND (?2 IS NULL OR s.began < ?2)
                    """ + " AND (?3 IS NULL OR ?3 = " + FoundSpan.service + ")"
                        + """
                         AND (?4 IS NULL OR t.trace IN (SELECT trace FROM spans WHERE name LIKE ?4 ESCAPE '\\'))
                            AND (NOT ?5 OR t.failures > 0) AND (?6 IS NULL OR t.ended - t.began >= ?6)
                        """,
                query.since, query.until, query.service, traces.pattern, traces.hasFailed, traces.leastMicroseconds
            ) { row in
                let time = query.width?.start(of: try row[6] as Timestamp)
                let operation = Operation(
                    name: try row[0], feature: try row[1], service: try row[2], isReceived: try row[3])
                if sums.count >= query.limit, sums[SpanKey(operation: operation, time: time)] == nil {
                    throw TraceError.tooManyFigures(query.limit)
                }
                // Few spans tell what a model used, and reading a line takes far longer than the rest.
                let line = try row[7] as [UInt8]?
                sums[SpanKey(operation: operation, time: time), default: Figures()].add(
                    nanoseconds: try row[4], hasFailed: try row[5],
                    try line.map { SpanUsage(try SpanLine.read($0)) } ?? SpanUsage())
            }
            return sums.map { OperationFigures($0.time, $0.operation, $1) }
        }
    }
}

private struct FigureKey: Hashable {
    let operation: Int
    let time: Int?
}

private struct SpanKey: Hashable {
    let operation: Operation
    let time: Int?
}

extension OperationFigures {
    fileprivate init(_ start: Int?, _ operation: Operation, _ figures: Figures) {
        self.init(
            time: start.map { Timestamp(microseconds: Int64($0) * 1_000_000) }, operation: operation, figures: figures)
    }
}

extension Connection {
    /// The numbers of the kinds of work of a program.
    fileprivate func operations(of service: String) throws -> Set<Int> {
        Set(try all("SELECT number FROM operations WHERE service = ?", service) { try $0[0] as Int })
    }

    fileprivate func operation(_ number: Int) throws -> Operation? {
        try first("SELECT name, feature, service, received FROM operations WHERE number = ?", number) { row in
            Operation(name: try row[0], feature: try row[1], service: try row[2], isReceived: try row[3])
        }
    }
}

/// The stored periods that a wanted one consists of: the largest that fit.
struct FigurePeriod {
    struct Part: Hashable {
        let width: FigureWidth
        let range: Range<Int>
    }

    private(set) var parts: [Part] = []

    init(_ query: FigureQuery, now: Timestamp) {
        let finest = query.width ?? .minute
        let start = query.since.map { time in
            Self.width(at: time, finest, now).start(of: time)
        }
        let end = query.until.map { time in
            let width = Self.width(at: time, finest, now)
            // A period in which the end lies counts as a whole.
            return width.start(of: time + .microseconds(-1)).saturatingAdd(width.seconds)
        }
        // Beyond all times that can be stored.
        let (least, most) = (start ?? -(1 << 48), end ?? 1 << 48)
        guard least < most else { return }
        switch query.width {
        case .minute: parts = [Part(width: .minute, range: least..<most)]
        case .hour: parts = [Part(width: .hour, range: least..<most)]
        case .day: parts = [Part(width: .day, range: least..<most)]
        case nil: add(least..<most, by: [.day, .hour, .minute])
        }
    }

    /// The narrowest width that is kept for a time.
    private static func width(at time: Timestamp, _ finest: FigureWidth, _ now: Timestamp) -> FigureWidth {
        FigureWidth.allCases.first { $0.seconds >= finest.seconds && time >= now + (.zero - $0.keep) } ?? .day
    }

    private mutating func add(_ range: Range<Int>, by widths: [FigureWidth]) {
        guard !range.isEmpty, let width = widths.first else { return }
        let start = width.start(of: range.lowerBound.saturatingAdd(width.seconds - 1))
        let end = width.start(of: range.upperBound)
        guard start < end else { return add(range, by: Array(widths.dropFirst())) }
        add(range.lowerBound..<start, by: Array(widths.dropFirst()))
        parts.append(Part(width: width, range: start..<end))
        add(end..<range.upperBound, by: Array(widths.dropFirst()))
    }
}

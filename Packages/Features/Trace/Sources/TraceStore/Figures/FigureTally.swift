import Capabilities
import StorageKit
import TraceKit

/// The figures of the spans of one transaction, by minute, so that the database gets each once.
struct FigureTally {
    private struct Key: Hashable {
        let start: Int
        let operation: Operation
    }

    private let service: String
    private let isReceived: Bool
    private let now: Timestamp
    private var minutes: [Key: Figures] = [:]

    /// The kinds of work of one day that are kept apart. The rest is counted together, since a sender may make up any number
    /// of names.
    static let most = (ours: 2_000, received: 500)
    /// A clock may be a little ahead.
    private static let ahead = Duration.seconds(3_600)

    init(of service: String, isReceived: Bool, at now: Timestamp) {
        (self.service, self.isReceived, self.now) = (service, isReceived, now)
    }

    mutating func add(_ span: TraceSpan) {
        // What claims to be from the future would be kept for longer than anything else.
        let time = span.start > now + Self.ahead ? now : span.start
        let operation = Operation(name: span.name, feature: span.feature, service: service, isReceived: isReceived)
        minutes[Key(start: FigureWidth.minute.start(of: time), operation: operation), default: Figures()].add(
            nanoseconds: span.duration.wholeNanoseconds, hasFailed: span.failure != nil, SpanUsage(span))
    }

    /// Where figures are kept.
    private struct Place: Hashable {
        let width: FigureWidth
        let start: Int
        let operation: Int
    }

    /// Adds the figures to those of the database: to their minutes, hours and days, as far as these are kept.
    func store(in connection: Connection) throws {
        var (rows, admission): ([Place: Figures], FigureAdmission) = ([:], FigureAdmission(isReceived: isReceived))
        let oldest = FigureWidth.allCases.map { ($0, $0.start(of: now + (.zero - $0.keep))) }
        for (key, figures) in minutes where key.start >= oldest.map(\.1).min() ?? 0 {
            let day = FigureWidth.day.start(of: key.start)
            let operation = try admission.number(of: key.operation, on: day, in: connection)
            for (width, oldest) in oldest where key.start >= oldest {
                let place = Place(width: width, start: width.start(of: key.start), operation: operation)
                rows[place, default: Figures()].merge(figures)
            }
        }
        for (place, figures) in rows { try store(figures, at: place, in: connection) }
    }

    private func store(_ added: Figures, at place: Place, in connection: Connection) throws {
        var figures = added
        try connection.forEach(
            """
            SELECT failures, sum, longest, input_tokens, output_tokens, nanodollars, sketch FROM figures
                WHERE width = ? AND received = ? AND start = ? AND operation = ?
            """, place.width.seconds, isReceived, place.start, place.operation
        ) { row in try figures.merge(row, from: 0) }
        try connection.run(
            """
            INSERT OR REPLACE INTO figures
                (width, received, start, operation, failures, sum, longest, input_tokens, output_tokens, nanodollars, sketch)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, place.width.seconds, isReceived, place.start, place.operation, figures.failures, figures.sum,
            figures.longest, figures.usage.input, figures.usage.output, figures.usage.nanodollars, figures.sketch.bytes)
    }
}

extension Figures {
    /// Adds those of a row, whose columns begin with the number of failures.
    mutating func merge(_ row: borrowing Row, from first: Int) throws {
        var usage = SpanUsage()
        (usage.input, usage.output) = (try row[first + 3], try row[first + 4])
        usage.nanodollars = try row[first + 5]
        merge(
            failures: try row[first], sum: try row[first + 1], longest: try row[first + 2], usage,
            sketch: try row[first + 6])
    }
}

/// Which kinds of work have figures of their own on a day.
private struct FigureAdmission {
    private struct Key: Hashable {
        let operation: Operation
        let day: Int
    }

    let isReceived: Bool
    private var known: [Key: Int] = [:]
    /// How many have figures on a day.
    private var counts: [Int: Int] = [:]

    init(isReceived: Bool) { self.isReceived = isReceived }

    /// The number of a kind of work, or of that which takes its place.
    mutating func number(of operation: Operation, on day: Int, in connection: Connection) throws -> Int {
        let key = Key(operation: operation, day: day)
        if let number = known[key] { return number }
        let number =
            try admit(operation, on: day, in: connection) ?? connection.number(of: .other(isReceived: isReceived))
        known[key] = number
        return number
    }

    private mutating func admit(_ operation: Operation, on day: Int, in connection: Connection) throws -> Int? {
        let number = try connection.existingNumber(of: operation)
        if let number, try hasFigures(number, on: day, in: connection) { return number }
        let count =
            try counts[day] ?? connection.first(
                "SELECT count(*) FROM figures WHERE width = ? AND received = ? AND start = ?", FigureWidth.day.seconds,
                isReceived, day
            ) { try $0[0] as Int } ?? 0
        let isFull = count >= (isReceived ? FigureTally.most.received : FigureTally.most.ours)
        counts[day] = isFull ? count : count + 1
        return isFull ? nil : try number ?? connection.number(of: operation)
    }

    private func hasFigures(_ number: Int, on day: Int, in connection: Connection) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM figures WHERE width = ? AND received = ? AND start = ? AND operation = ?",
            FigureWidth.day.seconds, isReceived, day, number
        ) { _ in true } ?? false
    }
}

extension Connection {
    fileprivate func existingNumber(of operation: Operation) throws -> Int? {
        try first(
            "SELECT number FROM operations WHERE name = ? AND feature = ? AND service = ? AND received = ?",
            operation.name, operation.feature, operation.service, operation.isReceived
        ) { try $0[0] as Int }
    }

    /// The number of a kind of work, which is added if it is new.
    fileprivate func number(of operation: Operation) throws -> Int {
        if let number = try existingNumber(of: operation) { return number }
        try run(
            "INSERT INTO operations (name, feature, service, received) VALUES (?, ?, ?, ?)", operation.name,
            operation.feature, operation.service, operation.isReceived)
        return Int(try lastInsertedID)
    }

    /// Removes figures that are too old, and of those by minute that others have made the oldest of too many.
    func pruneFigures(at now: Timestamp) throws {
        var hasRemovedDays = false
        for width in FigureWidth.allCases {
            for isReceived in [false, true] {
                let count = try run(
                    "DELETE FROM figures WHERE width = ? AND received = ? AND start < ?", width.seconds, isReceived,
                    width.start(of: now + (.zero - width.keep)))
                if width == .day, count > 0 { hasRemovedDays = true }
            }
        }
        try run(
            """
            DELETE FROM figures WHERE width = ?1 AND received = 1 AND start <= (
                SELECT start FROM figures WHERE width = ?1 AND received = 1 ORDER BY start DESC LIMIT 1 OFFSET ?2)
            """, FigureWidth.minute.seconds, 100_000)
        // What has figures of an hour or a minute has some of that day.
        if hasRemovedDays { try forgetOperations() }
    }

    private func forgetOperations() throws {
        try run(
            "DELETE FROM operations WHERE number NOT IN (SELECT operation FROM figures WHERE width = ?)",
            FigureWidth.day.seconds)
    }

    /// Removes the figures of periods that ended before a time; nil for all.
    func clearFigures(before time: Timestamp?) throws {
        guard let time else {
            try run("DELETE FROM figures")
            try run("DELETE FROM operations")
            return
        }
        for width in FigureWidth.allCases {
            try run("DELETE FROM figures WHERE width = ? AND start < ?", width.seconds, width.start(of: time))
        }
        try forgetOperations()
    }
}

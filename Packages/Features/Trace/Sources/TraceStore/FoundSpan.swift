public import Capabilities
import StorageKit
import TraceKit

/// A span as its columns tell of it, and its line as long as nobody has read that.
public struct FoundSpan: Sendable {
    /// Its trace.
    public let trace: [UInt8]
    /// Its id.
    public let id: [UInt8]
    /// When it began.
    public let began: Timestamp
    /// How long it took.
    public let duration: Duration
    /// Its name.
    public let name: String
    /// The feature or library that did it.
    public let feature: String
    /// The program; empty if that is not known.
    public let service: String
    /// The code of the error that ended it, if any.
    public let failure: String?
    /// Empty if it was not asked for.
    private var line: [UInt8]

    /// Reads the line, which takes far longer than all of the columns.
    public func read() throws -> TraceSpan { try SpanLine.read(line) }

    /// The same without its line, to be kept.
    public func withoutLine() -> FoundSpan {
        var copy = self
        copy.line = []
        return copy
    }

    /// The program of a resource.
    static let service: SQL = #"coalesce(CAST(json_extract(r.attributes, '$."service.name"') AS TEXT), '')"#

    fileprivate init(_ row: borrowing Row, hasLine: Bool) throws {
        (trace, id, began) = (try row[0], try row[1], try row[2])
        duration = .nanoseconds(try row[3] as Int)
        (name, feature, failure) = (try row[4], try row[5], try row[6])
        service = try row[7]
        line = hasLine ? try row[8] : []
    }
}

/// What ends a search early.
private struct Enough: Error {}

extension TraceStore {
    /// Passes on the spans that a filter lets through, the newest first, until `body` says that it has enough.
    ///
    /// All are of one state of the database. `body` runs on a thread of it, one span after the other.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - hasLines: whether their lines are needed.
    ///   - state: what `body` begins with.
    ///   - body: returns whether it wants more.
    /// - Returns: what `body` has made of the state.
    public func forEachSpan<State: Sendable>(
        _ filter: SpanFilter, limit: Int, hasLines: Bool, _ state: State,
        _ body: @escaping @Sendable (inout State, FoundSpan) throws -> Bool
    ) async throws -> State {
        guard !isEmpty else { return state }
        try await takeSpools()
        return try await database.read { connection in
            var state = state
            do {
                try connection.forEach(
                    "SELECT s.trace, s.span, s.began, s.duration, s.name, s.feature, s.failure, " + FoundSpan.service
                        + (hasLines ? ", s.line" : "")
                        // The entries of an index are the outer table, so that their order is kept, and that of times has the
                        // durations too: looking for long ones among all is ten times as fast as in the table.
                        + " FROM spans AS e CROSS JOIN spans AS s ON s.trace = e.trace AND s.span = e.span"
                        + " CROSS JOIN resources AS r ON r.number = s.resource WHERE true" + filter.sql
                        + " ORDER BY e.began DESC, e.trace DESC, e.span DESC LIMIT ?",
                    listing: filter.values + [limit.stored]
                ) { row in
                    guard try body(&state, FoundSpan(row, hasLine: hasLines)) else { throw Enough() }
                }
            } catch is Enough {}
            return state
        }
    }
}

public import StorageKit

/// What the database can decide about a span without reading its line: comparisons that must all hold.
public struct SpanFilter: Sendable {
    /// A part of a span that has a column.
    public enum Column: Sendable {
        /// When it began, as a `Timestamp`.
        case began
        /// How long it took, in nanoseconds.
        case duration
        /// Its name.
        case name
        /// The feature or library that did it.
        case feature
        /// The program; empty if that is not known.
        case service
        /// The trace, as bytes.
        case trace
        /// The code of the error that ended it; null after success.
        case failure
    }

    /// How a column is compared with a value.
    public enum Sign: Sendable {
        case equal, unequal, less, atMost, greater, atLeast
    }

    private(set) var sql: SQL = ""
    private(set) var values: [StoredValue] = []

    /// All spans.
    public init() {}

    /// Lets only requests by HTTP and their streams through, of both sides, which are named after their method. The condition
    /// is that of the index `spans_requests`, which is used only as long as both are the same.
    public mutating func requireRequests() {
        sql =
            sql + " AND (e.name = 'stream' OR substr(e.name, 1, instr(e.name || ' ', ' ') - 1)"
            + " IN ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HTTP'))"
    }

    /// Lets only spans through whose column compares so with a value. Null is equal to itself and to nothing else.
    public mutating func require(_ column: Column, _ sign: Sign, _ value: some Storable) {
        let value = value.stored
        guard value != .null else {
            // With a value that is bound, the index of the failed ones would not be used.
            sql = sql + " AND " + column.sql + (sign == .equal ? " IS NULL" : " IS NOT NULL")
            return
        }
        values.append(value)
        switch (column, sign) {
        case (.service, _):
            // A program has few resources and many spans. The sign keeps the index of resources out of it, which has no order.
            sql = sql + " AND +s.resource IN (SELECT number FROM resources AS r WHERE " + column.sql + sign.sql + "?)"
        // A range of names in their index would have to be sorted by time.
        case (.name, let sign) where sign != .equal: sql = sql + " AND s.name" + sign.sql + "?"
        case (_, .unequal): sql = sql + " AND " + column.sql + " IS NOT ?"
        default: sql = sql + " AND " + column.sql + sign.sql + "?"
        }
    }
}

extension SpanFilter.Column {
    fileprivate var sql: SQL {
        switch self {
        // What has an index is asked of the entry, so that the rest of the span is read only if that fits.
        case .began: "e.began"
        case .duration: "e.duration"
        case .name: "e.name"
        case .trace: "e.trace"
        case .failure: "e.failure"
        case .feature: "s.feature"
        case .service: FoundSpan.service
        }
    }
}

extension SpanFilter.Sign {
    fileprivate var sql: SQL {
        switch self {
        case .equal: " = "
        case .unequal: " <> "
        case .less: " < "
        case .atMost: " <= "
        case .greater: " > "
        case .atLeast: " >= "
        }
    }
}

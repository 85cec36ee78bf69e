/// Prepared statements that are not in use, by their text.
struct StatementCache {
    private static let limit = 64

    private var idle: [String: (statement: Statement, lastUse: UInt64)] = [:]
    private var uses: UInt64 = 0

    /// Gives one away; the same text asked for meanwhile, as in a nested loop, is prepared anew.
    mutating func take(_ sql: String) -> Statement? {
        idle.removeValue(forKey: sql)?.statement
    }

    /// Takes one back; over the limit, the one that was used longest ago goes.
    mutating func put(_ statement: Statement) {
        uses += 1
        idle[statement.sql] = (statement, uses)
        if idle.count > Self.limit, let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            idle[oldest.key] = nil
        }
    }

    mutating func removeAll() {
        idle = [:]
    }
}

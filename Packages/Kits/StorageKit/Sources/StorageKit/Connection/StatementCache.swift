/// Prepared statements that are not in use, by their text.
struct StatementCache {
    private static let limit = 64

    /// The one that was used last comes last.
    private var idle: [Statement] = []

    /// Gives one away; the same text asked for meanwhile, as in a nested loop, is prepared anew.
    mutating func take(_ sql: String) -> Statement? {
        // Most calls want one of the last few, and a literal is equal to itself by its address: no text is looked through.
        guard let index = idle.lastIndex(where: { $0.sql == sql }) else { return nil }
        return idle.remove(at: index)
    }

    /// Takes one back; over the limit, the one that was used longest ago goes.
    mutating func put(_ statement: Statement) {
        idle.append(statement)
        if idle.count > Self.limit { idle.removeFirst() }
    }

    mutating func removeAll() {
        idle = []
    }
}

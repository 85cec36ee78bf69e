import Capabilities
import StorageKit

extension GatewayStore {
    /// Counts an answer that belongs to no message here. It works in a task that was cancelled, too.
    public func account(_ entry: UsageEntry) async throws {
        var entry = entry
        (entry.provider, entry.model) = (kept(entry.provider), kept(entry.model))
        try await accounts.add(entry, at: now())
    }

    /// What the answers took: each for itself and each day in their order, all else from the most tokens down.
    public func usage(by group: UsageGroup, _ filter: UsageFilter = UsageFilter()) async throws -> [UsageSum] {
        let (from, through) = (filter.from?.number ?? .min, filter.through?.number ?? .max)
        let query = Connection.usageQuery(group, filter)
        return try await database.read { connection in
            try connection.all(
                query, filter.session, filter.project, filter.provider, filter.model, from, through, filter.client
            ) { row in
                let key: StoredValue = try row[0]
                return try Connection.sum(row, from: 1, key: Self.key(key, group))
            }
        }
    }

    private static func key(_ stored: StoredValue, _ group: UsageGroup) -> String? {
        switch stored {
        case .integer(let number): group == .day ? Day(number: Int(number)).description : String(number)
        case .text(let text): text.isEmpty ? nil : text
        default: nil
        }
    }
}

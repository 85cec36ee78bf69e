import StorageKit

/// What a person is offered while typing: only what is in the database now, which is not created for this.
extension GatewayStore {
    /// A word with its meaning.
    public struct Offer: Sendable, Hashable {
        /// The id or the name.
        public let word: String
        /// What it is.
        public let summary: String
    }

    /// The longest list that still helps.
    private static let mostOffered = 200

    /// Projects by id, with their names and folders, the most recently used first.
    public func offeredProjects() -> [Offer] {
        let found: [Offer]? = database.glance { connection in
            try connection.all(
                "SELECT id, name, path FROM projects ORDER BY updated DESC LIMIT ?", Self.mostOffered
            ) { row in Offer(word: try row[0], summary: "\(try row[1] as String), \(try row[2] as String)") }
        }
        return found ?? []
    }

    /// Sessions by id, with their titles, the most recently used first.
    public func offeredSessions() -> [Offer] {
        let found: [Offer]? = database.glance { connection in
            try connection.all(
                "SELECT id, title FROM sessions ORDER BY updated DESC LIMIT ?", Self.mostOffered
            ) { row in Offer(word: try row[0], summary: try row[1]) }
        }
        return found ?? []
    }

    /// The clients with tokens by name, with their scopes.
    public func offeredClients() -> [Offer] {
        let found: [Offer]? = database.glance { connection in
            try connection.all("SELECT name, scopes FROM clients ORDER BY name LIMIT ?", Self.mostOffered) { row in
                Offer(word: try row[0], summary: try row[1])
            }
        }
        return found ?? []
    }
}

public import Capabilities

/// A database as one of the stores that people list, check, save and restore in one way.
public final class DatabaseStore: DataStore {
    public let id: String
    public let summary: String
    private let database: Database

    public init(id: String, summary: String, database: Database) {
        self.id = id
        self.summary = summary
        self.database = database
    }

    public var location: String { database.path }

    public func check() async throws -> [String] { try await database.check() }
    public func backup(to path: String) async throws { try await database.backup(to: path) }
    public func restore(from path: String) async throws { try await database.restore(from: path) }
    public func compact() async throws -> ByteCount { try await database.compact() }
}

public import Capabilities

/// A database as one of the stores that people list, check, save and restore in one way.
public final class DatabaseStore: DataStore {
    public let id: String
    public let summary: String
    private let database: Database
    private let findUser: @Sendable () throws -> String?

    /// - Parameter user: finds who works with the data at this moment.
    public init(
        id: String, summary: String, database: Database, user: @escaping @Sendable () throws -> String? = { nil }
    ) {
        self.id = id
        self.summary = summary
        self.database = database
        findUser = user
    }

    public var location: String { database.path }

    public func check() async throws -> [String] { try await database.check() }
    public func backup(to path: String) async throws { try await database.backup(to: path) }
    public func verify(_ copy: String) async throws { try await database.verify(copy) }
    public func restore(from path: String) async throws { try await database.restore(from: path) }
    public func compact() async throws -> ByteCount { try await database.compact() }
    public func setAside() throws -> [String] { try DatabaseFile(path: database.path).setAsides }
    public func user() throws -> String? { try findUser() }
}

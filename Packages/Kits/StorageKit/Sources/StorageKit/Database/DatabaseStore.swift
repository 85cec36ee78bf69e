public import Capabilities
import FileKit

/// A database as a data store, to list, check, back up and restore like the others.
public final class DatabaseStore: DataStore {
    public let id: String
    public let summary: String
    private let database: Database
    private let findUser: @Sendable () throws -> String?
    private let emptyBin: @Sendable () async throws -> Int

    /// - Parameters:
    ///   - user: the current user of the data, if there is a better name than that of a process.
    ///   - emptyBin: permanently removes deleted data that could still be restored, and returns how much that was.
    public init(
        id: String, summary: String, database: Database, user: @escaping @Sendable () throws -> String? = { nil },
        emptyBin: @escaping @Sendable () async throws -> Int = { 0 }
    ) {
        self.id = id
        self.summary = summary
        self.database = database
        findUser = user
        self.emptyBin = emptyBin
    }

    public var location: String { database.path }

    public func check() async throws -> [String] { try await database.check() }
    public func backup(to path: String) async throws { try await database.backup(to: path) }
    public func verify(_ copy: String) async throws { try await database.verify(copy) }
    public func restore(from path: String) async throws { try await database.restore(from: path) }
    public func compact() async throws -> ByteCount { try await database.compact() }
    public func setAside() throws -> [String] { try database.setAsides }

    public func purge() async throws -> PurgedData {
        try await database.requireAlone()
        var purged = PurgedData()
        if Files.exists(location) { purged.removed = try await emptyBin() }
        purged.freed = try await database.erase()
        purged.setAside = try database.removeSetAsides()
        return purged
    }

    public func user() throws -> String? {
        if let user = try findUser() { return user }
        // Without a list of locks, no user is known. Operations that need exclusive access check it themselves.
        let holders: [String]
        do { holders = try database.holders() } catch is FileError { return nil }
        return holders.isEmpty ? nil : holders.joined(separator: ", ")
    }
}

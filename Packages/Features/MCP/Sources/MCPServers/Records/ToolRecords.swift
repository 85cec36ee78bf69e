public import Capabilities
import FileKit
public import JSON
public import StorageKit

/// What is remembered of the tools of servers: how they were listed last, so that models know them before the server runs,
/// and how they were when the person approved them; and which servers and tools the person has chosen.
public final class ToolRecords: Sendable {
    /// The file.
    public let database: Database

    /// The records in a file, which is created when something is to be remembered.
    public init(_ path: String, notice: @escaping @Sendable (StorageNotice) -> Void) {
        database = Database(path, migrations: Self.migrations, durability: .normal, notice: notice)
    }

    /// Never change a released migration; add a new one.
    static let migrations = [
        Migration(
            "mcp",
            """
            CREATE TABLE tools (
                server TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, listed TEXT NOT NULL,
                PRIMARY KEY (server, name)) STRICT, WITHOUT ROWID;
            CREATE TABLE approved (
                server TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, time INTEGER NOT NULL,
                PRIMARY KEY (server, name)) STRICT, WITHOUT ROWID;
            CREATE TABLE listings (server TEXT PRIMARY KEY, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE choices (
                scope TEXT NOT NULL, owner TEXT NOT NULL, choice TEXT NOT NULL, time INTEGER NOT NULL,
                PRIMARY KEY (scope, owner)) STRICT, WITHOUT ROWID;
            """),
        Migration(
            "platforms",
            """
            CREATE TABLE platforms (
                profile TEXT PRIMARY KEY, address TEXT NOT NULL, tools TEXT NOT NULL, time INTEGER NOT NULL)
                STRICT, WITHOUT ROWID;
            """),
        Migration(
            "inputs",
            """
            CREATE TABLE inputs (
                server TEXT NOT NULL, name TEXT NOT NULL, answer TEXT NOT NULL, time INTEGER NOT NULL,
                PRIMARY KEY (server, name)) STRICT, WITHOUT ROWID;
            """),
    ]

    /// Waits for what is being written and closes the file.
    public func close() async { await database.close() }

    private var isThere: Bool { Files.exists(database.path) }

    // MARK: Tools

    /// The tools as they were listed last; nil if they never were.
    public func tools(of server: String) async throws -> [JSON]? {
        guard isThere else { return nil }
        return try await database.read { connection in
            let time = try connection.first("SELECT time FROM listings WHERE server = ?", server) { row in
                try row[0] as Timestamp
            }
            guard time != nil else { return nil }
            return try connection.all("SELECT listed FROM tools WHERE server = ? ORDER BY position", server) { row in
                try JSON(parsing: row[0] as String)
            }
        }
    }

    /// The same for a person who is typing: what cannot be read at once is empty.
    public func toolsNow(of server: String) -> [JSON] {
        let found = database.glance { connection in
            try connection.all("SELECT listed FROM tools WHERE server = ? ORDER BY position", server) { row in
                try JSON(parsing: row[0] as String)
            }
        }
        return found ?? []
    }

    /// Takes the place of what was listed before.
    public func learn(_ tools: [(name: String, listed: JSON)], of server: String, at time: Timestamp) async throws {
        try await database.write { connection in
            try connection.run("DELETE FROM tools WHERE server = ?", server)
            for (position, tool) in tools.enumerated() {
                try connection.run(
                    "INSERT OR REPLACE INTO tools (server, position, name, listed) VALUES (?, ?, ?, ?)", server,
                    position, tool.name, tool.listed.text())
            }
            try connection.run("INSERT OR REPLACE INTO listings (server, time) VALUES (?, ?)", server, time)
        }
    }

    /// How a tool was when the person approved it; nil if that never was.
    public func approved(_ tool: String, of server: String) async throws -> JSON? {
        guard isThere else { return nil }
        return try await database.read { connection in
            try connection.first("SELECT text FROM approved WHERE server = ? AND name = ?", server, tool) { row in
                try JSON(parsing: row[0] as String)
            }
        }
    }

    /// Remembers what the person has approved.
    public func approve(_ tool: String, _ listed: JSON, of server: String, at time: Timestamp) async throws {
        try await database.write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO approved (server, name, text, time) VALUES (?, ?, ?, ?)", server, tool,
                listed.text(), time)
        }
    }

    /// Forgets everything about a server.
    public func forget(_ server: String) async throws {
        guard isThere else { return }
        try await database.write { connection in
            for table: SQL in ["tools", "approved", "listings", "inputs"] {
                try connection.run("DELETE FROM " + table + " WHERE server = ?", server)
            }
        }
    }

    // MARK: Inputs

    /// What the person answered for a server; nil if that never was. Secrets are in the vault, not here.
    public func answer(_ name: String, of server: String) async throws -> String? {
        guard isThere else { return nil }
        return try await database.read { connection in
            try connection.first("SELECT answer FROM inputs WHERE server = ? AND name = ?", server, name) { row in
                try row[0] as String
            }
        }
    }

    /// Remembers what the person answered.
    public func keep(_ answer: String, for name: String, of server: String, at time: Timestamp) async throws {
        try await database.write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO inputs (server, name, answer, time) VALUES (?, ?, ?, ?)", server, name, answer,
                time)
        }
    }

    // MARK: Platforms

    /// What the platform of a profile has told of its tools last; nil if it never did at this address.
    public func listing(of profile: String, at address: String) async throws -> PlatformListing? {
        guard isThere else { return nil }
        return try await database.read { try Self.listing(of: profile, at: address, in: $0) }
    }

    /// The same for a person who is typing: what cannot be read at once is nil.
    public func listingNow(of profile: String, at address: String) -> PlatformListing? {
        database.glance { try Self.listing(of: profile, at: address, in: $0) } ?? nil
    }

    private static func listing(
        of profile: String, at address: String, in connection: Connection
    ) throws -> PlatformListing? {
        let stored = try connection.first(
            "SELECT tools FROM platforms WHERE profile = ? AND address = ?", profile, address
        ) { row in try JSON(parsing: row[0] as String) }
        return stored.map { stored in
            PlatformListing(
                profile: profile, tools: (stored.array ?? []).compactMap { PlatformTool(stored: $0) })
        }
    }

    /// Takes the place of what the platform told before.
    public func learn(_ listing: PlatformListing, at address: String, at time: Timestamp) async throws {
        try await database.write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO platforms (profile, address, tools, time) VALUES (?, ?, ?, ?)",
                listing.profile, address, JSON.array(listing.tools.map(\.json)).text(), time)
        }
    }

    // MARK: Choices

    /// What was chosen for a scope; nil for nothing.
    public func choice(_ scope: ServerChoice.Scope, _ owner: String) async throws -> ServerChoice? {
        guard isThere else { return nil }
        return try await database.read { connection in
            try connection.first("SELECT choice FROM choices WHERE scope = ? AND owner = ?", scope.rawValue, owner) {
                row in
                try ServerChoice(stored: JSON(parsing: row[0] as String))
            }
        }
    }

    /// Keeps a choice; nil removes it.
    public func choose(
        _ choice: ServerChoice?, _ scope: ServerChoice.Scope, _ owner: String, at time: Timestamp
    ) async throws {
        if choice == nil, !isThere { return }
        try await database.write { try Self.write(choice?.json, scope.rawValue, owner, at: time, to: $0) }
    }

    private static func write(
        _ choice: JSON?, _ scope: String, _ owner: String, at time: Timestamp, to connection: Connection
    ) throws {
        guard let choice else {
            try connection.run("DELETE FROM choices WHERE scope = ? AND owner = ?", scope, owner)
            return
        }
        try connection.run(
            "INSERT OR REPLACE INTO choices (scope, owner, choice, time) VALUES (?, ?, ?, ?)", scope, owner,
            choice.text(), time)
    }

    // MARK: Choices for gateways

    /// The scope of choices for new sessions of gateways, beside those of `ServerChoice`.
    private static let gateways = "gateway"

    /// The profile of the gateway, and the project if it is a choice for one. Ids of projects can have any character.
    private static func owner(_ gateway: String, _ project: String?) -> String {
        JSON.array(([gateway] + (project.map { [$0] } ?? [])).map(JSON.string)).text()
    }

    private static func chosen(_ gateway: String, _ project: String?, in connection: Connection) throws
        -> GatewayDefault?
    {
        try connection.first(
            "SELECT choice FROM choices WHERE scope = ? AND owner = ?", gateways, owner(gateway, project)
        ) { row in try GatewayDefault(stored: JSON(parsing: row[0] as String)) }
    }

    /// What was chosen for new sessions of a gateway; nil for nothing.
    ///
    /// - Parameter project: the project of the gateway; nil for what was chosen for all.
    public func chosen(forNewSessionsOf gateway: String, project: String?) async throws -> GatewayDefault? {
        guard isThere else { return nil }
        return try await database.read { try Self.chosen(gateway, project, in: $0) }
    }

    /// Changes that choice at once, so that none of another process is lost. An empty choice is removed.
    public func choose(
        forNewSessionsOf gateway: String, project: String?, at time: Timestamp,
        _ change: @escaping @Sendable (inout GatewayDefault) -> Void
    ) async throws {
        try await database.write { connection in
            var chosen = try Self.chosen(gateway, project, in: connection) ?? GatewayDefault()
            change(&chosen)
            // Not `nil : chosen.json`, which would be a stored null.
            let kept: JSON? = chosen.isEmpty ? .none : .some(chosen.json)
            try Self.write(kept, Self.gateways, Self.owner(gateway, project), at: time, to: connection)
        }
    }
}

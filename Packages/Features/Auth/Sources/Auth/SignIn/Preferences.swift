import StorageKit

/// Remembers sign-in choices for a server until the user signs out.
final class Preferences: Sendable {
    static let migrations: [Migration] = [
        Migration(
            "preferences",
            """
            CREATE TABLE preferences (
                profile TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (profile, name)
            ) STRICT, WITHOUT ROWID;
            """)
    ]

    /// The user name of the last sign-in.
    static let user = "user"

    private let database: Database

    init(database: Database) {
        self.database = database
    }

    func value(_ name: String, of profile: ServerProfile) async throws -> String? {
        try await database.read { connection in
            try connection.first(
                "SELECT value FROM preferences WHERE profile = ? AND name = ?", profile.name, name
            ) { try $0[0] }
        }
    }

    func remember(_ value: String, as name: String, of profile: ServerProfile) async throws {
        try await database.write { connection in
            try connection.run(
                "INSERT INTO preferences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                profile.name, name, value)
        }
    }

    /// Removes all preferences for a profile.
    func clear(_ profile: String) async throws {
        try await database.write { try $0.run("DELETE FROM preferences WHERE profile = ?", profile) }
    }
}

//# storage
import Capabilities
import Registry
import StorageKit

/// Notes of the user in a database, which is opened on first use.
final class WeatherNotes: Sendable {
    let database: Database
    private let now: @Sendable () -> Timestamp

    /// A released migration never changes; new ones are appended.
    private static let migrations = [
        Migration("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, time INTEGER NOT NULL)")
    ]

    init(_ surroundings: Surroundings) {
        database = Database("\(surroundings.locations.data)/weather.db", migrations: Self.migrations)
        now = surroundings.now
    }

    var actions: [Action] {
        [
            Action("weather.note", "Store a note", .writes, .argument("text", "The note")) { _, text in
                let time = self.now()
                try await self.database.write { notes in
                    try notes.run("INSERT INTO notes (text, time) VALUES (?, ?)", text, time.microseconds)
                }
                return "stored"
            }
            .example("martlet weather note 'Rain at noon'", "Stores a note"),
            Action("weather.notes", "List the notes, the newest first", .reads) { context in
                let notes = try await self.database.read { notes in
                    try notes.all("SELECT id, text, time FROM notes ORDER BY id DESC LIMIT 100") { row in
                        WeatherNote(id: try row[0], text: try row[1], time: Timestamp(microseconds: try row[2]))
                    }
                }
                return context.rows(notes, orSay: "there are no notes; 'martlet weather note TEXT' stores one")
            }
            .example("martlet weather notes --json", "As an array"),
            Action("weather.forget", "Delete a note", .destroys, .argument("id", "Its number", as: Int.self)) { _, id in
                try await self.database.write { notes in try notes.run("DELETE FROM notes WHERE id = ?", id) }
                return Nothing()
            },
        ]
    }

    func close() async {
        await database.close()
    }
}

/// A stored note.
struct WeatherNote: Record {
    let id: Int
    let text: String
    let time: Timestamp

    static let fields: [Field<WeatherNote>] = [
        Field("id", "Its number") { $0.id },
        Field("text", "The note", .name) { $0.text },
        Field("time", "When it was stored") { $0.time },
    ]
}
//#

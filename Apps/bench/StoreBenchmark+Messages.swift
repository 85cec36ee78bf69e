import CoreTesting
import FileKit
import Glibc

/// Words as in texts of people: a few occur everywhere, most seldom. Always the same for one seed.
struct MessageWords {
    private static let vocabulary = 20_000
    private static let syllables = ["ka", "to", "mi", "ren", "sol", "var", "pe", "lu", "shi", "do", "wan", "bel"]

    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func message() -> String {
        (0..<20).map { _ in word() }.joined(separator: " ")
    }

    /// The n-th word is about n times as rare as the first.
    mutating func word() -> String {
        let rank = Int(pow(Double(Self.vocabulary), Double.random(in: 0..<1, using: &random)))
        var number = rank
        var word = ""
        repeat {
            word += Self.syllables[number % Self.syllables.count]
            number /= Self.syllables.count
        } while number > 0
        return word
    }
}

/// The script that the sqlite3 shell reads: the settings of our connections, the same tables and the same batches.
enum StoreScript {
    private static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA temp_store = MEMORY;
        PRAGMA cell_size_check = ON;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA foreign_keys = ON;
        PRAGMA trusted_schema = OFF;

        """

    static func write(_ messages: [[String]], tables: StaticString, to path: String) throws {
        var script = settings + tables.description
        for batch in messages {
            script += "BEGIN IMMEDIATE;\n"
            for text in batch {
                script += "INSERT INTO messages (text) VALUES ('\(text)');\n"
                script += "INSERT INTO messages_text (rowid, text) VALUES (last_insert_rowid(), '\(text)');\n"
            }
            script += "COMMIT;\n"
        }
        try Files.writeAtomically(Array(script.utf8), to: path)
    }
}

import CoreTesting
import StorageKit
import Testing

@Suite("Full-text search")
struct SearchTests {
    private static let texts = [
        Migration("texts", "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')")
    ]

    private func withTexts<T>(_ body: (Connection) throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let connection = try Connection.open("\(folder)/a.db", migrations: Self.texts)
            defer { connection.close() }
            for text in [
                "the quick brown fox", "the brown quick fox", "a brownie for Müller", "don't stop AND go", "c++ -x",
            ] {
                try connection.run("INSERT INTO texts VALUES (?)", text)
            }
            return try body(connection)
        }
    }

    private func find(_ typed: String, _ connection: Connection) throws -> [Int]? {
        guard let query = SearchQuery(typed) else { return nil }
        return try connection.all("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", query.text) { row in
            try row[0] as Int
        }
    }

    @Test(
        "A typed query finds the matching texts",
        arguments: [
            ("brown", [1, 2]), ("QUICK fox", [1, 2]), ("\"quick brown\"", [1]), ("brow*", [1, 2, 3]),
            ("brown -\"quick brown\"", [2]), ("fox -quick", []), ("muller", [3]), ("don't", [4]), ("AND", [4]),
            ("NOT OR", []), ("c++", [5]), ("brown \"", [1, 2]), ("\"quick bro", []), ("\"brown quick", [2]),
            ("text:brown", []), ("(brown)", [1, 2]), ("brown^2 *", []), ("- brown", [1, 2]), ("brown --quick", []),
        ] as [(String, [Int])])
    func finds(typed: String, expected: [Int]) async throws {
        let found = try await withTexts { try find(typed, $0) }
        #expect(found == expected)
    }

    @Test("An index over another table is updated in the same transaction")
    func external() async throws {
        try await TemporaryDirectory.run { folder in
            let tables: SQL = """
                CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
                CREATE VIRTUAL TABLE notes_text USING fts5(text, content = 'notes', content_rowid = 'id')
                """
            let connection = try Connection.open("\(folder)/a.db", migrations: [Migration("notes", tables)])
            try connection.transaction {
                for text in ["milk and bread", "bread and butter"] {
                    try connection.add(text)
                    try connection.run(
                        "INSERT INTO notes_text (rowid, text) VALUES (?, ?)", try connection.lastInsertedID, text)
                }
            }
            let sql: SQL = "SELECT text FROM notes_text WHERE notes_text MATCH ? ORDER BY rowid DESC"
            let query = try #require(SearchQuery("bread"))
            let found = try connection.all(sql, query.text) { row in try row[0] as String }
            #expect(found == ["bread and butter", "milk and bread"])
            connection.close()
        }
    }

    @Test("A trigger in a database file cannot use a virtual table")
    func triggers() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Connection.open(path, migrations: notes).close()
            _ = try shell(
                """
                sqlite3 \(path) 'CREATE VIRTUAL TABLE t USING fts5(text); CREATE TRIGGER e AFTER INSERT ON notes BEGIN \
                INSERT INTO t VALUES (new.text); END'
                """)
            let connection = try Connection.open(path, migrations: notes)
            #expect(failure { try connection.add("a") } == .statement)
            connection.close()
        }
    }

    @Test(
        "A text without search words is not a query",
        arguments: ["", "   ", "-fox", "\"\"", "*", "- - \"!?\"", "🙂 ***"])
    func nothing(typed: String) {
        #expect(SearchQuery(typed) == nil)
    }

    @Test("Typed text never causes a syntax error")
    func anything() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "*", "-", "+", "(", ")", "^", ":", "{", "}", "AND", "OR", "NOT", "NEAR(", " ", "a", "brown", "\0",
            "ß",
            "🙂", "'", "\\", "\n", "1", ",", "\u{200B}", "\u{0301}", "\u{E000}", "٣", "Ⅷ",
        ]
        try await withTexts { connection in
            for _ in 0..<5000 {
                let typed = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }.joined()
                #expect(failure { _ = try find(typed, connection) } == nil, "seed \(seed): \(typed.debugDescription)")
            }
            let long = (0..<3000).map { "\($0 % 2 == 0 ? "" : "-")w\($0)" }.joined(separator: " ")
            _ = try find(long, connection)
            _ = try find(String(repeating: "x", count: 200_000), connection)
        }
    }

    @Test(
        "A pattern matches every text with its text in it, and has no other signs",
        arguments: [
            ("", "", true), ("b", "abc", true), ("B", "abc", true), ("d", "abc", false), ("a%b", "xa%by", true),
            ("a%b", "axb", false), ("_", "a_b", true), ("_", "ab", false), ("\\", "a\\b", true), ("\\", "ab", false),
        ])
    func pattern(text: String, value: String, matches: Bool) async throws {
        try await withTexts { connection in
            let found: Bool? = try connection.first(
                "SELECT ?1 LIKE ?2 ESCAPE '\\'", value, SearchQuery.pattern(text)
            ) { row in try row[0] }
            #expect(found == matches)
        }
    }
}

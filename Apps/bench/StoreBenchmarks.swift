import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import Glibc
import HTTPTesting
import StorageKit

/// A million messages of 20 words stored in batches with a full-text index, against the sqlite3 shell with the same
/// statements in a script; then searches for the newest 20.
enum StoreBenchmark {
    private static let batches = 1000
    private static let batchSize = 1000
    private static let searches = 1000

    private static let tables: StaticString = """
        CREATE TABLE messages (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
        CREATE VIRTUAL TABLE messages_text
            USING fts5(text, content = 'messages', content_rowid = 'id', prefix = '2 3 4');

        """

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            var words = MessageWords(seed: 20)
            let messages = (0..<batches).map { _ in (0..<batchSize).map { _ in words.message() } }
            try StoreScript.write(messages, tables: tables, to: "\(folder)/script.sql")

            let migrations = [Migration("messages", SQL(stringLiteral: tables))]
            var (shell, ours, times) = (Double.infinity, Double.infinity, [Double]())
            // The best of two alternating rounds, because a machine's speed drifts.
            for round in 0..<2 {
                let (mine, theirs) = ("\(folder)/ours\(round).db", "\(folder)/theirs\(round).db")
                let arguments = ["-batch", theirs, ".read '\(folder)/script.sql'"]
                shell = min(shell, try await Peers.time("sqlite3", arguments) / .seconds(1))
                let database = Database(mine, migrations: migrations, durability: .normal)
                ours = min(ours, try await insert(messages, into: database))
                try await compare(mine, theirs)
                let reopened = Database(mine, migrations: migrations, durability: .normal)
                times = try await search(reopened, &words)
                await reopened.close()
                for file in [mine, theirs] { try Files.remove(file) }
            }

            let count = Double(batches * batchSize)
            return [
                Figure(
                    "1,000,000 messages with full-text index, rate: ours / sqlite3", shell / ours, "ratio",
                    .atLeast(0.7)),
                Figure("newest 20 of a full-text search, p99", times[searches * 99 / 100], "ms", .atMost(10)),
                Figure("newest 20 of a full-text search, median", times[searches / 2], "ms"),
                Figure("ours", count / ours, "messages/s"),
                Figure("sqlite3", count / shell, "messages/s"),
            ]
        }
    }

    /// The seconds from opening until closed, to match the shell's time.
    private static func insert(_ messages: [[String]], into database: Database) async throws -> Double {
        let start = ContinuousClock.now
        for batch in messages {
            try await database.write { connection in
                for text in batch {
                    try connection.run("INSERT INTO messages (text) VALUES (?)", text)
                    try connection.run(
                        "INSERT INTO messages_text (rowid, text) VALUES (?, ?)", try connection.lastInsertedID, text)
                }
            }
        }
        await database.close()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Sorted times in milliseconds: single words of all frequencies, pairs of words, prefixes of words.
    private static func search(_ database: Database, _ words: inout MessageWords) async throws -> [Double] {
        var times: [Double] = []
        for number in 0..<searches {
            let typed =
                switch number % 4 {
                case 0: "\(words.word()) \(words.word())"
                case 1: "\(words.word().prefix(4))*"
                default: words.word()
                }
            guard let query = SearchQuery(typed) else { throw BenchmarkError("\(typed) is no query") }
            let start = ContinuousClock.now
            let found = try await database.read { connection in
                try connection.all(
                    """
                    SELECT rowid, snippet(messages_text, 0, '[', ']', '…', 8) FROM messages_text
                        WHERE messages_text MATCH ? ORDER BY rowid DESC LIMIT 20
                    """, query.text
                ) { row in (try row[0] as Int, try row[1] as String) }
            }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            // Two rare words may occur together nowhere.
            guard !found.isEmpty || number % 4 == 0 else { throw BenchmarkError("nothing was found for \(typed)") }
        }
        return times.sorted()
    }

    /// Checks that both databases have the same content, or the figures would be meaningless.
    private static func compare(_ ours: String, _ theirs: String) async throws {
        let sums = "SELECT count(*), sum(length(text)), max(id) FROM messages"
        let answers = [
            try await Peers.output("sqlite3", [ours, sums]), try await Peers.output("sqlite3", [theirs, sums]),
        ]
        guard answers[0] == answers[1], answers[0].hasPrefix("\(batches * batchSize)|") else {
            throw BenchmarkError("the databases differ: \(answers)")
        }
    }
}

/// Words with natural frequencies: a few are common, most are rare. The same seed gives the same words.
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

/// The script for the sqlite3 shell: the settings of our connections, the same tables and the same batches.
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

/// A hundred thousand conversations of ten messages each: the first page of their list, and searches in their million
/// messages for the newest 20.
enum HistoryBenchmark {
    private static let conversations = 100_000
    private static let length = 10
    private static let rounds = 1000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            var words = MessageWords(seed: 21)
            let path = "\(folder)/chat.db"
            let filling = try await fill(History(path, now: Timestamp.now), &words)
            // A new connection, so that the state right after writing is not measured.
            let history = History(path, now: Timestamp.now)
            guard
                try await history.database.read({ try $0.first("SELECT count(*) FROM messages") { try $0[0] } })
                    == conversations * length
            else { throw BenchmarkError("not all messages are stored") }
            let list = try await measure {
                let page = try await history.list()
                guard page.items.count == 50, page.next != nil else { throw BenchmarkError("the page is not full") }
            }
            let filtered = try await measure {
                let page = try await history.list(HistoryFilter(model: "model 3"))
                guard page.items.count == 50 else { throw BenchmarkError("the filtered page is not full") }
            }
            let search = try await search(history, &words)
            await history.close()
            return [
                Figure(
                    "newest 20 of a search in 1,000,000 messages, p99", search[rounds * 99 / 100], "ms", .atMost(10)),
                Figure("first page of 100,000 conversations, p99", list[rounds * 99 / 100], "ms", .atMost(5)),
                Figure("newest 20 of a search, median", search[rounds / 2], "ms"),
                Figure("first page, median", list[rounds / 2], "ms"),
                Figure("first page of one model's, p99", filtered[rounds * 99 / 100], "ms"),
                Figure("bringing conversations in", Double(conversations * length) / filling, "messages/s"),
            ]
        }
    }

    /// The seconds for importing everything.
    private static func fill(_ history: History, _ words: inout MessageWords) async throws -> Double {
        let start = ContinuousClock.now
        for number in 0..<conversations {
            let messages = (0..<length).map { place in
                Message(place.isMultiple(of: 2) ? .user : .assistant, words.message())
            }
            let setup = ConversationSetup(provider: "provider", model: "model \(number % 7)", server: "server")
            try await history.add(Transcript(title: words.word(), setup: setup, messages: messages))
        }
        await history.close()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Sorted times in milliseconds: single words of all frequencies, pairs of words, prefixes of words.
    private static func search(_ history: History, _ words: inout MessageWords) async throws -> [Double] {
        var times: [Double] = []
        for number in 0..<rounds {
            let typed =
                switch number % 4 {
                case 0: "\(words.word()) \(words.word())"
                case 1: "\(words.word().prefix(4))*"
                default: words.word()
                }
            let start = ContinuousClock.now
            let found = try await history.search(typed)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            // Two rare words may occur together nowhere.
            guard !found.isEmpty || number % 4 == 0 else { throw BenchmarkError("nothing was found for \(typed)") }
        }
        return times.sorted()
    }

    private static func measure(_ body: () async throws -> Void) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            try await body()
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        return times.sorted()
    }
}

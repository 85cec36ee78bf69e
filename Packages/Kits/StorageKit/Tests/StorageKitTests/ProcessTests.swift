import CoreTesting
import FileKit
import Glibc
import StorageKit
import Testing

@Suite("Concurrent and killed processes", .timeLimit(.minutes(5)))
struct ProcessTests {
    private static let pairs = [
        Migration(
            "pairs",
            """
            CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
            CREATE TABLE sums (name TEXT PRIMARY KEY, parts INTEGER NOT NULL) STRICT;
            CREATE VIRTUAL TABLE words USING fts5(name)
            """)
    ]

    /// Writes three parts and their sum in one transaction, then notes the name in the journal.
    private static func write(_ name: String, to database: Database, noting journal: Journal) async throws {
        try await database.write { connection in
            for _ in 0..<3 { try connection.run("INSERT INTO parts (name) VALUES (?)", name) }
            try connection.run("INSERT INTO sums VALUES (?, 3)", name)
            try connection.run("INSERT INTO words VALUES (?)", name)
        }
        try journal.note(name)
    }

    @Test("A process killed at a random moment loses nothing that it committed", arguments: [false, true])
    func killed(isFull: Bool) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let rounds = Rounds.of(60, least: 12)
        try await TemporaryDirectory.run { folder in
            let (path, journal) = ("\(folder)/a.db", Journal(path: "\(folder)/journal"))
            for round in 0..<rounds {
                let delay = UInt32.random(in: 0...40_000, using: &random)
                await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed), round \(round)") {
                    [
                        path = path as String, notes = journal.path as String, round = round as Int,
                        isFull = isFull as Bool, delay = delay as UInt32
                    ] in
                    let database = Database(path, migrations: Self.pairs, durability: isFull ? .full : .normal)
                    // In even rounds the process is killed while it opens the database, in odd rounds after a first
                    // confirmed write.
                    if round % 2 == 1 { try await Self.write("w\(round)", to: database, noting: Journal(path: notes)) }
                    try killMyself(after: delay)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for writer in 0..<4 {
                            group.addTask {
                                for number in 0... {
                                    let name = "w\(round)x\(writer)x\(number)"
                                    try await Self.write(name, to: database, noting: Journal(path: notes))
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                if round % 10 == 0 {
                    #expect(try shell("sqlite3 \(path) 'PRAGMA integrity_check'") == "ok\n", "seed \(seed)")
                }
            }
            let database = Database(path, migrations: Self.pairs)
            let (names, torn, indexed) = try await database.read { connection in
                let names = try connection.all("SELECT name FROM sums") { row in try row[0] as String }
                let torn = try connection.first(
                    """
                    SELECT count(*) FROM (SELECT name, count(*) AS n FROM parts GROUP BY name) AS found
                        FULL JOIN sums ON sums.name = found.name WHERE sums.parts IS NOT found.n
                    """
                ) { row in try row[0] as Int }
                let indexed = try connection.first("SELECT count(*) FROM words") { row in try row[0] as Int }
                return (Set(names), torn, indexed)
            }
            let confirmed = try journal.lines
            #expect(confirmed.count >= rounds / 2, "every other round confirmed something")
            #expect(confirmed.filter { !names.contains($0) } == [], "seed \(seed)")
            #expect(torn == 0 && indexed == names.count, "seed \(seed)")
            #expect(try await database.check() == [])
            await database.close()
            #expect(try Files.list(folder).map(\.name).sorted() == ["a.db", "journal"], "nothing was set aside")
        }
    }

    @Test("Three programs that write at once lose nothing and never get a lock error")
    func together() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, journal) = ("\(folder)/a.db", Journal(path: "\(folder)/journal"))
            await withTaskGroup(of: Void.self) { group in
                for program in 0..<3 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [path = path as String, notes = journal.path as String, program = program as Int] in
                            let database = Database(path, migrations: Self.pairs, durability: .normal)
                            for number in 0..<150 {
                                let name = "w\(program)x\(number)"
                                try await Self.write(name, to: database, noting: Journal(path: notes))
                            }
                            await database.close()
                        }
                    }
                }
            }
            let confirmed = try journal.lines.count
            #expect(confirmed == 450)
            #expect(try shell("sqlite3 \(path) 'SELECT count(*), sum(parts) FROM sums'") == "450|1350\n")
            #expect(try shell("sqlite3 \(path) 'PRAGMA integrity_check'") == "ok\n")
        }
    }

    @Test("A lock that another program keeps for too long gives a clear error")
    func busy() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let other = try Connection.open(path, migrations: notes)
            let database = Database(path, migrations: notes, busyLimit: .milliseconds(100))
            _ = try await database.read { try $0.count }
            try await Lock.hold(other) {
                let error = await #expect(throws: StorageError.self) { try await database.write { try $0.add("a") } }
                #expect(error?.kind == .busy)
                #expect(
                    error?.message == "another connection has kept \(path) locked for 100ms; try again when it is done")
                let count = try await database.read { try $0.count }
                #expect(count == 0, "who reads does not wait for who writes")
            }
            try await database.write { try $0.add("b") }
            await database.close()
        }
    }
}

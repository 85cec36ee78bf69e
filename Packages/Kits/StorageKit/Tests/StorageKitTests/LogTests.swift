import CoreTesting
import FileKit
import StorageKit
import Testing

@Suite("Log of a closed database", .timeLimit(.minutes(5)))
struct LogTests {
    private func database(_ folder: String, leavesLog: Bool = true) -> Database {
        Database("\(folder)/a.db", migrations: notes, durability: .normal, leavesLog: leavesLog)
    }

    private func add(_ text: String, _ count: Int = 1, to database: Database) async throws {
        try await database.write { connection in
            for _ in 0..<count { try connection.add(text) }
        }
    }

    private func logSize(_ folder: String) throws -> Int {
        let log = "\(folder)/a.db-wal"
        return Files.exists(log) ? Int(try Files.info(log).size) : 0
    }

    @Test("A short log is left in place if allowed, and is read at the next open")
    func short() async throws {
        try await TemporaryDirectory.run { folder in
            let first = database(folder)
            try await add("one", to: first)
            await first.close()
            #expect(try logSize(folder) > 0)
            let second = database(folder)
            #expect(try await second.read { try $0.texts } == ["one"])
            try await add("two", to: second)
            await second.close()
            #expect(try shell("sqlite3 '\(folder)/a.db' 'SELECT text FROM notes'") == "one\ntwo\n")
            let third = database(folder)
            #expect(try await third.read { try $0.texts } == ["one", "two"])
            #expect(try await third.check() == [])
            await third.close()
        }
    }

    @Test("A closed database leaves no log unless requested")
    func none() async throws {
        try await TemporaryDirectory.run { folder in
            let database = database(folder, leavesLog: false)
            try await add("one", to: database)
            await database.close()
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
        }
    }

    @Test("A long log is moved into the file")
    func long() async throws {
        try await TemporaryDirectory.run { folder in
            let database = database(folder)
            try await add(String(repeating: "x", count: 1000), 1000, to: database)
            await database.close()
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
            #expect(try Int(Files.info("\(folder)/a.db").size) > 1_000_000)
        }
    }

    @Test("A log does not grow without limit over many short commands")
    func many() async throws {
        try await TemporaryDirectory.run { folder in
            var wasMoved = false
            for _ in 0..<60 {
                let database = database(folder)
                try await add(String(repeating: "x", count: 2000), 10, to: database)
                await database.close()
                let size = try logSize(folder)
                #expect(size <= 512 << 10)
                if size == 0 { wasMoved = true }
            }
            #expect(wasMoved)
            let last = database(folder)
            #expect(try await last.read { try $0.count } == 600)
            #expect(try await last.check() == [])
            await last.close()
        }
    }

    @Test("A backup includes data that is only in the log")
    func copied() async throws {
        try await TemporaryDirectory.run { folder in
            let first = database(folder)
            try await add("one", to: first)
            await first.close()
            let second = database(folder)
            try await second.backup(to: "\(folder)/copy")
            await second.close()
            #expect(try shell("sqlite3 '\(folder)/copy' 'SELECT text FROM notes'") == "one\n")
        }
    }

    @Test("A restored database is not overwritten by an old log")
    func restored() async throws {
        try await TemporaryDirectory.run { folder in
            let first = database(folder)
            try await add("one", to: first)
            try await first.backup(to: "\(folder)/copy")
            try await add("two", to: first)
            await first.close()
            let second = database(folder)
            try await second.restore(from: "\(folder)/copy")
            await second.close()
            let third = database(folder)
            #expect(try await third.read { try $0.texts } == ["one"])
            await third.close()
        }
    }
}

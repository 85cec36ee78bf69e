import CoreTesting
import FileKit
import Glibc
import LoopKit
import Synchronization
import Testing

@testable import StorageKit

@Suite("Database", .timeLimit(.minutes(5)))
struct DatabaseTests {
    private func withDatabase<T>(_ body: (Database) async throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: notes, durability: .normal)
            let result = try await body(database)
            await database.close()
            return result
        }
    }

    @Test("A database is not opened before the first use")
    func lazy() async throws {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/deep/a.db", migrations: notes)
            let before = try Files.list(folder)
            #expect(before.isEmpty)
            #expect(try await database.read { try $0.count } == 0)
            #expect(Files.exists("\(folder)/deep/a.db"))
            await database.close()
        }
    }

    @Test("A write is one transaction")
    func oneTransaction() async throws {
        struct Stop: Error {}
        try await withDatabase { database in
            await #expect(throws: Stop.self) {
                try await database.write { connection in
                    try connection.add("a")
                    throw Stop()
                }
            }
            try await database.write { try $0.add("b") }
            #expect(try await database.read { try $0.texts } == ["b"])
        }
    }

    @Test("A database in memory stays the same for successive callers")
    func oneInMemory() async throws {
        let database = Database(inMemory: "memory", migrations: notes)
        // The next call arrives while the thread of the last one is about to end; each round may hit that moment.
        for round in 1...3000 {
            try await database.write { try $0.add("x") }
            try #require(try await database.read { try $0.count } == round)
        }
        await database.close()
    }

    @Test("A database in memory has its tables, keeps its data until it is closed, and creates no file")
    func inMemory() async throws {
        struct Stop: Error {}
        try await TemporaryDirectory.run { folder in
            let database = Database(inMemory: "\(folder)/m.db", migrations: notes)
            await #expect(throws: Stop.self) {
                try await database.write { connection in
                    try connection.add("a")
                    throw Stop()
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask { try await database.write { try $0.add("\(index)") } }
                    group.addTask { _ = try await database.read { try $0.count } }
                }
                try await group.waitForAll()
            }
            #expect(try await database.read { try $0.count } == 20)
            #expect(try Files.list(folder).isEmpty)
            await database.close()
            let kind = await failure { _ = try await database.read { try $0.count } }
            #expect(kind == .closed)
        }
    }

    @Test("A read cannot change anything")
    func readsOnly() async throws {
        try await withDatabase { database in
            let kind = await failure { try await database.read { try $0.add("a") } }
            #expect(kind == .readOnly)
            let other = await failure {
                try await database.read { connection in
                    _ = try connection.transaction { try connection.run("DELETE FROM notes") }
                }
            }
            #expect(other == .readOnly)
            try await database.write { try $0.add("b") }
        }
    }

    @Test("A glance reads what is there, and neither creates nor changes nor repairs a file")
    func glance() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: notes)
            func count(_ database: Database) -> Int? { database.glance { try $0.count } }
            #expect(count(database) == nil)
            #expect(try Files.list(folder).isEmpty)
            try await database.write { try $0.add("a") }
            #expect(count(database) == 1)
            let added: Void? = database.glance { try $0.add("b") }
            #expect(added == nil)
            #expect(count(database) == 1)
            await database.close()
            #expect(count(database) == 1)
            #expect(try Files.list(folder).map(\.name) == ["a.db"])

            let newer = Database(path, migrations: notes + [Migration("tags", "ALTER TABLE notes ADD COLUMN tag TEXT")])
            let tags: [String?]? = newer.glance { connection in
                try connection.all("SELECT tag FROM notes") { row in try row[0] as String? }
            }
            #expect(tags == nil)
            #expect(count(newer) == 1)

            let broken = Array("not a database".utf8)
            try Files.writeAtomically(broken, to: path, mode: 0o600)
            #expect(count(newer) == nil)
            #expect(try Files.read(path, limit: 1000) == broken)
        }
    }

    @Test("A glance leaves the log of a database that was not closed")
    func glanceBesideLog() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let database = Database(path, migrations: notes)
                try await database.write { try $0.add("a") }
                // A database that nobody holds closes, and moves its log.
                withExtendedLifetime(database) { _ = kill(getpid(), SIGKILL) }
            }
            let log = try Files.read("\(path)-wal", limit: 1 << 20)
            #expect(!log.isEmpty)
            let seen: Int? = Database(path, migrations: notes).glance { try $0.count }
            #expect(seen == 1)
            #expect(try Files.read("\(path)-wal", limit: 1 << 20) == log)
        }
    }

    @Test("1,000 callers at once are all served, each exactly once")
    func thousand() async throws {
        try await withDatabase { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        if number % 2 == 0 {
                            try await database.write { try $0.add("\(number)") }
                        } else {
                            _ = try await database.read { try $0.count }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let texts = try await database.read { try $0.texts }
            #expect(texts.compactMap(Int.init).sorted() == Array(stride(from: 0, to: 1000, by: 2)))
        }
    }

    @Test("Readers work while a write is open, and do not see it")
    func readersDuringWrite() async throws {
        try await withDatabase { database in
            let gate = Gate()
            async let write: Void = database.write { connection in
                try connection.add("a")
                gate.pass()
            }
            try await gate.reached()
            for _ in 0..<50 { #expect(try await database.read { try $0.count } == 0) }
            gate.open()
            try await write
            #expect(try await database.read { try $0.count } == 1)
        }
    }

    @Test("Writes happen in the order of the calls")
    func inOrder() async throws {
        try await withDatabase { database in
            let gate = Gate()
            async let first: Void = database.write { _ in gate.pass() }
            try await gate.reached()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try await database.write { try $0.add("\(number)") } }
                    while database.writer.waitingCount <= number { await Task.yield() }
                }
                gate.open()
                try await group.waitForAll()
            }
            try await first
            #expect(try await database.read { try $0.texts } == (0..<20).map(String.init))
        }
    }

    @Test("Callers beyond the queue's limit are refused at once")
    func bounded() async throws {
        try await withDatabase { database in
            let gate = Gate()
            async let first: Void = database.write { _ in gate.pass() }
            try await gate.reached()
            let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<10_050 {
                    group.addTask { await failure { try await database.write { _ in } } == .busy }
                }
                var refused = 0
                for try await isRefused in group {
                    if isRefused { refused += 1 }
                    if refused == 50 { gate.open() }
                }
                return refused
            }
            try await first
            #expect(refused == 50)
        }
    }

    @Test("Cancelled callers do not change the order of the others")
    func someGiveUp() async throws {
        try await withDatabase { database in
            let gate = Gate()
            async let first: Void = database.write { _ in gate.pass() }
            try await gate.reached()
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<300 {
                tasks.append(Task { try await database.write { try $0.add("\(number)") } })
                while database.writer.waitingCount <= number { await Task.yield() }
            }
            for number in 0..<300 where number % 3 != 0 { tasks[number].cancel() }
            while database.writer.waitingCount > 100 { await Task.yield() }
            gate.open()
            try await first
            var given = 0
            for task in tasks {
                do { try await task.value } catch is CancellationError { given += 1 }
            }
            #expect(given == 200)
            #expect(try await database.read { try $0.texts } == (0..<300).filter { $0 % 3 == 0 }.map(String.init))
        }
    }

    @Test("Blocking work does not occupy the threads of the task pool")
    func poolStaysFree() async throws {
        try await withDatabase { database in
            let gate = Gate()
            async let write: Void = database.write { _ in gate.pass() }
            async let reads: Void = withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await database.read { _ in gate.pass() } } }
                try await group.waitForAll()
            }
            try await gate.reached()
            // These tasks would not finish if all threads were blocked.
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 0..<100 { group.addTask { number } }
                return await group.reduce(0, +)
            }
            #expect(sum == 4950)
            gate.open()
            try await write
            try await reads
        }
    }

    @Test("Callers with their own threads read and write at once, concurrently with tasks")
    func now() async throws {
        try await withDatabase { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await onOwnThread {
                            Result {
                                for _ in 0..<25 {
                                    try database.writeNow { try $0.add("\(number)") }
                                    _ = try database.readNow { try $0.count }
                                }
                            }
                        }.get()
                    }
                    group.addTask { for _ in 0..<25 { try await database.write { try $0.add("task") } } }
                }
                try await group.waitForAll()
            }
            let texts = try await database.read { try $0.texts }
            #expect(texts.count == 400)
        }
    }

    @Test("Closing waits for accepted calls and refuses later ones")
    func closing() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: notes)
            let gate = Gate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await database.write { connection in
                        gate.pass()
                        try connection.add("first")
                    }
                }
                try await gate.reached()
                group.addTask { try await database.write { try $0.add("second") } }
                while database.writer.waitingCount == 0 { await Task.yield() }
                group.addTask { await database.close() }
                while !database.writer.isClosed { await Task.yield() }
                let kind = await failure { try await database.write { try $0.add("third") } }
                #expect(kind == .closed)
                gate.open()
                try await group.waitForAll()
            }
            await database.close()
            #expect(failure { _ = try database.readNow { try $0.count } } == .closed)
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
            #expect(try shell("sqlite3 \(path) 'SELECT text FROM notes'") == "first\nsecond\n")
        }
    }

    @Test("An error while opening reaches every caller, and a later call tries again")
    func openingFails() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            _ = try shell("sqlite3 \(path) 'CREATE TABLE theirs (a)'")
            let database = Database(path, migrations: notes)
            for _ in 0..<3 {
                let kind = await failure { _ = try await database.read { try $0.count } }
                #expect(kind == .foreign)
            }
            try Files.remove(path)
            #expect(try await database.read { try $0.count } == 0)
            await database.close()
        }
    }

    @Test("A transaction that cannot be rolled back closes its connection, not the database")
    func brokenConnection() async throws {
        try await withDatabase { database in
            let kind = await failure {
                try await database.write { connection in
                    try connection.add("a")
                    connection.close()
                }
            }
            #expect(kind == .closed)
            try await database.write { try $0.add("b") }
            #expect(try await database.read { try $0.texts } == ["b"])
        }
    }
}

import CoreTesting
import Glibc
import StorageKit
import Testing

@Suite("Cancellation", .timeLimit(.minutes(5)))
struct CancellationTests {
    private func withDatabase<T>(_ body: (Database) async throws -> T) async throws -> T {
        try await TemporaryDirectory.run { folder in
            let database = Database("\(folder)/a.db", migrations: notes)
            let result = try await body(database)
            await database.close()
            return result
        }
    }

    /// Cancels a task, which has to end for that reason; one that went on would run into the limit of the suite.
    private func cancel<T: Sendable>(_ task: Task<T, any Error>) async {
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a cancelled statement ends within a tenth of a second")
    func prompt() async {
        // In a process of its own, where no other test keeps the threads.
        await #expect(processExitsWith: .success) {
            try await TemporaryDirectory.run { folder in
                let database = Database("\(folder)/a.db", migrations: notes)
                var times: [Duration] = []
                for _ in 0..<20 {
                    let running = Flag()
                    let task = Task {
                        try await database.read { connection in
                            running.set()
                            _ = try connection.first(Database.endless) { row in try row[0] as Int }
                        }
                    }
                    while !running.isSet { await Task.yield() }
                    let start = ContinuousClock.now
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                    times.append(ContinuousClock.now - start)
                }
                #expect(times.sorted()[10] < .seconds(20), "\(times)")
                await database.close()
            }
        }
    }

    @Test("an endless query ends when its task is cancelled, and concurrent queries continue")
    func endless() async throws {
        try await withDatabase { database in
            try await database.write { try $0.add("a") }
            let endless = (0..<2).map { _ in
                Task { try await database.read { try $0.first(Database.endless) { row in try row[0] as Int } } }
            }
            let finite = Task {
                try await database.read { connection in
                    let sql: SQL = """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)
                        SELECT count(*) FROM n
                        """
                    return try connection.first(sql) { row in try row[0] as Int }
                }
            }
            for task in endless { await cancel(task) }
            #expect(try await finite.value == 2_000_000)
            #expect(try await database.read { try $0.count } == 1)
        }
    }

    @Test("a cancelled write is rolled back completely")
    func write() async throws {
        try await withDatabase { database in
            let task = Task {
                try await database.write { connection in
                    try connection.add("half")
                    _ = try connection.first(Database.endless) { row in try row[0] as Int }
                }
            }
            await cancel(task)
            #expect(try await database.read { try $0.count } == 0)
            try await database.write { try $0.add("whole") }
            #expect(try await database.read { try $0.count } == 1)
        }
    }

    @Test("a cancelled write whose body never checks is rolled back when the body ends")
    func lateWrite() async throws {
        try await withDatabase { database in
            let (gate, release) = (Gate(), Flag())
            let task = Task {
                try await database.write { connection in
                    try connection.add("a")
                    gate.pass()
                    release.set()
                }
            }
            try await gate.reached()
            task.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(release.isSet)
            let count = try await database.read { try $0.count }
            #expect(count == 0)
        }
    }

    @Test("a cancelled task leaves the queue, and the tasks after it are served")
    func waiting() async throws {
        try await withDatabase { database in
            let first = Task {
                try await database.write { _ = try $0.first(Database.endless) { row in try row[0] as Int } }
            }
            let second = Task { try await database.write { try $0.add("second") } }
            let third = Task { try await database.write { try $0.add("third") } }
            await cancel(second)
            first.cancel()
            try await third.value
            #expect(try await database.read { try $0.texts } == ["third"])
        }
    }

    @Test("a task that is already cancelled starts nothing")
    func before() async throws {
        try await withDatabase { database in
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await database.write { try $0.add("a") } }
                }
            }
            let count = try await database.read { try $0.count }
            #expect(count == 0)
        }
    }

    @Test("a wait for another program's lock ends when its task is cancelled")
    func waitingForLock() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: notes)
            try await database.write { try $0.add("a") }
            let other = try Connection.open(path, migrations: notes)
            try await Lock.hold(other) {
                let task = Task { try await database.write { try $0.add("b") } }
                await cancel(task)
            }
            try await database.write { try $0.add("c") }
            #expect(try await database.read { try $0.texts } == ["a", "c"])
            await database.close()
        }
    }

    @Test("an open that is cancelled during a migration leaves the old schema, and the next caller continues")
    func opening() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: [notes[0], MigrationTests.longStep])
            let task = Task { try await database.read { try $0.count } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let count = try await database.read { try $0.count }
            #expect(count == 200_000)
            await database.close()
        }
    }
}

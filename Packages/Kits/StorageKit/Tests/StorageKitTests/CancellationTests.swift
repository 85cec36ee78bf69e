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

    /// Cancels a task, which must end with a cancellation error; otherwise it runs into the suite's time limit.
    private func cancel<T: Sendable>(_ task: Task<T, any Error>) async {
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A cancelled statement ends within a tenth of a second")
    func prompt() async {
        // A separate process, so that no other test occupies the threads.
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

    @Test("An endless query ends when its task is cancelled, and concurrent queries continue")
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

    @Test("A cancelled write is rolled back completely")
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

    @Test("A cancelled write whose body never checks for cancellation is rolled back when the body ends")
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

    @Test("A cancelled task leaves the queue, and the tasks after it are served")
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

    @Test("A task that is already cancelled starts nothing")
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

    @Test("A wait for another program's lock ends when its task is cancelled")
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

    @Test("An open that is cancelled during a migration leaves the old schema, and the next caller continues")
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

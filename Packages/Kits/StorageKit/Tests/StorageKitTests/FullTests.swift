import CoreTesting
import FileKit
import Glibc
import StorageKit
import Testing

@Suite("Full disk", .timeLimit(.minutes(5)))
struct FullTests {
    /// Writes until the space is used up; returns the number of confirmed notes.
    private static func fill(_ database: Database) async throws -> Int {
        let text = String(repeating: "x", count: 5000)
        var confirmed = 0
        while true {
            do {
                try await database.write { try $0.add(text) }
                confirmed += 1
            } catch let error as StorageError {
                #expect(error.kind == .full, "\(error) \(error.resultCode)")
                #expect(error.message.contains("no space left for"))
                return confirmed
            }
            try #require(confirmed < 10_000)
        }
    }

    @Test("Committed notes survive the file size limit, and reading continues")
    func fileSize() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            await #expect(processExitsWith: .success) { [path = path as String, folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                let database = Database(path, migrations: notes, durability: .normal)
                try await database.write { try $0.add("before") }
                var limit = rlimit(rlim_cur: 600_000, rlim_max: rlim_t.max)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let confirmed = try await Self.fill(database)
                #expect(confirmed > 20)
                #expect(try await database.read { try $0.count } == confirmed + 1)
                // A large transaction fails as a whole.
                let kind = await failure {
                    try await database.write { connection in
                        for _ in 0..<200 { try connection.add(String(repeating: "y", count: 9000)) }
                    }
                }
                #expect(kind == .full)
                #expect(try await database.read { try $0.count } == confirmed + 1)
                limit.rlim_cur = rlim_t.max
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                try await database.write { try $0.add("after") }
                #expect(try await database.read { try $0.count } == confirmed + 2)
                #expect(try await database.check() == [])
                await database.close()
                #expect(try Files.list(folder).map(\.name) == ["a.db"])
            }
        }
    }

    @Test("Creating a database without space fails with a clear error, and works once there is space")
    func opening() async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                for size in [0, 1, 4096, 5000, 8192, 20_000] {
                    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t.max)
                    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                    let kind = failure { try Connection.open("\(folder)/\(size)", migrations: notes).close() }
                    limit.rlim_cur = rlim_t.max
                    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                    #expect(kind == .full, "\(size) bytes")
                    let connection = try Connection.open("\(folder)/\(size)", migrations: notes)
                    #expect(try connection.count == 0)
                    connection.close()
                }
                #expect(try Files.list(folder).filter { $0.name.contains("damaged") }.isEmpty)
            }
        }
    }

    /// Only root may mount, and not everywhere; the test of the file size limit covers much of this for other users.
    private static let mayMount: Bool = {
        do {
            return try TemporaryDirectory.runNow { folder in
                guard unsafe mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 else { return false }
                return unsafe umount(folder) == 0
            }
        } catch {
            return false
        }
    }()

    /// Lends a file system of one megabyte.
    private func withSmallDisk(_ body: (String) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            try #require(unsafe mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0)
            do {
                try await body(folder)
            } catch {
                Issue.record(error)
            }
            #expect(unsafe umount2(folder, Int32(MNT_DETACH)) == 0)
        }
    }

    @Test(
        "Committed notes survive a full disk, and writing continues when there is space again", .enabled(if: mayMount))
    func disk() async throws {
        try await withSmallDisk { folder in
            try Files.writeAtomically([UInt8](repeating: 0, count: 200_000), to: "\(folder)/ballast")
            let database = Database("\(folder)/a.db", migrations: notes)
            let confirmed = try await Self.fill(database)
            #expect(confirmed > 20)
            #expect(try await database.read { try $0.count } == confirmed)
            #expect(try await database.check() == [])
            try Files.remove("\(folder)/ballast")
            try await database.write { try $0.add("after") }
            await database.close()
            #expect(try shell("sqlite3 \(folder)/a.db 'SELECT count(*) FROM notes'") == "\(confirmed + 1)\n")
        }
    }

    /// Runs in its own process. A child that another test starts inherits open files until its exec, and a disk with a
    /// file open for writing cannot be made read-only.
    @Test("A disk that becomes read-only gives a clear error, and nothing is set aside", .enabled(if: mayMount))
    func readOnlyDisk() async throws {
        try await withSmallDisk { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let path = "\(folder)/a.db"
                try Connection.open(path, migrations: notes).close()
                try #require(unsafe mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
                let error = #expect(throws: StorageError.self) {
                    let connection = try Connection.open(path, migrations: notes)
                    try connection.add("a")
                }
                #expect(error.map { [.readOnly, .open].contains($0.kind) } == true, "\(error?.message ?? "")")
                let new = #expect(throws: StorageError.self) {
                    _ = try Connection.open("\(folder)/b.db", migrations: notes)
                }
                #expect(new?.message.contains("ead-only") == true)
                #expect(try Files.list(folder).map(\.name) == ["a.db"])
            }
        }
    }
}

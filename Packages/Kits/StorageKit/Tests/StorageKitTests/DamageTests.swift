import CoreTesting
import FileKit
import Glibc
import LoopKit
import Synchronization
import Testing

@testable import StorageKit

/// The caller's name, kept in its task as in an action's context.
private enum Asker {
    @TaskLocal static var name: String?
}

@Suite("Damaged files", .timeLimit(.minutes(5)))
struct DamageTests {
    /// Collects the notices about files that were set aside.
    private final class Notices: Sendable {
        private let list = Mutex<[StorageNotice]>([])

        var all: [StorageNotice] { list.withLock { $0 } }

        func open(_ path: String) throws -> Connection {
            try Connection.open(path, migrations: notes) { notice in self.take(notice) }
        }

        func take(_ notice: StorageNotice) { list.withLock { $0.append(notice) } }
    }

    private static let refusals: [StorageError.Kind] = [
        .foreign, .changed, .newer, .mismatch, .damaged, .statement, .readOnly,
    ]

    private func bytes(_ path: String) throws -> [UInt8] { try Files.read(path, limit: 1 << 26) }

    @Test("A file that is not a database is set aside with a notice, and a new one is created once")
    func noDatabase() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            let text = Array("Dear diary, this is no database at all. ".utf8)
            try Files.writeAtomically(text, to: path)
            let connection = try notices.open(path)
            try connection.add("a")
            connection.close()
            let notice = try #require(notices.all.first)
            let place = try #require(notice.setAside)
            #expect(notice.message.contains("\(path) is damaged") && notice.message.contains(place))
            #expect(place.hasPrefix("\(path).damaged-20"))
            #expect(try bytes(place) == text)
            let store = DatabaseStore(id: "a", summary: "A", database: Database(path, migrations: notes))
            #expect(try store.setAside() == [place])
            let again = try notices.open(path)
            #expect(try again.texts == ["a"])
            again.close()
            #expect(notices.all.count == 1)
        }
    }

    @Test("A small database truncated at any length is set aside or refused, and no byte of it is lost")
    func truncations() async throws {
        try await TemporaryDirectory.run { folder in
            let original = try Notices().open("\(folder)/original")
            try original.add("a note")
            original.close()
            let whole = try bytes("\(folder)/original")
            // Every length within the header, then some within each page.
            let lengths = Array(1..<120) + stride(from: 120, to: whole.count, by: 373) + [4096, whole.count - 1]
            for length in lengths {
                let (path, notices) = ("\(folder)/\(length)", Notices())
                try Files.writeAtomically(Array(whole[..<length]), to: path)
                let connection = try notices.open(path)
                #expect(try connection.count == 0, "\(length) bytes")
                connection.close()
                let notice = try #require(notices.all.first, "\(length) bytes")
                #expect(try bytes(try #require(notice.setAside)) == Array(whole[..<length]), "\(length) bytes")
            }
        }
    }

    @Test("A database with any byte changed gives an error, a notice or the same notes, but never a crash")
    func flips() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        try await TemporaryDirectory.run { folder in
            let original = try Notices().open("\(folder)/original")
            for number in 0..<300 { try original.add("note \(number)") }
            original.close()
            let whole = try bytes("\(folder)/original")
            for round in 0..<300 {
                let (path, notices) = ("\(folder)/\(round)", Notices())
                var changed = whole
                // Every other change is in the header, which matters most.
                let place = Int.random(in: round % 2 == 0 ? 0..<100 : 0..<whole.count, using: &random)
                changed[place] ^= UInt8.random(in: 1...255, using: &random)
                try Files.writeAtomically(changed, to: path)
                do {
                    let connection = try notices.open(path)
                    let count = try connection.count
                    #expect(count == (notices.all.isEmpty ? 300 : 0), "seed \(seed), byte \(place)")
                    connection.close()
                } catch let error as StorageError {
                    // A changed mark or note is not damage, but makes the file look foreign or newer.
                    #expect(Self.refusals.contains(error.kind), "\(error), seed \(seed), byte \(place)")
                }
                if let notice = notices.all.first { #expect(try bytes(try #require(notice.setAside)) == changed) }
            }
        }
    }

    @Test("An emptied file whose log still has changes is set aside with its log")
    func emptied() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let connection = try Connection.open(path, migrations: notes)
                try connection.add("only in the log")
                kill(getpid(), SIGKILL)
            }
            let log = try bytes("\(path)-wal")
            try #require(!log.isEmpty)
            try #require(unsafe truncate(path, 0) == 0)
            try notices.open(path).close()
            let notice = try #require(notices.all.first)
            #expect(try bytes("\(try #require(notice.setAside))-wal") == log)
        }
    }

    @Test("Damage found in a large file causes a full check at the next start")
    func suspected() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            let first = try notices.open(path)
            try first.transaction {
                for _ in 0..<1500 { try first.add(String(repeating: "long ", count: 800)) }
            }
            first.close()
            try #require(try Files.info(path).size > 4 << 20)
            var damaged = try bytes(path)
            for place in 200_000..<208_192 { damaged[place] = 0xA5 }
            try Files.writeAtomically(damaged, to: path)
            let database = Database(path, migrations: notes)
            let kind = await failure { _ = try await database.read { try $0.count } }
            #expect(kind == .damaged)
            #expect(try await database.check().isEmpty == false)
            await database.close()
            #expect(try bytes(path) == damaged)
            let second = try notices.open(path)
            #expect(try second.count == 0)
            second.close()
            #expect(try bytes(try #require(notices.all.first?.setAside)) == damaged)
            #expect(!Files.exists("\(path).suspect"))
        }
    }

    @Test("A slow check of a large file is announced before it begins", arguments: [true, false])
    func longLook(isLong: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            try notices.open(path).close()
            DatabaseFile(path: path).suspect()
            var opening = DatabaseOpener(
                path: path, migrations: notes, durability: .full, busyLimit: .seconds(30),
                notice: { notice in notices.take(notice) })
            opening.longLook = isLong ? 1 : 1 << 40
            try opening.open().close()
            #expect(notices.all.map(\.setAside) == (isLong ? [nil] : []))
            #expect(notices.all.allSatisfy { $0.message.contains("\(path), so all of its ") }, "\(notices.all)")
        }
    }

    @Test("An error about a file system without log support contains no terminal control characters")
    func noSharedMemory() {
        let message = StorageError.sharesNoMemory("/mnt/a\u{1B}[2J.db").message
        #expect(message.contains("/mnt/a\\u{1B}[2J.db") && !message.contains("\u{1B}"))
    }

    @Test("A suspicion of damage that proves wrong is cleared")
    func unfounded() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            try notices.open(path).close()
            DatabaseFile(path: path).suspect()
            #expect(Files.exists("\(path).suspect"))
            try notices.open(path).close()
            #expect(!Files.exists("\(path).suspect"))
            #expect(notices.all.isEmpty)
        }
    }

    @Test("A damaged file is not set aside while another program has it open")
    func inUse() async throws {
        try await TemporaryDirectory.run { folder in
            let (path, notices) = ("\(folder)/a.db", Notices())
            let database = Database(path, migrations: notes)
            try await database.write { try $0.add("before") }
            // After this, the data is in the file and the log is empty. The test must not open the file itself: closing
            // it would release the locks of this process.
            _ = try await database.compact()
            _ = try shell("printf 'no database at all' | dd of=\(path) conv=notrunc status=none")
            await #expect(processExitsWith: .success) { [path = path as String] in
                let error = #expect(throws: StorageError.self) { try Connection.open(path, migrations: notes) }
                #expect(error?.kind == .busy && error?.message.contains("another program has it open") == true)
            }
            #expect(try Files.list(folder).allSatisfy { !$0.name.contains(".damaged-") })
            await database.close()
            let connection = try notices.open(path)
            #expect(try connection.count == 0)
            connection.close()
            #expect(notices.all.count == 1)
        }
    }

    @Test("Work continues in the new file when the database file is replaced")
    func replaced() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let database = Database(path, migrations: notes)
            try await database.write { try $0.add("old") }
            #expect(try await database.read { try $0.texts } == ["old"])
            for ending in ["", "-wal", "-shm"] { try Files.rename(path + ending, toNew: "\(path).away\(ending)") }
            let other = try Connection.open(path, migrations: notes)
            try other.add("new")
            #expect(try await database.read { try $0.texts } == ["new"])
            try await database.write { try $0.add("newer") }
            #expect(try other.texts == ["new", "newer"])
            other.close()
            await database.close()
            #expect(try shell("sqlite3 \(path).away 'SELECT text FROM notes'") == "old\n")
        }
    }

    @Test("The caller is notified of a file that was set aside, and the file is listed")
    func told() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 5000), to: path)
            try Files.writeAtomically([1], to: "\(folder)/a.db2.damaged-1")
            let told = Mutex<[String]>([])
            let database = Database(path, migrations: notes) { notice in
                told.withLock { $0.append("\(Asker.name ?? "nobody"): \(notice.setAside ?? "")") }
            }
            let store = DatabaseStore(id: "a.notes", summary: "Notes", database: database)
            #expect(try store.setAside() == [])
            try await Asker.$name.withValue("Ada") { _ = try await database.read { try $0.count } }
            let copies = try store.setAside()
            #expect(copies.count == 1 && told.withLock { $0 } == ["Ada: \(copies[0])"])
            #expect(try bytes(copies[0]).count == 5000)
            await database.close()
        }
    }

    @Test("Without a notice handler, standard error reports that a file was set aside")
    func toldByDefault() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 5000), to: path)
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                [path = path as String] in
                let database = Database(path, migrations: notes)
                try await database.write { _ in }
                await database.close()
            }
            let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(words.contains("\(path) is damaged") && words.contains("it was moved to \(path).damaged-"))
        }
    }

    @Test("A new database opened by many at once is never mistaken for a damaged or foreign one, 100 times")
    func openedTogether() async throws {
        try await TemporaryDirectory.run { folder in
            for round in 0..<100 {
                let path = "\(folder)/\(round).db"
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await onOwnThread {
                                Result {
                                    let connection = try Connection.open(path, migrations: notes)
                                    try connection.add("a")
                                    connection.close()
                                }
                            }.get()
                        }
                    }
                    try await group.waitForAll()
                }
                let connection = try Connection.open(path, migrations: notes)
                #expect(try connection.count == 6)
                connection.close()
            }
            #expect(try Files.list(folder).map(\.name).allSatisfy { $0.hasSuffix(".db") })
        }
    }

    @Test("Four programs that find the damage at once set the file aside once")
    func together() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 50_000), to: path)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
                            let connection = try Connection.open(path, migrations: notes)
                            try connection.add("\(number)")
                            connection.close()
                        }
                    }
                }
            }
            let connection = try Connection.open(path, migrations: notes)
            #expect(try connection.texts.sorted() == ["0", "1", "2", "3"])
            connection.close()
            #expect(try Files.list(folder).filter { $0.name.contains(".damaged-") }.count == 1)
        }
    }
}

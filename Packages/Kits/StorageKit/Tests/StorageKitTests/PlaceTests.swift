import CoreTesting
import FileKit
import Glibc
import StorageKit
import Testing

@Suite("Database files")
struct PlaceTests {
    @Test("Files and folders are private whatever the umask", arguments: [0, 0o077, 0o277])
    func umasks(mask: UInt32) async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String, mask = mask as UInt32] in
                // Removed owner bits also restrict folders, except for root.
                umask(mask & 0o077)
                let path = "\(folder)/deep/er/a.db"
                try Files.makeDirectories("\(folder)/deep")
                umask(mask)
                let connection = try Connection.open(path, migrations: notes)
                try connection.add("a")
                for name in ["", "-wal", "-shm"] { #expect(try Files.info(path + name).mode == 0o600, "\(name)") }
                #expect(try Files.info("\(folder)/deep/er").mode & 0o077 == 0)
                connection.close()
            }
        }
    }

    @Test("Permissions that are too wide are narrowed")
    func narrowed() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            try Connection.open(path, migrations: notes).close()
            try #require(unsafe chmod(path, 0o664) == 0)
            let connection = try Connection.open(path, migrations: notes)
            try connection.add("a")
            #expect(try Files.info(path).mode == 0o600)
            #expect(try Files.info("\(path)-wal").mode == 0o600)
            connection.close()
        }
    }

    @Test(
        "A file name that looks like a URI is used literally",
        arguments: ["file:a.db?mode=memory", ":memory:", "ü b.db"])
    func names(_ name: String) async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String, name = name as String] in
                try #require(unsafe chdir(folder) == 0)
                try Connection.open(name, migrations: notes).close()
                #expect(try Files.list(".").map(\.name) == [name])
            }
        }
    }

    @Test("A folder without write permission gives a clear error")
    func denied() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.makeDirectories("\(folder)/locked", mode: 0o500)
            let full = "\(folder)/there"
            try Connection.open("\(full)/a.db", migrations: notes).close()
            try #require(
                unsafe chmod(folder, 0o755) == 0 && chmod(full, 0o555) == 0 && chmod("\(full)/a.db", 0o444) == 0)
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                // Permissions do not restrict root, so root becomes the user nobody; other users stay.
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                for name in ["locked/a.db", "there/b.db", "there/a.db"] {
                    let error = #expect(throws: StorageError.self) {
                        _ = try Connection.open("\(folder)/\(name)", migrations: notes)
                    }
                    #expect([.open, .readOnly].contains(error?.kind), "\(error?.message ?? "no error")")
                }
            }
            try #require(unsafe chmod(full, 0o700) == 0)
        }
    }

    @Test("A folder in place of the file is refused")
    func folder() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.makeDirectories("\(folder)/a.db")
            #expect(failure { _ = try Connection.open("\(folder)/a.db", migrations: notes) } == .open)
            #expect(try Files.list(folder).map(\.name) == ["a.db"])
        }
    }

    @Test("The sqlite3 program reads a database that we wrote")
    func readByOthers() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/a.db"
            let connection = try Connection.open(path, migrations: notes)
            try connection.add("größer")
            #expect(try shell("sqlite3 \(path) 'SELECT id, text FROM notes'") == "1|größer\n")
            #expect(try shell("sqlite3 \(path) 'PRAGMA journal_mode; PRAGMA application_id'") == "wal\n1299346540\n")
            connection.close()
            #expect(try Files.list(folder).map(\.name) == ["a.db"], "the log is gone after the last one closed")
        }
    }
}

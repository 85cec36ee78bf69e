import Capabilities
import CoreTesting
import Cryptography
import StorageKit
import Testing

@testable import Audit

@Suite("A log that somebody changed", .timeLimit(.minutes(5)))
struct TamperTests {
    /// What somebody does, and what is found.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let found: [String]
        let body: @Sendable (Connection) throws -> Void

        init(_ name: String, _ found: [String], _ body: @escaping @Sendable (Connection) throws -> Void) {
            (testDescription, self.found, self.body) = (name, found, body)
        }
    }

    /// Columns that a value can be written into, with another value.
    private static let columns: [(String, String)] = [
        ("time", "1"), ("completes", "1"), ("origin", "'x'"), ("origin_number", "7"), ("project", "'x'"),
        ("session", "'x'"), ("session", "NULL"), ("conversation", "''"), ("actor", "'x'"), ("action", "'x'"),
        ("source", "NULL"), ("subject", "'x'"), ("decision", "''"), ("rule", "'x'"), ("outcome", "'done'"),
        ("detail", "'{}'"), ("content_digest", "zeroblob(32)"), ("digest", "zeroblob(32)"), ("salt", "zeroblob(16)"),
        ("content", "'{}'"), ("salt", "NULL"), ("content", "NULL"), ("content_digest", "NULL"),
    ]

    @Test("A changed column of an entry is found there", arguments: columns)
    func column(name: String, value: String) async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b", "c", "d", "e"])
            #expect(try await log.verify().found == [])
            try log.tamper { try $0.run(SQL(raw: "UPDATE entries SET \(name) = \(value) WHERE number = 3")) }
            let verdict = try await log.verify()
            #expect(verdict.found.first == "changed 3", "\(verdict.found)")
            #expect(verdict.found.allSatisfy { ["changed 3", "seal 3", "changed 4"].contains($0) }, "\(verdict.found)")
        }
    }

    private static let tamperings: [Tampering] = [
        Tampering("nothing", []) { _ in },
        Tampering("one removed", ["removed 3"]) { try $0.run("DELETE FROM entries WHERE number = 3") },
        Tampering("several removed", ["removed 2"]) { try $0.run("DELETE FROM entries WHERE number IN (2, 3)") },
        Tampering("the first removed", ["removed 1"]) { try $0.run("DELETE FROM entries WHERE number = 1") },
        Tampering("the end cut", ["cut 4"]) { try $0.run("DELETE FROM entries WHERE number > 3") },
        Tampering("all cut", ["cut 1"]) { try $0.run("DELETE FROM entries") },
        Tampering("two exchanged", ["changed 2", "seal 2", "changed 3", "seal 3", "changed 4"]) { connection in
            try connection.run("UPDATE entries SET number = 99 WHERE number = 2")
            try connection.run("UPDATE entries SET number = 2 WHERE number = 3")
            try connection.run("UPDATE entries SET number = 3 WHERE number = 99")
        },
        Tampering("removed, and the others moved up", ["changed 3", "seal 3", "changed 4", "seal 4", "cut 5"]) {
            try $0.run("DELETE FROM entries WHERE number = 3")
            try $0.run("UPDATE entries SET number = 3 WHERE number = 4")
            try $0.run("UPDATE entries SET number = 4 WHERE number = 5")
        },
        Tampering("one inserted", ["changed 3", "changed 4", "seal 4", "changed 5", "seal 5", "changed 6", "seal 6"]) {
            try $0.run("UPDATE entries SET number = -number WHERE number >= 3")
            try $0.run("UPDATE entries SET number = -number + 1 WHERE number < 0")
            try $0.run(
                """
                INSERT INTO entries (number, time, actor, action, detail, digest)
                    VALUES (3, 5, 'model', 'tool.call', 'null', zeroblob(32))
                """)
        },
        Tampering("one before the first", ["changed 0", "changed 1"]) {
            try $0.run(
                """
                INSERT INTO entries (number, time, actor, action, detail, digest)
                    VALUES (0, 5, 'model', 'tool.call', 'null', zeroblob(32))
                """)
        },
        Tampering("the seals removed", ["seal 1"]) {
            try $0.run("UPDATE entries SET seal = NULL")
            try $0.run("UPDATE log_end SET sealed = NULL, seal = NULL")
        },
        Tampering("the seals of the rows removed", ["seal 5"]) { try $0.run("UPDATE entries SET seal = NULL") },
        Tampering("the last seal removed", ["seal 4"]) {
            try $0.run("UPDATE entries SET seal = NULL WHERE number = 5")
        },
        Tampering("a seal exchanged", ["seal 2"]) {
            try $0.run("UPDATE entries SET seal = (SELECT seal FROM entries WHERE number = 3) WHERE number = 2")
        },
        Tampering("the content removed", ["erased 2", "erased 4"]) {
            try $0.run("UPDATE entries SET content = NULL, salt = NULL WHERE number IN (2, 4)")
        },
    ]

    @Test("What somebody without the key does is found where it was done", arguments: tamperings)
    func tampering(_ tampering: Tampering) async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b", "c", "d", "e"])
            try log.tamper(tampering.body)
            let verdict = try await log.verify()
            #expect(Set(verdict.found) == Set(tampering.found))
            // The log goes on, and what was done stays visible: rows without seals look as if the vault had been closed.
            try await log.write(["f"])
            let later = try await log.verify()
            #expect((later.found.isEmpty && later.unsealed.isEmpty) == tampering.found.isEmpty, "\(later)")
        }
    }

    @Test("Digests that were computed anew do not help: the seals are missing or wrong", arguments: [true, false])
    func forged(keepsSeals: Bool) async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b", "c", "d", "e"])
            try log.tamper { connection in
                try connection.run("UPDATE entries SET subject = 'forged' WHERE number = 3")
                if !keepsSeals { try connection.run("UPDATE entries SET seal = NULL WHERE number >= 3") }
                try Self.chainAnew(connection)
            }
            let verdict = try await log.verify()
            #expect(verdict.found.first == (keepsSeals ? "seal 3" : "seal 2"), "\(verdict.found)")
            // Without the key the seals are not checked, so the chain alone looks whole.
            log.vault.edit { $0.isOpen = false }
            let blind = try await log.verify()
            #expect(!blind.isKeyKnown)
            #expect(blind.found == (keepsSeals ? [] : ["seal 2"]))
        }
    }

    @Test("A log that was cut does not get the seal of its new last entry as its end")
    func cutWithSeal() async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b", "c"])
            try log.tamper { connection in
                try connection.run("DELETE FROM entries WHERE number = 3")
                try connection.run(
                    """
                    UPDATE log_end SET number = 2, sealed = 2, digest = (SELECT digest FROM entries WHERE number = 2),
                        seal = (SELECT seal FROM entries WHERE number = 2)
                    """)
            }
            #expect(try await log.verify().found == ["seal 2"])
        }
    }

    @Test("A row of another log does not fit, even with a seal of the same key")
    func otherLog() async throws {
        try await TestLog.run { log in
            try await TestLog.run { other in
                try await log.write(["a"])
                let key = try #require(log.vault.edit { $0.secrets[SealKey.name] })
                other.vault.edit { $0.secrets[SealKey.name] = key }
                try await other.write(["b"])
                #expect(try await other.verify().found == [])
                try log.tamper { connection in
                    let path = other.path
                    try connection.run("DELETE FROM entries")
                    let row = try Connection.open(path, migrations: AuditStore.migrations)
                    let found = try row.first("SELECT digest, seal FROM entries") { row in
                        (try row[0] as [UInt8], try row[1] as [UInt8])
                    }
                    row.close()
                    let (digest, seal) = try #require(found)
                    try connection.run(
                        """
                        INSERT INTO entries (number, time, session, actor, action, source, subject, detail, digest, seal)
                            VALUES (1, 1, 's', 'model', 'tool.call', 'files', 'b', 'null', ?, ?)
                        """, digest, seal)
                }
                #expect(Set(try await log.verify().found) == ["changed 1", "seal 1"])
            }
        }
    }

    @Test("A key that was replaced does not check the seals of the old one")
    func otherKey() async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b"])
            log.vault.edit { $0.secrets[SealKey.name] = Secret("another key, as long as the first one was") }
            #expect(try await log.verify().found == ["seal 1", "seal 2", "seal 2"])
        }
    }

    @Test("A row that says where the log ends is needed, and its loss is a clear error")
    func noEnd() async throws {
        try await TestLog.run { log in
            try await log.write(["a"])
            try log.tamper { try $0.run("DELETE FROM log_end") }
            let store = log.open()
            let error = await #expect(throws: AuditError.self) { try await store.verify() }
            #expect(error?.kind == .noEnd)
            await #expect(throws: AuditError.self) { try await store.record(AuditEntry(actor: "a", action: "b")) }
            await store.close()
        }
    }

    @Test("An entry behind the end does not keep others from being written, and is found")
    func behind() async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b"])
            try log.tamper { connection in
                try connection.run(
                    """
                    INSERT INTO entries (number, time, actor, action, detail, digest)
                        VALUES (3, 5, 'model', 'tool.call', 'null', zeroblob(32))
                    """)
            }
            #expect(try await log.verify().found.contains("changed 3"))
            try await log.write(["c"])
            #expect(try await log.verify().found.contains("changed 3"))
        }
    }

    /// Computes the digests of all rows and the end anew, as somebody can who has no key.
    private static func chainAnew(_ connection: Connection) throws {
        var end = try connection.auditEnd()
        let chain = AuditChain(log: end.log)
        end.digest = chain.start
        let rows = try connection.all("SELECT " + AuditStore.columns + " FROM entries AS e ORDER BY e.number") { row in
            try AuditRecord(row)
        }
        for row in rows {
            end.digest = chain.digest(of: row, after: end.digest)
            try connection.run("UPDATE entries SET digest = ? WHERE number = ?", end.digest, row.number)
        }
        try connection.run("UPDATE log_end SET digest = ?", end.digest)
    }
}

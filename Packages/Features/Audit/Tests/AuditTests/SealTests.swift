import Capabilities
import CoreTesting
import StorageKit
import Testing

@testable import Audit

@Suite("The seals of the audit log", .timeLimit(.minutes(5)))
struct SealTests {
    @Test("Entries of a closed vault have no seal, and the next ones with the key cover them")
    func closed() async throws {
        try await TestLog.run { log in
            try await log.write(["a", "b"])
            log.vault.edit { $0.isOpen = false }
            try await log.write(["c", "d"])
            log.vault.edit { $0.isOpen = true }
            var verdict = try await log.verify()
            #expect(verdict.found == [])
            #expect(verdict.sealedThrough == 2 && verdict.unsealed == [3...4] && verdict.isKeyKnown)
            try await log.write(["e"])
            verdict = try await log.verify()
            #expect(verdict.found == [] && verdict.sealedThrough == 5 && verdict.unsealed == [3...4])
            // From then on they cannot be changed any more.
            try log.tamper { try $0.run("UPDATE entries SET subject = 'x' WHERE number = 3") }
            #expect(try await log.verify().found == ["changed 3"])
        }
    }

    @Test("A vault that opens while a program runs is used after a while")
    func opens() async throws {
        try await TestLog.run { log in
            log.vault.edit { $0.isOpen = false }
            let store = log.open()
            try await store.record(AuditEntry(actor: "a", action: "b"))
            log.vault.edit { $0.isOpen = true }
            try await store.record(AuditEntry(actor: "a", action: "b"))
            await store.close()
            let verdict = try await log.verify()
            #expect(verdict.unsealed == [1...1] && verdict.sealedThrough == 2 && verdict.found == [])
        }
    }

    @Test("No vault is made for the log; 'audit seal' makes the key")
    func noVault() async throws {
        try await TestLog.run { log in
            log.vault.edit { $0.exists = false }
            try await log.write(["a", "b"])
            #expect(log.vault.edit { $0.secrets.isEmpty })
            var verdict = try await log.verify()
            #expect(!verdict.isKeyKnown && verdict.unsealed == [1...2] && verdict.found == [])
            let store = log.open()
            #expect(try await store.seal() == 3)
            await store.close()
            verdict = try await log.verify()
            #expect(verdict.sealedThrough == 3 && verdict.found == [])
        }
    }

    @Test("A lost key is not replaced silently")
    func lost() async throws {
        try await TestLog.run { log in
            try await log.write(["a"])
            log.vault.edit { $0.secrets = [:] }
            try await log.write(["b"])
            #expect(log.vault.edit { $0.secrets.isEmpty })
            let store = log.open()
            let error = await #expect(throws: AuditError.self) { try await store.seal() }
            #expect(error?.kind == .noKey && error?.exit == .denied)
            await store.close()
            let verdict = try await log.verify()
            #expect(!verdict.isKeyKnown && verdict.sealedThrough == 1)
        }
    }

    @Test("Programs that begin at the same time make one key")
    func oneKey() async throws {
        try await TestLog.run { log in
            let stores = (0..<8).map { _ in log.open() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask { try await store.record(AuditEntry(actor: "a", action: "b")) }
                }
                try await group.waitForAll()
            }
            for store in stores { await store.close() }
            let verdict = try await log.verify()
            #expect(verdict.entries == 8 && verdict.found == [], "\(verdict)")
        }
    }
}

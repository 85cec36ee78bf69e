import Capabilities
import FileKit
import Testing

@testable import AuthVault

@Suite("Vault data", .timeLimit(.minutes(5)))
struct VaultDataTests {
    @Test("A copy is private, and restoring it restores the secrets")
    func backup() async throws {
        try await Bench.run { bench in
            let data = VaultData(vault: bench.vault)
            let copy = "\(bench.folder)/copy"
            try await bench.vault.store(Secret("old"), named: "a")
            try await data.backup(to: copy)
            #expect(try Files.info(copy).mode == 0o600)
            try await bench.vault.store(Secret("new"), named: "a")
            try await data.restore(from: copy)
            #expect(try await bench.vault.secret(named: "a")?.text == "old")
            #expect(try await data.check() == [])
            #expect(try await data.compact().bytes == 0)
        }
    }

    @Test("A restored copy with another passphrase asks for it, although the old key was known")
    func otherKey() async throws {
        try await Bench.run(answers: ["one", "one", "one"]) { bench in
            let data = VaultData(vault: bench.vault)
            try await bench.vault.store(Secret("old"), named: "a")
            try await data.backup(to: "\(bench.folder)/copy")
            try await bench.vault.changeKey(to: .passphrase(Secret("two")))
            try await data.restore(from: "\(bench.folder)/copy")
            #expect(try await bench.vault.secret(named: "a")?.text == "old")
            #expect(bench.person.asked == [.new, .again, .unlock(attempt: 1)])
        }
    }

    @Test("A file that is not a vault is not restored")
    func notRestored() async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            let whole = try Files.read(bench.vault.path, limit: 1 << 20)
            for bytes in [Array("text".utf8), Array(whole.dropLast())] {
                try Files.writeAtomically(bytes, to: "\(bench.folder)/copy")
                #expect(
                    await reason { try await VaultData(vault: bench.vault).restore(from: "\(bench.folder)/copy") }
                        != nil)
            }
            #expect(try Files.read(bench.vault.path, limit: 1 << 20) == whole)
        }
    }

    @Test("A check finds damage without asking for a passphrase")
    func check() async throws {
        try await withFolder { folder in
            let maker = try Bench(in: folder, environment: [PassphraseSources.variable: "pass"])
            #expect(try await VaultData(vault: maker.vault).check() == [])
            try await maker.vault.store(Secret("x"), named: "a")
            let bench = try Bench(in: folder, answers: [])
            #expect(try await VaultData(vault: bench.vault).check() == [])
            #expect(bench.person.asked.isEmpty)
            var bytes = try Files.read(bench.vault.path, limit: 1 << 20)
            bytes[bytes.count - 1] ^= 1
            try Files.writeAtomically(bytes, to: bench.vault.path)
            #expect(try await VaultData(vault: maker.vault).check().count == 1, "it is open, so the seal is tried")
            try Files.writeAtomically(Array(bytes.dropLast()), to: bench.vault.path)
            #expect(try await VaultData(vault: bench.vault).check().count == 1)
        }
    }
}

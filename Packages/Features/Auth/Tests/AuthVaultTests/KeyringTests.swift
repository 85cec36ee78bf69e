import Capabilities
import Cryptography
import FileKit
import Glibc
import Testing

@testable import AuthVault

/// Whether this machine allows the kernel's keyring at all; containers may not.
private let hasKeyring: Bool = {
    let probe = KeyringCache(vaultPath: "/probe/\(getpid())", salt: [], keeping: .seconds(60))
    probe.store(SecretBytes(copying: [UInt8](repeating: 1, count: 32).span))
    defer { probe.forget() }
    return probe.load() != nil
}()

@Suite(
    "Kernel keyring", .enabled(if: hasKeyring, "the kernel's keyring is not available here"), .timeLimit(.minutes(5)))
struct KeyringTests {
    private func secret(_ byte: UInt8) -> SecretBytes {
        let bytes = [UInt8](repeating: byte, count: 32)
        return SecretBytes(copying: bytes.span)
    }

    @Test("A key is stored only for its vault and salt, and removed on request")
    func roundTrip() async throws {
        try await withFolder { folder in
            let cache = KeyringCache(vaultPath: folder, salt: [1], keeping: .seconds(60))
            #expect(cache.load() == nil)
            cache.store(secret(5))
            defer { cache.forget() }
            #expect(cache.load()?.equals(secret(5)) == true)
            #expect(KeyringCache(vaultPath: folder, salt: [2], keeping: .seconds(60)).load() == nil)
            #expect(KeyringCache(vaultPath: folder + "x", salt: [1], keeping: .seconds(60)).load() == nil)
            cache.store(secret(6))
            #expect(cache.load()?.equals(secret(6)) == true, "the newer one takes the place")
            cache.forget()
            #expect(cache.load() == nil)
        }
    }

    @Test("The kernel lists the key with a time limit for its user only, without its content")
    func listed() async throws {
        try await withFolder { folder in
            let cache = KeyringCache(vaultPath: folder, salt: [1], keeping: .seconds(7200))
            cache.store(secret(0x41))
            defer { cache.forget() }
            let keys = String(decoding: try Files.read("/proc/keys", limit: 1 << 20), as: UTF8.self).split(
                separator: "\n")
            let line = try #require(keys.first { $0.contains(cache.description) })
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            #expect(["119m", "1h", "2h"].contains(columns[3]), "\(line)")
            #expect(columns[4] == "3b010000")
            #expect(!line.contains("AAAA"))
        }
    }

    @Test("An unlocked vault does not ask again, in this program and in others, until it is locked")
    func unlocked() async throws {
        try await withFolder { folder in
            let first = try Bench(in: folder, answers: ["pass", "pass"], keepUnlocked: .seconds(60))
            try await first.vault.store(Secret("x"), named: "a")
            let second = try Bench(in: folder, answers: [], keepUnlocked: .seconds(60))
            #expect(try second.vault.status().isOpen)
            #expect(try await second.vault.secret(named: "a")?.text == "x")
            #expect(second.person.asked.isEmpty)
            await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                let bench = try Bench(in: folder, keepUnlocked: .seconds(60))
                exit(try await bench.vault.secret(named: "a")?.text == "x" ? 42 : 1)
            }
            try second.vault.lock()
            let third = try Bench(in: folder, answers: ["pass"], keepUnlocked: .seconds(60))
            #expect(try await third.vault.secret(named: "a")?.text == "x")
            #expect(third.person.asked == [.unlock(attempt: 1)])
            try third.vault.lock()
        }
    }

    @Test("A new passphrase makes the stored key useless and stores the new one")
    func changed() async throws {
        try await withFolder { folder in
            let bench = try Bench(in: folder, answers: ["old", "old"], keepUnlocked: .seconds(60))
            try await bench.vault.store(Secret("x"), named: "a")
            let salt = try #require(try bench.vault.load()).header.salt
            try await bench.vault.changeKey(to: .passphrase(Secret("new")))
            #expect(bench.vault.cache(for: salt)?.load() == nil)
            #expect(try Bench(in: folder, keepUnlocked: .seconds(60)).vault.status().isOpen)
            try bench.vault.lock()
        }
    }

    @Test("A wrong key in the keyring is not used")
    func planted() async throws {
        try await withFolder { folder in
            let maker = try Bench(in: folder, answers: ["pass", "pass"])
            try await maker.vault.store(Secret("x"), named: "a")
            let bench = try Bench(in: folder, answers: ["pass"], keepUnlocked: .seconds(60))
            let salt = try #require(try bench.vault.load()).header.salt
            bench.vault.cache(for: salt)?.store(secret(9))
            #expect(try await bench.vault.secret(named: "a")?.text == "x")
            #expect(bench.person.asked == [.unlock(attempt: 1)])
            try bench.vault.lock()
        }
    }

    @Test(
        "The vault works when the kernel stores no more keys",
        .enabled(if: geteuid() == 0, "it fills the keyring of the user nobody, which only root can become"))
    func quota() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                try #require(unsafe chown(folder, 65534, 65534) == 0)
                try #require(setuid(65534) == 0)
                let bytes = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
                let caches = (0..<2000).map {
                    KeyringCache(vaultPath: "\(folder)/\($0)", salt: [], keeping: .seconds(60))
                }
                defer { for cache in caches { cache.forget() } }
                for cache in caches { cache.store(bytes) }
                guard caches.last?.load() == nil else { exit(1) }
                let bench = try Bench(in: folder, answers: ["pass", "pass", "pass"], keepUnlocked: .seconds(60))
                try await bench.vault.store(Secret("x"), named: "a")
                let other = try Bench(in: folder, answers: ["pass"], keepUnlocked: .seconds(60))
                let text = try await other.vault.secret(named: "a")?.text
                for cache in caches { cache.forget() }
                exit(text == "x" && other.person.asked.count == 1 ? 42 : 2)
            }
        }
    }
}

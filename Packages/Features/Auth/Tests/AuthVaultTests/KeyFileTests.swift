import Capabilities
import FileKit
import Glibc
import Testing

@testable import AuthVault

@Suite("Key file", .timeLimit(.minutes(5)))
struct KeyFileTests {
    /// A bench with one secret behind a key file, and a second program that has not opened it yet.
    private func withKeyFile(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("sk-kept"), named: "openai")
            try await body(Bench(in: bench.folder))
        }
    }

    private func refusal(_ bench: Bench) async -> VaultError? {
        await #expect(throws: VaultError.self) { _ = try await bench.vault.secret(named: "openai") }
    }

    @Test(
        "A key file that others can access is rejected with the command to fix it",
        arguments: [0o644, 0o640, 0o620, 0o601])
    func modes(mode: UInt32) async throws {
        try await withKeyFile { bench in
            try #require(unsafe chmod(bench.keyFile, mode) == 0)
            let error = await refusal(bench)
            #expect(error?.kind == .keyFile && error?.exit == .denied)
            #expect(error?.message.contains("chmod 600 \(bench.keyFile)") == true)
            try #require(unsafe chmod(bench.keyFile, 0o600) == 0)
            #expect(try await bench.vault.secret(named: "openai")?.text == "sk-kept")
        }
    }

    @Test("A key file of another user is rejected", .enabled(if: geteuid() == 0, "only root can give a file away"))
    func owner() async throws {
        try await withKeyFile { bench in
            try #require(unsafe chown(bench.keyFile, 65534, 65534) == 0)
            let error = await refusal(bench)
            #expect(error?.kind == .keyFile)
            #expect(error?.message.contains("user 65534") == true)
        }
    }

    @Test("A missing key file is reported and not created again")
    func missing() async throws {
        try await withKeyFile { bench in
            try Files.remove(bench.keyFile)
            #expect(await refusal(bench)?.kind == .keyFile)
            #expect(await reason { try await bench.vault.store(Secret("x"), named: "a") } == .keyFile)
            #expect(!Files.exists(bench.keyFile))
        }
    }

    @Test("A key file of another vault or of another size is rejected", arguments: [31, 32, 33, 0])
    func other(size: Int) async throws {
        try await withKeyFile { bench in
            try Files.writeAtomically([UInt8](repeating: 1, count: size), to: bench.keyFile)
            #expect(await refusal(bench)?.kind == .keyFile)
        }
    }

    @Test("A FIFO or folder in its place is rejected at once", arguments: [true, false])
    func notRegular(isFolder: Bool) async throws {
        try await withKeyFile { bench in
            try Files.remove(bench.keyFile)
            let made = unsafe isFolder ? mkdir(bench.keyFile, 0o700) : mkfifo(bench.keyFile, 0o600)
            try #require(made == 0)
            #expect(await refusal(bench)?.kind == .keyFile)
        }
    }

    @Test("An existing key file opens the new vault, because it may belong to a vault that was moved away")
    func kept() async throws {
        try await withKeyFile { bench in
            let key = try Files.read(bench.keyFile, limit: 99)
            try Files.remove(bench.vault.path)
            try await bench.vault.store(Secret("x"), named: "a")
            #expect(try Files.read(bench.keyFile, limit: 99) == key)
        }
    }

    @Test("The key file is removed when a passphrase replaces it, and created again when needed")
    func replaced() async throws {
        try await withKeyFile { bench in
            let key = try Files.read(bench.keyFile, limit: 99)
            try await bench.vault.changeKey(to: .passphrase(Secret("pass")))
            #expect(!Files.exists(bench.keyFile))
            try await bench.vault.changeKey(to: .keyFile)
            #expect(try Files.read(bench.keyFile, limit: 99) != key)
            #expect(bench.notices.all.count == 1)
        }
    }

    @Test("Two programs that create the vault at the same time create one key")
    func atOnce() async throws {
        for _ in 0..<20 {
            try await withFolder { folder in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            try await Bench(in: folder).vault.store(Secret("x"), named: SecretName("n\(number)"))
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await Bench(in: folder).vault.names().count == 4)
            }
        }
    }
}

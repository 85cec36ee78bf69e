import Capabilities
import FileKit
import Glibc
import Testing

@testable import AuthVault

@Suite("Named locks", .timeLimit(.minutes(5)))
struct LockTests {
    @Test("Tasks and programs that refresh the same token take turns")
    func excludes() async throws {
        try await withFolder { folder in
            try Files.writeAtomically([], to: "\(folder)/refreshes")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                            try await withThrowingTaskGroup(of: Void.self) { tasks in
                                let vault = try Bench(in: folder).vault
                                for _ in 0..<4 {
                                    tasks.addTask { try await refresh(vault, folder) }
                                }
                                try await tasks.waitForAll()
                            }
                            exit(42)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try Files.read("\(folder)/refreshes", limit: 99) == Array("1".utf8), "one refreshed, eleven saw it")
        }
    }

    @Test("Other names and the secrets stay unlocked meanwhile")
    func independent() async throws {
        try await Bench.run { bench in
            try await bench.vault.withLock(named: "a") {
                try await bench.vault.withLock(named: "b", within: .zero) {}
                try await bench.vault.store(Secret("x"), named: "a")
            }
            #expect(try await bench.vault.secret(named: "a")?.text == "x")
        }
    }

    @Test("Waiting for a locked name ends at its limit")
    func bounded() async throws {
        try await Bench.run { bench in
            try await bench.vault.withLock(named: "a") {
                let refusal = await reason {
                    try await bench.vault.withLock(named: "a", within: .milliseconds(10)) {
                        _ = Issue.record("two at once")
                    }
                }
                #expect(refusal == .busy)
            }
        }
    }

    @Test("The lock is released after the work throws, and after its program dies")
    func released() async throws {
        try await Bench.run { bench in
            await #expect(throws: CancellationError.self) {
                try await bench.vault.withLock(named: "a") { throw CancellationError() }
            }
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = bench.folder as String] in
                try await Bench(in: folder).vault.withLock(named: "a") { _ = kill(getpid(), SIGKILL) }
            }
            let result = try await bench.vault.withLock(named: "a", within: .seconds(20)) { 7 }
            #expect(result == 7)
        }
    }

    @Test("A write does not wait for ever for another program")
    func busyVault() async throws {
        try await withFolder { folder in
            let bench = try Bench(in: folder, patience: .milliseconds(10))
            try await bench.vault.store(Secret("x"), named: "a")
            // A child that another test starts holds this process's locks until its exec.
            let held = try await FileLock.acquire(bench.vault.path + ".lock", within: .seconds(20))
            #expect(await reason { try await bench.vault.store(Secret("y"), named: "a") } == .busy)
            #expect(try await bench.vault.secret(named: "a")?.text == "x", "reading needs no lock")
            held.release()
            try await bench.vault.store(Secret("y"), named: "a")
        }
    }
}

/// Uses a one-time token as two programs would: under the lock, it first checks whether the other was faster.
private func refresh(_ vault: Vault, _ folder: String) async throws {
    try await vault.withLock(named: "server") {
        if try await vault.secret(named: "token") != nil { return }
        let count = try Files.read("\(folder)/refreshes", limit: 99)
        await Task.yield()
        try Files.writeAtomically(count + Array("1".utf8), to: "\(folder)/refreshes")
        try await vault.store(Secret("fresh"), named: "token")
    }
}

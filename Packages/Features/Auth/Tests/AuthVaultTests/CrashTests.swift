import Capabilities
import CoreTesting
import FileKit
import Glibc
import LoopKit
import TestTraits
import Testing

@testable import AuthVault

@Suite("Vault crashes", .serialized, .alone, .timeLimit(.minutes(5)))
struct CrashTests {
    @Test("Killed during writes at random moments, the vault opens with the last confirmed value")
    func killed() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        try await withFolder { folder in
            try Files.writeAtomically([], to: "\(folder)/confirmed")
            // The kills fall within about ten writes, measured on this machine and capped.
            let tenWrites = try await Writer.microsecondsForTen()
            var (confirmedBefore, heldBefore) = (0, 0)
            let rounds = Rounds.of(100, least: 20)
            for round in 1...rounds {
                let microseconds = UInt32.random(in: 0...tenWrites, using: &random)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [folder = folder as String, microseconds = microseconds as UInt32] in
                    try await Writer.run(in: folder, killedAfter: microseconds)
                }
                let confirmed = try Writer.confirmed(in: folder)
                let bench = try Bench(in: folder)
                let held = try await bench.vault.secret(named: "counter").flatMap { Int($0.text) } ?? 0
                #expect(held >= confirmed, "round \(round), seed \(seed)")
                // At most one value was stored but not confirmed.
                #expect(held <= max(confirmed, heldBefore) + 1, "round \(round), seed \(seed)")
                #expect(confirmed >= confirmedBefore)
                (confirmedBefore, heldBefore) = (confirmed, held)
            }
            #expect(confirmedBefore > rounds / 10, "the writers were killed before they could write; seed \(seed)")
        }
    }

    @Test("Killed during a key change, the vault opens with the old or the new key and all secrets")
    func killedWhileChanging() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        try await withFolder { folder in
            try await Bench(in: folder).vault.store(Secret("kept"), named: "a")
            for round in 1...Rounds.of(30) {
                let microseconds = UInt32.random(in: 0...20_000, using: &random)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [folder = folder as String, microseconds = microseconds as UInt32] in
                    let bench = try Bench(in: folder, environment: [PassphraseSources.variable: "pass"])
                    try Killer.start(after: microseconds)
                    while true {
                        try await bench.vault.changeKey(to: .passphrase(Secret("pass")))
                        try await bench.vault.changeKey(to: .keyFile)
                    }
                }
                let bench = try Bench(in: folder, environment: [PassphraseSources.variable: "pass"])
                #expect(try await bench.vault.secret(named: "a")?.text == "kept", "round \(round), seed \(seed)")
            }
        }
    }

    @Test("Concurrent writes of several programs lose nothing", arguments: [2, 8])
    func atOnce(programs: Int) async throws {
        try await withFolder { folder in
            await withTaskGroup(of: Void.self) { group in
                for program in 0..<programs {
                    group.addTask {
                        await #expect(processExitsWith: .exitCode(42)) {
                            [folder = folder as String, program = program as Int] in
                            let vault = try Bench(in: folder).vault
                            for number in 0..<20 {
                                try await vault.store(Secret("\(number)"), named: SecretName("p\(program).n\(number)"))
                                try await vault.update(named: "sum") {
                                    .store(Secret("\(($0.flatMap { Int($0.text) } ?? 0) + 1)"))
                                }
                            }
                            exit(42)
                        }
                    }
                }
            }
            let vault = try Bench(in: folder).vault
            #expect(try await vault.secret(named: "sum")?.text == "\(programs * 20)")
            #expect(try await vault.names().count == programs * 20 + 1)
        }
    }

    @Test("A full disk loses nothing, and the error names it")
    func full() async throws {
        try await withFolder { folder in
            let bench = try Bench(in: folder)
            try await bench.vault.store(Secret("kept"), named: "a")
            await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let vault = try Bench(in: folder).vault
                do {
                    try await vault.store(Secret(String(repeating: "x", count: 10_000)), named: "b")
                } catch let error as FileError {
                    try await vault.store(Secret("small"), named: "c")
                    exit(error.kind == .tooLarge ? 42 : 1)
                }
            }
            #expect(try await bench.vault.secret(named: "a")?.text == "kept")
            #expect(try await bench.vault.names() == ["a", "c"])
            #expect(try Files.list("\(folder)/data").map(\.name) == ["vault", "vault.lock"])
        }
    }
}

/// Stores increasing numbers and notes each once it is confirmed, until the process is killed.
private enum Writer {
    static func run(in folder: String, killedAfter microseconds: UInt32) async throws {
        let vault = try Bench(in: folder).vault
        let number = unsafe open("\(folder)/confirmed", O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(number >= 0)
        let notes = FileDescriptor(owning: number, path: "confirmed")
        try Killer.start(after: microseconds)
        while true {
            let text = try await vault.update(named: "counter") {
                .store(Secret("\(($0.flatMap { Int($0.text) } ?? 0) + 1)"))
            }?.text
            // The written line survives the end of this process, although it may not be on the disk yet.
            let line = Array("\(text ?? "")\n".utf8)
            try notes.writeAll(line.span)
        }
    }

    static func microsecondsForTen() async throws -> UInt32 {
        var time = Duration.zero
        try await Bench.run { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            time = try await ContinuousClock().measure {
                for _ in 0..<10 { try await bench.vault.store(Secret("x"), named: "a") }
            }
        }
        return UInt32(min(time, .milliseconds(200)) / .microseconds(1))
    }

    static func confirmed(in folder: String) throws -> Int {
        let text = String(decoding: try Files.read("\(folder)/confirmed", limit: 1 << 20), as: UTF8.self)
        return text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    }
}

private enum Killer {
    /// The wait is the random delay itself.
    static func start(after microseconds: UInt32) throws {
        _ = try OwnThread {
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
    }
}

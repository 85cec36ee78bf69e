import Capabilities
import Cryptography
import FileKit
import Testing

@testable import AuthVault

@Suite("Changing the vault key", .timeLimit(.minutes(5)))
struct ChangeKeyTests {
    @Test("All secrets survive changes between a key file and passphrases")
    func around() async throws {
        try await Bench.run { bench in
            let vault = bench.vault
            try await vault.store(Secret("kept"), named: "a")
            var salts: Set<[UInt8]> = []
            let steps: [(VaultNewKey, VaultStatus.Form, String?)] = [
                (.passphrase(Secret("first")), .passphrase, "first"),
                (.passphrase(Secret("second")), .passphrase, "second"), (.keyFile, .keyFile, nil),
                (.keyFile, .keyFile, nil), (.passphrase(Secret("first")), .passphrase, "first"),
            ]
            for (new, form, passphrase) in steps {
                try await vault.changeKey(to: new)
                let status = try vault.status()
                #expect(status.form == form && status.isOpen)
                #expect(try await vault.secret(named: "a")?.text == "kept")
                let environment = passphrase.map { [PassphraseSources.variable: $0] } ?? [:]
                let other = try Bench(in: bench.folder, environment: environment)
                #expect(try await other.vault.secret(named: "a")?.text == "kept")
                salts.insert(try #require(try vault.load()).header.salt)
            }
            #expect(salts.count == steps.count, "each key has a salt of its own")
        }
    }

    @Test("The old passphrase no longer opens the vault, and a running program asks for the new one")
    func old() async throws {
        try await Bench.run(answers: ["old", "old"]) { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            let other = try Bench(in: bench.folder, answers: ["old", "new"])
            #expect(try await other.vault.secret(named: "a")?.text == "kept")
            try await bench.vault.changeKey(to: .passphrase(Secret("new")))
            #expect(try await other.vault.secret(named: "a")?.text == "kept")
            #expect(other.person.asked == [.unlock(attempt: 1), .unlock(attempt: 1)])
            let late = try Bench(in: bench.folder, environment: [PassphraseSources.variable: "old"])
            #expect(await reason { try await late.vault.unlock() } == .wrongPassphrase)
        }
    }

    @Test("The user is asked once for the current passphrase and twice for the new one")
    func asks() async throws {
        try await Bench.run(answers: ["old", "old"]) { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            let other = try Bench(in: bench.folder, answers: ["old", "new", "new"])
            try await other.vault.changeKey(to: .ask)
            #expect(other.person.asked == [.unlock(attempt: 1), .new, .again])
            let third = try Bench(in: bench.folder, answers: ["new", ""])
            try await third.vault.changeKey(to: .ask)
            #expect(try third.vault.status().form == .keyFile)
            #expect(third.notices.all.count == 1)
        }
    }

    @Test("Without a terminal, or with an empty new passphrase, the old key stays")
    func refused() async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            let before = try Files.read(bench.vault.path, limit: 1 << 20)
            #expect(await reason { try await bench.vault.changeKey(to: .ask) } == .unanswered)
            #expect(await reason { try await bench.vault.changeKey(to: .passphrase(Secret(""))) } == .passphrase)
            #expect(try Files.read(bench.vault.path, limit: 1 << 20) == before)
        }
    }

    @Test("A vault can be created with its key before it has a secret")
    func first() async throws {
        try await Bench.run { bench in
            try await bench.vault.changeKey(to: .passphrase(Secret("pass")))
            #expect(try bench.vault.status().form == .passphrase)
            #expect(try await bench.vault.names() == [])
        }
    }

    @Test(
        "A key change by another program during the question is noticed",
        arguments: [true, false])
    func changedWhileAsked(isReading: Bool) async throws {
        try await Bench.run(answers: ["old", "old"]) { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            var setup = bench.vault.setup
            setup.passphrase = PassphraseSources { _ in
                try await bench.vault.changeKey(to: .keyFile)
                return nil
            }
            let other = Vault(setup)
            if !isReading { try await other.store(Secret("new"), named: "b") }
            #expect(try await other.secret(named: "a")?.text == "kept")
        }
    }

    @Test("Ten key changes lose no write of another task")
    func meanwhile() async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("kept"), named: "a")
            let other = try Bench(in: bench.folder, environment: [PassphraseSources.variable: "pass"])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 0..<10 {
                        try await bench.vault.changeKey(to: round % 2 == 0 ? .passphrase(Secret("pass")) : .keyFile)
                    }
                }
                group.addTask {
                    var stored = 0
                    while stored < 40 {
                        // A write may fail only if the key changes five times during it.
                        let refusal = await reason {
                            try await other.vault.store(Secret("x"), named: SecretName("n\(stored)"))
                        }
                        #expect(refusal == nil || refusal == .busy)
                        if refusal == nil { stored += 1 }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await bench.vault.names().count == 41)
        }
    }
}

import Capabilities
import Cryptography
import FileKit
import Glibc
import JSON
import Testing

@testable import AuthVault

@Suite("Unlocking", .timeLimit(.minutes(5)))
struct UnlockTests {
    /// A bench whose vault has the passphrase "right" and one secret.
    private func withPassphrase(
        answers: [String]? = nil, environment: [String: String] = [:], _ body: (Bench) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let maker = try Bench(in: folder, environment: [PassphraseSources.variable: "right"])
            try await maker.vault.store(Secret("sk-kept"), named: "openai")
            try await body(Bench(in: folder, answers: answers, environment: environment))
        }
    }

    // MARK: The first use

    @Test("the first secret asks for a new passphrase, twice")
    func new() async throws {
        try await Bench.run(answers: ["pass", "pass"]) { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            #expect(bench.person.asked == [.new, .again])
            #expect(try bench.vault.status().form == .passphrase)
            #expect(bench.notices.all.isEmpty)
            #expect(!Files.exists(bench.keyFile))
        }
    }

    @Test("a new passphrase that is not repeated is asked for again, and after three times refused")
    func notRepeated() async throws {
        try await Bench.run(answers: ["one", "two", "pass", "pass"]) { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            #expect(bench.person.asked == [.new, .again, .different, .again])
            #expect(PassphraseQuestion.different.id == PassphraseQuestion.new.id)
            #expect(PassphraseQuestion.different.prompt.hasPrefix("The two differ"))
        }
        try await Bench.run(answers: ["a", "b", "c", "d", "e", "f", "g", "g"]) { bench in
            #expect(await reason { try await bench.vault.store(Secret("x"), named: "a") } == .passphrase)
            #expect(!Files.exists(bench.vault.path))
        }
    }

    @Test(
        "an empty passphrase, or nobody there, makes a key file and says once what that is worth",
        arguments: [[""], nil])
    func keyFile(answers: [String]?) async throws {
        try await Bench.run(answers: answers) { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            try await bench.vault.store(Secret("y"), named: "b")
            #expect(try bench.vault.status().form == .keyFile)
            #expect(try Files.info(bench.keyFile).size == 32)
            let notice = try #require(bench.notices.all.first)
            #expect(bench.notices.all.count == 1)
            for part in [
                bench.keyFile, bench.vault.path, "backups", "not somebody who can read your files", "secret passphrase",
            ] {
                #expect(notice.contains(part), "\(part)")
            }
            let other = try Bench(in: bench.folder)
            #expect(try await other.vault.secret(named: "a")?.text == "x")
            #expect(other.notices.all.isEmpty && other.person.asked.isEmpty)
        }
    }

    @Test("a passphrase in the environment makes a vault with one, and opens it, without a question")
    func environment() async throws {
        try await withPassphrase(answers: [], environment: [PassphraseSources.variable: "right"]) { bench in
            let status = try bench.vault.status()
            #expect(status == VaultStatus(path: bench.vault.path, form: .passphrase, isOpen: false))
            #expect(try await bench.vault.secret(named: "openai")?.text == "sk-kept")
            #expect(try bench.vault.status().isOpen)
            #expect(bench.person.asked.isEmpty)
        }
    }

    @Test("ten first secrets at once ask once and are all kept")
    func firstAtOnce() async throws {
        try await Bench.run(answers: ["pass", "pass"]) { bench in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask { try await bench.vault.store(Secret("x"), named: SecretName("n\(number)")) }
                }
                try await group.waitForAll()
            }
            #expect(bench.person.asked == [.new, .again])
            #expect(try await bench.vault.names().count == 10)
        }
    }

    // MARK: Later uses

    @Test("ten readers at once ask once")
    func once() async throws {
        try await withPassphrase(answers: ["right"]) { bench in
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<10 { group.addTask { try await bench.vault.secret(named: "openai")?.text } }
                for try await text in group { #expect(text == "sk-kept") }
            }
            #expect(bench.person.asked == [.unlock(attempt: 1)])
        }
    }

    @Test("the third try counts, a fourth there is not")
    func tries() async throws {
        try await withPassphrase(answers: ["a", "", "right"]) { bench in
            let secret = try await bench.vault.secret(named: "openai")
            #expect(secret?.text == "sk-kept")
            #expect(bench.person.asked == [.unlock(attempt: 1), .unlock(attempt: 2), .unlock(attempt: 3)])
        }
        try await withPassphrase(answers: ["a", "b", "c", "right"]) { bench in
            let error = await #expect(throws: VaultError.self) { try await bench.vault.unlock() }
            #expect(error?.kind == .wrongPassphrase && error?.exit == .denied)
        }
    }

    @Test("where nobody can answer the error says so, with a code of its own")
    func unanswered() async throws {
        try await withPassphrase { bench in
            let error = await #expect(throws: VaultError.self) { try await bench.vault.secret(named: "openai") }
            #expect(error?.kind == .unanswered && error?.exit == .unanswered)
            #expect(error?.message.contains("MARTLET_PASSPHRASE") == true)
        }
    }

    @Test("a wrong passphrase in the environment is an error and not asked about")
    func wrongInEnvironment() async throws {
        try await withPassphrase(answers: ["right"], environment: [PassphraseSources.variable: "wrong"]) { bench in
            let error = await #expect(throws: VaultError.self) { try await bench.vault.unlock() }
            #expect(error?.kind == .wrongPassphrase && error?.exit == .denied)
            #expect(error?.message.contains("MARTLET_PASSPHRASE") == true)
            #expect(bench.person.asked.isEmpty)
        }
    }

    @Test(
        "a passphrase comes as the first line of a descriptor, before the environment",
        arguments: ["right\nmore", "right\r\n", "right"])
    func descriptor(text: String) async throws {
        try await withPassphrase { made in
            let environment = [PassphraseSources.variable: "wrong"]
            let bench = try Bench(in: made.folder, environment: environment, descriptor: try pipe(holding: text))
            #expect(try await bench.vault.secret(named: "openai")?.text == "sk-kept")
            try bench.vault.lock()
            #expect(try await bench.vault.secret(named: "openai")?.text == "sk-kept", "it is read once and remembered")
        }
    }

    @Test(
        "a descriptor without a passphrase is an error that names it",
        arguments: ["", "\nright\n", "\u{FF}", String(repeating: "x", count: 5000)])
    func emptyDescriptor(text: String) async throws {
        try await withPassphrase { made in
            let number = try pipe(holding: text, latin1: text == "\u{FF}")
            let bench = try Bench(in: made.folder, answers: ["right"], descriptor: number)
            let error = await #expect(throws: VaultError.self) { try await bench.vault.unlock() }
            #expect(error?.kind == .passphrase)
            #expect(error?.message.contains("\(number)") == true)
        }
    }

    @Test("after locking the passphrase is needed again")
    func locked() async throws {
        try await withPassphrase(answers: ["right", "right"]) { bench in
            try await bench.vault.unlock()
            try bench.vault.lock()
            #expect(try !bench.vault.status().isOpen)
            _ = try await bench.vault.secret(named: "openai")
            #expect(bench.person.asked.count == 2)
        }
    }

    @Test("what the person's refusal throws reaches the caller, and the next one is asked again")
    func cancelled() async throws {
        try await withPassphrase { made in
            let sources = PassphraseSources { _ in throw InteractionError.declined(id: "auth.passphrase") }
            var setup = made.vault.setup
            setup.passphrase = sources
            let vault = Vault(setup)
            for _ in 0..<2 { await #expect(throws: InteractionError.self) { try await vault.unlock() } }
        }
    }

    @Test("no error tells a secret or a passphrase")
    func errorsTellNothing() async throws {
        let words = ["sk-kept", "right", "hunter2", "sk-new"]
        try await withPassphrase(answers: ["hunter2", "hunter2", "hunter2", "right"]) { bench in
            let file = try Files.read(bench.vault.path, limit: 1 << 20)
            var texts: [String] = []
            func collect(_ body: () async throws -> Void) async {
                do { try await body() } catch { texts += ["\(error)", (error as? any Failure)?.report.text() ?? ""] }
            }
            await collect { try await bench.vault.unlock() }
            await collect { try await Bench(in: bench.folder).vault.unlock() }
            await collect { try await bench.vault.store(Secret("sk-new"), named: "Bad Name") }
            await collect { try await bench.vault.update(named: "openai") { .store(Secret($0?.text ?? "")) } }
            await collect {
                try await bench.vault.store(Secret(String(repeating: "sk-new", count: 20_000)), named: "a")
            }
            for index in stride(from: 0, to: file.count, by: 7) {
                var changed = file
                changed[index] ^= 0x55
                try Files.writeAtomically(changed, to: bench.vault.path)
                await collect { _ = try await bench.vault.secret(named: "openai") }
                await collect { try await bench.vault.store(Secret("sk-new"), named: "openai") }
            }
            #expect(texts.count > 2 * file.count / 7)
            for text in texts {
                // "the right one" and "restore" are words of ours.
                let plain = text.replacing("the right one", with: "")
                for word in words { #expect(!plain.contains(word), "\(text)") }
            }
        }
    }

    /// The reading end of a pipe that holds a text and has no writer any more.
    private func pipe(holding text: String, latin1: Bool = false) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        let writer = FileDescriptor(owning: ends[1], path: "a pipe")
        let bytes = latin1 ? [0xFF, 0x0A] : Array(text.utf8)
        try writer.writeAll(bytes.span)
        return ends[0]
    }
}

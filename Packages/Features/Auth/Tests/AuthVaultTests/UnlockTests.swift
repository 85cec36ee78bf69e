import Capabilities
import CoreTesting
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

    @Test("A vault is ready if it is there and open, and is not asked for anything to find out")
    func ready() async throws {
        try await Bench.run(answers: []) { bench in
            let isReady = await bench.vault.isReady()
            #expect(!isReady, "the first secret would make it")
            #expect(bench.person.asked.isEmpty && !Files.exists(bench.vault.path))
        }
        try await Bench.run { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            let layers = LayeredSecretStore(environment: [:], over: bench.vault) { _ in }
            let isReady = await (bench.vault.isReady(), layers.isReady())
            #expect(isReady == (true, true))
        }
        try await withPassphrase(answers: ["right"]) { bench in
            let before = await bench.vault.isReady()
            #expect(!before && bench.person.asked.isEmpty)
            try await bench.vault.unlock()
            let after = await bench.vault.isReady()
            #expect(after)
        }
    }

    // MARK: The first use

    @Test("The first secret asks twice for a new passphrase")
    func new() async throws {
        try await Bench.run(answers: ["pass", "pass"]) { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            #expect(bench.person.asked == [.new, .again])
            #expect(try bench.vault.status().form == .passphrase)
            #expect(bench.notices.all.isEmpty)
            #expect(!Files.exists(bench.keyFile))
        }
    }

    @Test("A new passphrase that is not repeated is asked for again, and rejected after three times")
    func notRepeated() async throws {
        try await Bench.run(answers: ["one", "two", "pass", "pass"]) { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            #expect(bench.person.asked == [.new, .again, .different, .again])
            #expect(PassphraseQuestion.different.id == PassphraseQuestion.new.id)
            #expect(PassphraseQuestion.different.prompt.hasPrefix("The passphrases differ"))
        }
        try await Bench.run(answers: ["a", "b", "c", "d", "e", "f", "g", "g"]) { bench in
            #expect(await reason { try await bench.vault.store(Secret("x"), named: "a") } == .passphrase)
            #expect(!Files.exists(bench.vault.path))
        }
    }

    @Test(
        "An empty passphrase, or no terminal, creates a key file and explains it once",
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
                bench.keyFile, bench.vault.path, "backups", "not protect against someone who can read your files",
                "secret passphrase",
            ] {
                #expect(notice.contains(part), "\(part)")
            }
            let other = try Bench(in: bench.folder)
            #expect(try await other.vault.secret(named: "a")?.text == "x")
            #expect(other.notices.all.isEmpty && other.person.asked.isEmpty)
        }
    }

    @Test("A passphrase in the environment protects and opens a vault without a question")
    func environment() async throws {
        try await withPassphrase(answers: [], environment: [PassphraseSources.variable: "right"]) { bench in
            let status = try bench.vault.status()
            #expect(status == VaultStatus(path: bench.vault.path, form: .passphrase, isOpen: false))
            #expect(try await bench.vault.secret(named: "openai")?.text == "sk-kept")
            #expect(try bench.vault.status().isOpen)
            #expect(bench.person.asked.isEmpty)
        }
    }

    @Test("Ten concurrent first secrets ask once and are all stored")
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

    @Test("Ten concurrent readers ask once")
    func once() async throws {
        try await withPassphrase(answers: ["right"]) { bench in
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<10 { group.addTask { try await bench.vault.secret(named: "openai")?.text } }
                for try await text in group { #expect(text == "sk-kept") }
            }
            #expect(bench.person.asked == [.unlock(attempt: 1)])
        }
    }

    @Test("The span of unlocking names the source of the key, and not the key")
    func span() async throws {
        let sink = RecordingSpanSink()
        try await withPassphrase(answers: ["right"]) { bench in
            try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                for _ in 0..<2 { _ = try await bench.vault.secret(named: "openai") }
            }
        }
        #expect(sink.spans.map(\.name) == ["vault.unlock", "work"])
        #expect(sink.spans.first?.attributes == ["martlet.decision": "passphrase"])
    }

    @Test("There are exactly three attempts")
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

    @Test("Without a terminal, the error says so with its own code")
    func unanswered() async throws {
        try await withPassphrase { bench in
            let error = await #expect(throws: VaultError.self) { try await bench.vault.secret(named: "openai") }
            #expect(error?.kind == .unanswered && error?.exit == .unanswered)
            #expect(error?.message.contains("MARTLET_PASSPHRASE") == true)
        }
    }

    @Test("A wrong passphrase in the environment is an error without a question")
    func wrongInEnvironment() async throws {
        try await withPassphrase(answers: ["right"], environment: [PassphraseSources.variable: "wrong"]) { bench in
            let error = await #expect(throws: VaultError.self) { try await bench.vault.unlock() }
            #expect(error?.kind == .wrongPassphrase && error?.exit == .denied)
            #expect(error?.message.contains("MARTLET_PASSPHRASE") == true)
            #expect(bench.person.asked.isEmpty)
        }
    }

    @Test(
        "The first line of a descriptor is the passphrase and precedes the environment",
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
        "A descriptor without a passphrase gives an error that names it",
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

    @Test("After locking, the passphrase is needed again")
    func locked() async throws {
        try await withPassphrase(answers: ["right", "right"]) { bench in
            try await bench.vault.unlock()
            try bench.vault.lock()
            #expect(try !bench.vault.status().isOpen)
            _ = try await bench.vault.secret(named: "openai")
            #expect(bench.person.asked.count == 2)
        }
    }

    @Test("An error of the question reaches the caller, and the next call asks again")
    func cancelled() async throws {
        try await withPassphrase { made in
            let sources = PassphraseSources { _ in throw InteractionError.declined(id: "auth.passphrase") }
            var setup = made.vault.setup
            setup.passphrase = sources
            let vault = Vault(setup)
            for _ in 0..<2 { await #expect(throws: InteractionError.self) { try await vault.unlock() } }
        }
    }

    @Test("No error contains a secret or a passphrase")
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
                // "the right one" and "restore" are part of our messages.
                let plain = text.replacing("the right one", with: "")
                for word in words { #expect(!plain.contains(word), "\(text)") }
            }
        }
    }

    /// The reading end of a pipe that contains a text.
    private func pipe(holding text: String, latin1: Bool = false) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        let writer = FileDescriptor(owning: ends[1], path: "a pipe")
        let bytes = latin1 ? [0xFF, 0x0A] : Array(text.utf8)
        try writer.writeAll(bytes.span)
        return ends[0]
    }
}

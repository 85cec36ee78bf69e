import Capabilities
import Cryptography
import FileKit
import Glibc
import Testing

@testable import AuthVault

@Suite("Vault", .timeLimit(.minutes(5)))
struct VaultTests {
    @Test("A missing vault is empty, asks nothing and is not created by reading")
    func absent() async throws {
        try await Bench.run(answers: []) { bench in
            #expect(try await bench.vault.secret(named: "openai") == nil)
            #expect(try await bench.vault.names() == [])
            try await bench.vault.remove(named: "openai")
            try await bench.vault.unlock()
            #expect(try await bench.vault.update(named: "openai") { _ in .keep } == nil)
            #expect(try bench.vault.status() == VaultStatus(path: bench.vault.path, form: .none, isOpen: true))
            #expect(bench.person.asked.isEmpty)
            #expect(!Files.exists(bench.vault.path) && !Files.exists(bench.keyFile))
        }
    }

    @Test("Secrets written by one vault are read, replaced and removed by another")
    func stores() async throws {
        try await Bench.run { bench in
            let later = Timestamp(microseconds: Timestamp.test.microseconds + 5_000_000)
            let other = try Bench(in: bench.folder, now: later)
            try await bench.vault.store(Secret("one"), named: "openai")
            try await other.vault.store(Secret("two"), named: "kamiwaza.pat")
            #expect(try await bench.vault.secret(named: "kamiwaza.pat")?.text == "two")
            try await other.vault.store(Secret("three"), named: "openai")
            #expect(try await bench.vault.secret(named: "openai")?.text == "three")
            #expect(
                try await bench.vault.entries() == [
                    SecretEntry(name: "kamiwaza.pat", changed: later), SecretEntry(name: "openai", changed: later),
                ])
            try await bench.vault.remove(named: "openai")
            #expect(try await other.vault.names() == ["kamiwaza.pat"])
            #expect(try await other.vault.secret(named: "openai") == nil)
        }
    }

    @Test("A change sees the current secret and decides the new one")
    func update() async throws {
        try await Bench.run { bench in
            let vault = bench.vault
            #expect(try await vault.update(named: "token") { $0 == nil ? .store(Secret("1")) : .keep }?.text == "1")
            let before = try Files.read(vault.path, limit: 1 << 20)
            #expect(try await vault.update(named: "token") { $0 == nil ? .store(Secret("2")) : .keep }?.text == "1")
            #expect(try Files.read(vault.path, limit: 1 << 20) == before, "nothing was written")
            #expect(try await vault.update(named: "token") { .store(Secret(($0?.text ?? "") + "3")) }?.text == "13")
            #expect(try await vault.update(named: "token") { _ in .remove } == nil)
            #expect(try await vault.names() == [])
        }
    }

    @Test("A change that throws changes nothing and passes the error on")
    func updateThrows() async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("1"), named: "token")
            let before = try Files.read(bench.vault.path, limit: 1 << 20)
            await #expect(throws: CancellationError.self) {
                try await bench.vault.update(named: "token") { _ in throw CancellationError() }
            }
            #expect(try Files.read(bench.vault.path, limit: 1 << 20) == before)
            try await bench.vault.store(Secret("2"), named: "token")
        }
    }

    @Test("Several secrets are stored together or not at all")
    func storeAll() async throws {
        try await Bench.run { bench in
            try await bench.vault.storeAll([("a", Secret("1")), ("b", Secret("2"))])
            let refusal = await reason { try await bench.vault.storeAll([("c", Secret("3")), ("D", Secret("4"))]) }
            #expect(refusal == .name)
            #expect(try await bench.vault.names() == ["a", "b"])
        }
    }

    @Test(
        "A name that could be a path is rejected",
        arguments: [
            "", ".", "..", "../x", "a/b", "A", "-a", ".a", "ä", "a b", "a\u{1B}[2J", "a\u{0}",
            String(repeating: "a", count: 129),
        ])
    func names(name: String) async throws {
        try await Bench.run { bench in
            let error = await #expect(throws: VaultError.self) {
                try await bench.vault.store(Secret("x"), named: SecretName(name))
            }
            #expect(error?.kind == .name)
            #expect(error?.exit == .usage)
            #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
            #expect(await reason { _ = try await bench.vault.secret(named: SecretName(name)) } == .name)
            #expect(await reason { try await bench.vault.withLock(named: SecretName(name)) {} } == .name)
        }
    }

    @Test("Size limits are enforced and reported")
    func sizes() async throws {
        try await Bench.run { bench in
            let vault = bench.vault
            let largest = String(repeating: "x", count: 64 << 10)
            try await vault.store(Secret(largest), named: "large")
            #expect(try await vault.secret(named: "large")?.text == largest)
            #expect(await reason { try await vault.store(Secret(largest + "x"), named: "large") } == .size)
            #expect(await reason { try await vault.store(Secret(""), named: "large") } == .size)
            #expect(await reason { try await vault.update(named: "large") { _ in .store(Secret("")) } } == .size)
            let many = (0..<10_001).map { (name: SecretName("n\($0)"), secret: Secret("x")) }
            #expect(await reason { try await vault.storeAll(many) } == .size)
            let heavy = (0..<260).map { (name: SecretName("n\($0)"), secret: Secret(largest)) }
            #expect(await reason { try await vault.storeAll(heavy) } == .size)
            #expect(try await vault.names() == ["large"])
            try await vault.storeAll(Array(many.prefix(9999)))
            #expect(try await vault.names().count == 10_000)
        }
    }

    @Test("No secret is readable in the files")
    func sealed() async throws {
        try await Bench.run(answers: ["the-passphrase", "the-passphrase"]) { bench in
            try await bench.vault.store(Secret("sk-visible-nowhere"), named: "name-visible-nowhere")
            let bytes = try everything(under: bench.folder)
            #expect(contains(bytes, "MARTLETV"))
            for text in ["sk-visible-nowhere", "name-visible-nowhere", "the-passphrase"] {
                #expect(!contains(bytes, text))
            }
        }
    }

    @Test("Only the owner can access the files, whatever the umask")
    func modes() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                umask(0)
                let bench = try Bench(in: folder)
                try await bench.vault.store(Secret("x"), named: "a")
                try await bench.vault.withLock(named: "a") {}
                let files = [bench.vault.path, bench.vault.path + ".lock", bench.keyFile, "\(folder)/data/locks/a"]
                let folders = ["\(folder)/data", "\(folder)/config", "\(folder)/data/locks"]
                let isPrivate = try files.allSatisfy { try Files.info($0).mode == 0o600 }
                exit(try folders.allSatisfy { try Files.info($0).mode == 0o700 } && isPrivate ? 42 : 1)
            }
        }
    }

    @Test("A vault that others could read becomes private at the next write")
    func tightened() async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            try #require(unsafe chmod(bench.vault.path, 0o666) == 0)
            try await bench.vault.store(Secret("y"), named: "a")
            #expect(try Files.info(bench.vault.path).mode == 0o600)
        }
    }

    @Test("A vault behind a symbolic link stays there")
    func link() async throws {
        try await Bench.run { bench in
            try Files.makeDirectories("\(bench.folder)/data")
            try Files.makeDirectories("\(bench.folder)/elsewhere")
            try #require(unsafe symlink("../elsewhere/v", bench.vault.path) == 0)
            for secret in ["1", "2"] {
                try await bench.vault.store(Secret(secret), named: "a")
                #expect(try await bench.vault.secret(named: "a")?.text == secret)
                #expect(try Files.info(bench.vault.path, followLinks: false).kind == .symbolicLink)
            }
            #expect(try Files.list("\(bench.folder)/elsewhere").map(\.name) == ["v"])
        }
    }

    @Test("In a read-only folder secrets are readable, and storing reports why it fails")
    func readOnly() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .exitCode(42)) { [folder = folder as String] in
                // Permissions do not restrict root, so root becomes the user nobody; other users stay.
                if geteuid() == 0 {
                    try #require(unsafe chown(folder, 65534, 65534) == 0)
                    try #require(setuid(65534) == 0)
                }
                let bench = try Bench(in: folder)
                try await bench.vault.store(Secret("x"), named: "a")
                try #require(unsafe chmod("\(folder)/data", 0o500) == 0)
                #expect(try await bench.vault.secret(named: "a")?.text == "x")
                let error = await #expect(throws: FileError.self) {
                    try await bench.vault.store(Secret("y"), named: "a")
                }
                #expect(error?.kind == .denied)
                #expect(try await bench.vault.secret(named: "a")?.text == "x")
                try #require(unsafe chmod("\(folder)/data", 0o700) == 0)
                exit(error?.kind == .denied ? 42 : 1)
            }
        }
    }

    @Test("A file that is not a valid vault is never overwritten", arguments: ["cut", "other", "newer", "changed"])
    func notOverwritten(how: String) async throws {
        try await Bench.run { bench in
            try await bench.vault.store(Secret("x"), named: "a")
            var bytes = try Files.read(bench.vault.path, limit: 1 << 20)
            let expected: VaultError.Kind
            switch how {
            case "cut": (bytes, expected) = (Array(bytes.dropLast()), .cut)
            case "other": (bytes, expected) = (Array("# notes\n".utf8), .notVault)
            case "newer": (bytes[9], expected) = (2, .newer)
            default: (bytes[bytes.count - 1], expected) = (bytes[bytes.count - 1] ^ 1, .changed)
            }
            try Files.writeAtomically(bytes, to: bench.vault.path)
            #expect(await reason { try await bench.vault.store(Secret("y"), named: "a") } == expected)
            #expect(await reason { _ = try await bench.vault.secret(named: "a") } == expected)
            #expect(await reason { try await bench.vault.changeKey(to: .keyFile) } == expected)
            #expect(try Files.read(bench.vault.path, limit: 1 << 20) == bytes)
        }
    }

    @Test("The example in the documentation works")
    func example() async throws {
        try await Bench.run { bench in
            let vault = bench.vault
            try await vault.store(Secret("sk-…"), named: "openai")
            #expect(try await vault.secret(named: "openai")?.text == "sk-…")
        }
    }
}

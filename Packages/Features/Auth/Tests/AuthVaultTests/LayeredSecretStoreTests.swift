import Capabilities
import FileKit
import Testing

@testable import AuthVault

@Suite("Layered secrets", .timeLimit(.minutes(5)))
struct LayeredSecretStoreTests {
    /// The vault has `openai` and `kept`; the environment and systemd have the given secrets.
    private func withLayers(
        _ environment: [String: String] = [:], credentials: [String: String] = [:],
        _ body: (LayeredSecretStore, Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench in
            try await bench.vault.storeAll([("openai", Secret("vault-openai")), ("kept", Secret("vault-kept"))])
            var environment = environment
            if !credentials.isEmpty {
                let folder = "\(bench.folder)/credentials"
                try Files.makeDirectories(folder)
                for (name, text) in credentials { try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(name)") }
                environment["CREDENTIALS_DIRECTORY"] = folder
            }
            let notices = bench.notices
            try await body(
                LayeredSecretStore(environment: environment, over: bench.vault) { notices.add($0) }, bench)
        }
    }

    @Test("The environment comes first, then systemd, then the vault")
    func order() async throws {
        let environment = ["OPENAI_API_KEY": "environment-openai"]
        let credentials = ["openai": "systemd-openai", "anthropic": "systemd-anthropic\n"]
        let expected: [(SecretName, String?, SecretSource?)] = [
            ("openai", "environment-openai", .environment(variable: "OPENAI_API_KEY")),
            ("anthropic", "systemd-anthropic", .systemd), ("kept", "vault-kept", .vault), ("absent", nil, nil),
        ]
        try await withLayers(environment, credentials: credentials) { store, _ in
            for (name, text, source) in expected {
                let found = try await store.secret(named: name)
                #expect(found?.text == text)
                #expect(try await store.source(of: name) == source)
            }
            #expect(try await store.names() == ["anthropic", "kept", "openai"])
        }
    }

    @Test("While typing, the names of an open vault and of the environment are offered, and nothing is asked")
    func offered() async throws {
        try await withLayers(["ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "y"]) { store, _ in
            #expect(store.offered().map(\.name) == ["kept", "openai", "anthropic"])
            #expect(store.offered().map(\.source.name) == ["vault", "vault", "environment"])
        }
        try await Bench.run(answers: ["words", "words"]) { bench in
            #expect(bench.vault.offeredNames().isEmpty)
            try await bench.vault.store(Secret("one"), named: "first")
            #expect(bench.vault.offeredNames() == ["first"])
            try bench.vault.lock()
            #expect(bench.vault.offeredNames().isEmpty)
        }
    }

    @Test("The list shows the source of each secret and what it hides")
    func listing() async throws {
        let environment = ["OPENAI_API_KEY": "x", "OPEN_ROUTER_API_KEY": "y", "ANTHROPIC_API_KEY": "", "_API_KEY": "z"]
        try await withLayers(environment, credentials: ["kept": "c", "Not A Name": "d"]) { store, _ in
            let listing = try await store.listing()
            #expect(
                listing == [
                    SecretListing(name: "kept", source: .systemd, changed: .test, isShadowing: true),
                    SecretListing(
                        name: "open_router", source: .environment(variable: "OPEN_ROUTER_API_KEY"), changed: nil,
                        isShadowing: false),
                    SecretListing(
                        name: "openai", source: .environment(variable: "OPENAI_API_KEY"), changed: .test,
                        isShadowing: true),
                ])
        }
    }

    @Test("A name with a dot is listed once, although its variable is also listed")
    func once() async throws {
        try await withLayers(["MY_SERVER_API_KEY": "x"]) { store, bench in
            try await bench.vault.store(Secret("y"), named: "my.server")
            #expect(try await store.names() == ["kept", "my.server", "openai"])
            #expect(try await store.source(of: "my.server") == .environment(variable: "MY_SERVER_API_KEY"))
        }
    }

    @Test("A secret hidden by the environment is still stored and removed, with a notice")
    func shadowed() async throws {
        try await withLayers(["OPENAI_API_KEY": "environment-openai"]) { store, bench in
            try await store.store(Secret("new"), named: "openai")
            #expect(try await bench.vault.secret(named: "openai")?.text == "new")
            #expect(try await store.secret(named: "openai")?.text == "environment-openai")
            try await store.remove(named: "openai")
            #expect(try await bench.vault.secret(named: "openai") == nil)
            let told = bench.notices.all.filter { $0.contains("OPENAI_API_KEY") }
            #expect(told.count == 2)
            #expect(!told.joined().contains("environment-openai"))
            try await store.store(Secret("new"), named: "kept")
            #expect(bench.notices.all.filter { $0.contains("kept'") }.isEmpty)
        }
    }

    @Test("A secret from the environment does not unlock the vault")
    func notUnlocked() async throws {
        try await withFolder { folder in
            let maker = try Bench(in: folder, environment: [PassphraseSources.variable: "pass"])
            try await maker.vault.store(Secret("x"), named: "a")
            let bench = try Bench(in: folder, answers: [])
            let store = LayeredSecretStore(environment: ["OPENAI_API_KEY": "e"], over: bench.vault) { _ in }
            #expect(try await store.secret(named: "openai")?.text == "e")
            #expect(bench.person.asked.isEmpty)
        }
    }

    @Test("Credentials that are invalid, too large or missing do no harm")
    func badCredentials() async throws {
        let large = String(repeating: "x", count: (64 << 10) + 2)
        try await withLayers(credentials: ["large": large, "empty": ""]) { store, bench in
            try Files.writeAtomically([0xFF, 0xFE], to: "\(bench.folder)/credentials/binary")
            try Files.makeDirectories("\(bench.folder)/credentials/folder")
            await #expect(throws: FileError.self) { _ = try await store.secret(named: "large") }
            #expect(await reason { _ = try await store.secret(named: "binary") } == .size)
            #expect(try await store.secret(named: "empty") == nil)
            #expect(try await store.secret(named: "openai")?.text == "vault-openai")
        }
        try await withLayers(["CREDENTIALS_DIRECTORY": "/nonexistent"]) { store, _ in
            let names = try await store.names()
            #expect(names == ["kept", "openai"])
        }
    }
}

import Capabilities
import FileKit
import Glibc
import JSON
import KamiwazaTesting
import Registry
import Testing

@Suite("Auth data", .timeLimit(.minutes(10)))
struct DataTests {
    private func stores(_ desk: OpenDesk) -> [String: any DataStore] {
        Dictionary(desk.registry.all((any DataStore).self).map { ($0.id, $0) }) { first, _ in first }
    }

    @Test("Both data stores are sound before they exist")
    func empty() async throws {
        try await Desk.run { desk in
            let folder = desk.folder
            try await desk.open { desk in
                let stores = stores(desk)
                #expect(stores.keys.sorted() == ["auth.database", "auth.vault"])
                for store in stores.values {
                    #expect(store.location.hasPrefix("\(folder)/data/") && !store.summary.isEmpty)
                    let problems = try await store.check()
                    #expect(problems == [])
                }
            }
        }
    }

    @Test("The doctor checks the vault")
    func doctor() async throws {
        func finding(_ desk: Desk) async throws -> String {
            try await desk.open { desk in
                let check = try #require(desk.registry.checks.first { $0.id == "auth.vault" })
                return switch await check.look(desk.host) {
                case .ok(let found): "ok: \(found)"
                case .warning(let found, let mend): "warning: \(found), \(mend)"
                case .failure(let found, let mend): "failure: \(found), \(mend)"
                }
            }
        }
        try await Desk.run { desk in
            #expect(try await finding(desk) == "ok: does not exist yet; storing the first secret creates it")
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            #expect(try await finding(desk).hasSuffix("/data/vault, opened by a key file"))
            #expect(unsafe chmod("\(desk.folder)/config/vault.key", 0o644) == 0)
            let open = try await finding(desk)
            #expect(open.hasPrefix("failure: other users can access the key file") && open.contains("chmod 600"))
            #expect(await desk.failure("auth.secret.get", ["name": "openai"])?.code == "auth.vault.key-file")
            #expect(unsafe chmod("\(desk.folder)/config/vault.key", 0o600) == 0)
            try Files.writeAtomically(Array("no vault".utf8), to: "\(desk.folder)/data/vault")
            let damage = try await finding(desk)
            #expect(damage.hasPrefix("failure: ") && damage.contains("martlet data restore"))
        }
    }

    @Test("Backup and restore keep the data, and copies contain no plain secret")
    func roundTrip() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            let folder = desk.folder
            try await desk.open { desk in
                for (id, store) in stores(desk) { try await store.backup(to: "\(folder)/\(id).backup") }
            }
            let copy = String(decoding: try Files.read("\(folder)/auth.vault.backup", limit: 1 << 20), as: UTF8.self)
            #expect(!copy.contains("kept-secret") && !copy.contains("eyJ"))
            #expect(try Files.info("\(folder)/auth.vault.backup").mode & 0o077 == 0)
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret-2"])
            try await desk.run("auth.logout")
            try await desk.open { desk in
                for (id, store) in stores(desk) {
                    try await store.restore(from: "\(folder)/\(id).backup")
                    #expect(try await store.check() == [])
                    _ = try await store.compact()
                }
            }
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "kept-secret-1")
            #expect(try await desk.run("auth.status").json[0]?["user"] == "ada")
        }
    }

    @Test("Damage is reported and not restored from a copy")
    func damage() async throws {
        try await Lab.signedIn { _, desk in
            let folder = desk.folder
            try await desk.open { desk in
                for (id, store) in stores(desk) { try await store.backup(to: "\(folder)/\(id).backup") }
            }
            for name in ["auth.vault", "auth.database"] {
                var bytes = try Files.read("\(folder)/\(name).backup", limit: 1 << 24)
                bytes = Array(bytes.prefix(bytes.count / 2))
                try Files.writeAtomically(bytes, to: "\(folder)/\(name).cut")
            }
            try await desk.open { desk in
                for (id, store) in stores(desk) {
                    await #expect(throws: (any Error).self) { try await store.restore(from: "\(folder)/\(id).cut") }
                    let problems = try await store.check()
                    #expect(problems == [])
                }
            }
            #expect(try await desk.run("auth.whoami")["user"] == "ada")

            let vault = "\(folder)/data/vault"
            var bytes = try Files.read(vault, limit: 1 << 20)
            bytes[bytes.count - 1] ^= 1
            try Files.writeAtomically(bytes, to: vault)
            try await desk.open { desk in
                _ = try? await desk.secrets.secret(named: "openai")
                let store = try #require(stores(desk)["auth.vault"])
                #expect(try await store.check().isEmpty == false)
            }
            let failure = await desk.failure("auth.whoami")
            #expect(failure?.code.hasPrefix("auth.vault.") == true)
            #expect(try Files.read(vault, limit: 1 << 20) == bytes)
        }
    }
}

import Capabilities
import FileKit
import Glibc
import HostTesting
import JSON
import KamiwazaTesting
import Registry
import Testing

@Suite("Auth data", .timeLimit(.minutes(10)))
struct DataTests {
    private func stores(_ bench: TestSession) -> [String: any DataStore] {
        Dictionary(bench.registry.all((any DataStore).self).map { ($0.id, $0) }) { first, _ in first }
    }

    @Test("Both data stores are sound before they exist")
    func empty() async throws {
        try await TestWorkbench.withAuth { bench in
            let folder = bench.folder
            try await bench.open { bench in
                let stores = stores(bench)
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
        func finding(_ bench: TestWorkbench) async throws -> String {
            try await bench.open { bench in
                let check = try #require(bench.registry.checks.first { $0.id == "auth.vault" })
                return switch await check.look(bench.host) {
                case .ok(let found): "ok: \(found)"
                case .warning(let found, let mend): "warning: \(found), \(mend)"
                case .failure(let found, let mend): "failure: \(found), \(mend)"
                }
            }
        }
        try await TestWorkbench.withAuth { bench in
            #expect(try await finding(bench) == "ok: does not exist yet; storing the first secret creates it")
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            #expect(try await finding(bench).hasSuffix("/data/vault, opened by a key file"))
            #expect(unsafe chmod("\(bench.folder)/config/vault.key", 0o644) == 0)
            let open = try await finding(bench)
            #expect(open.hasPrefix("failure: other users can access the key file") && open.contains("chmod 600"))
            #expect(try await bench.failure("auth.secret.get", ["name": "openai"])?.code == "auth.vault.key-file")
            #expect(unsafe chmod("\(bench.folder)/config/vault.key", 0o600) == 0)
            try Files.writeAtomically(Array("no vault".utf8), to: "\(bench.folder)/data/vault")
            let damage = try await finding(bench)
            #expect(damage.hasPrefix("failure: ") && damage.contains("martlet data restore"))
        }
    }

    @Test("Backup and restore keep the data, and copies contain no plain secret")
    func roundTrip() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            let folder = bench.folder
            try await bench.open { bench in
                for (id, store) in stores(bench) { try await store.backup(to: "\(folder)/\(id).backup") }
            }
            let copy = String(decoding: try Files.read("\(folder)/auth.vault.backup", limit: 1 << 20), as: UTF8.self)
            #expect(!copy.contains("kept-secret") && !copy.contains("eyJ"))
            #expect(try Files.info("\(folder)/auth.vault.backup").mode & 0o077 == 0)
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-2"])
            try await bench.perform("auth.logout")
            try await bench.open { bench in
                for (id, store) in stores(bench) {
                    try await store.restore(from: "\(folder)/\(id).backup")
                    #expect(try await store.check() == [])
                    _ = try await store.compact()
                }
            }
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "kept-secret-1")
            #expect(try await bench.perform("auth.status").json[0]?["user"] == "ada")
        }
    }

    @Test("Damage is reported and not restored from a copy")
    func damage() async throws {
        try await Lab.signedIn { _, bench in
            let folder = bench.folder
            try await bench.open { bench in
                for (id, store) in stores(bench) { try await store.backup(to: "\(folder)/\(id).backup") }
            }
            for name in ["auth.vault", "auth.database"] {
                var bytes = try Files.read("\(folder)/\(name).backup", limit: 1 << 24)
                bytes = Array(bytes.prefix(bytes.count / 2))
                try Files.writeAtomically(bytes, to: "\(folder)/\(name).cut")
            }
            try await bench.open { bench in
                for (id, store) in stores(bench) {
                    await #expect(throws: (any Error).self) { try await store.restore(from: "\(folder)/\(id).cut") }
                    let problems = try await store.check()
                    #expect(problems == [])
                }
            }
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")

            let vault = "\(folder)/data/vault"
            var bytes = try Files.read(vault, limit: 1 << 20)
            bytes[bytes.count - 1] ^= 1
            try Files.writeAtomically(bytes, to: vault)
            try await bench.open { bench in
                _ = try? await bench.secrets.secret(named: "openai")
                let store = try #require(stores(bench)["auth.vault"])
                #expect(try await store.check().isEmpty == false)
            }
            let failure = try await bench.failure("auth.whoami")
            #expect(failure?.code.hasPrefix("auth.vault.") == true)
            #expect(try Files.read(vault, limit: 1 << 20) == bytes)
        }
    }
}

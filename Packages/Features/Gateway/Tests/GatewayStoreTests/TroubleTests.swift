import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPTesting
import StorageKit
import Testing
import TurnLoop

@testable import GatewayStore

@Suite("Newer, invalid and full database files", .timeLimit(.minutes(5)))
struct TroubleTests {
    /// The reason of the `StorageError` that the body throws, or nil when it throws none.
    private static func refusal(_ body: () async throws -> Void) async throws -> StorageError.Kind? {
        do {
            try await body()
            return nil
        } catch let error as StorageError {
            return error.kind
        }
    }

    @Test("A database of a newer version is refused and stays unchanged")
    func newer() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/gateway.db"
            let next = Migration("next", "CREATE TABLE next (id INTEGER PRIMARY KEY) STRICT")
            let newer = Database(path, migrations: GatewayStore.migrations + [next])
            let id = try await GatewayStore(newer, now: { Days.start }).createSession(NewSession()).id
            await newer.close()
            let bytes = try Files.read(path, limit: 1 << 24)
            let store = GatewayStore.open(folder)
            #expect(try await Self.refusal { _ = try await store.stats() } == .newer)
            #expect(try await Self.refusal { try await store.createSession(NewSession()) } == .newer)
            await store.close()
            #expect(try Files.read(path, limit: 1 << 24) == bytes)
            let again = GatewayStore(
                Database(path, migrations: GatewayStore.migrations + [next]), now: { Days.start })
            #expect(try await again.session(id) != nil)
            await again.close()
        }
    }

    @Test("A file that is not a database is set aside with a notice, and an empty store is created")
    func damaged() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/gateway.db"
            try Files.writeAtomically(Array(repeating: 65, count: 8192), to: path)
            try await confirmation { noticed in
                let database = GatewayStore.database(at: path) { _ in noticed() }
                let store = GatewayStore(database, now: { Days.start })
                let stats = try await store.stats()
                #expect(stats.sessions == 0)
                await store.close()
            }
            #expect(try Files.list(folder).filter { $0.name.contains("damaged") }.count == 1)
        }
    }

    @Test("On a full disk nothing is stored partially, and a turn whose end could not be stored blocks no other")
    func full() async throws {
        try await TemporaryDirectory.run { folder in
            _ = await #expect(processExitsWith: .success) { [folder = folder as String] in
                signal(SIGXFSZ, SIG_IGN)
                func limit(_ size: rlim_t) throws {
                    var limit = rlimit(rlim_cur: size, rlim_max: rlim_t.max)
                    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                }
                let store = GatewayStore.open(folder)
                let session = try await store.makeSession()
                let lease = try await store.beginTurn(session: session.id)
                let message = TurnMessage(
                    Message(.assistant, String(repeating: "x", count: 3000)), usage: Usage(inputTokens: 1))
                try limit(1_000_000)
                var stored = 0
                var refused: StorageError.Kind?
                while refused == nil, stored < 1000 {
                    refused = try await Self.refusal { try await store.append(message, lease: lease) }
                    if refused == nil { stored += 1 }
                }
                #expect(refused == .full && stored > 10)
                #expect(try await store.messages(of: session.id).count == stored)
                #expect(try await store.session(session.id)?.usage.answers == stored)
                try limit(4096)
                #expect(try await Self.refusal { try await store.endTurn(lease) } == .full)
                #expect(try await store.session(session.id)?.isRunning == false)
                try limit(rlim_t.max)
                let next = try await store.beginTurn(session: session.id)
                #expect(next.isTakeover)
                try await store.append(message, lease: next)
                try await store.endTurn(next)
                #expect(try await store.session(session.id)?.messages == stored + 1)
                try await store.checkSums()
                #expect(try await store.database.check() == [])
                await store.close()
            }
        }
    }
}

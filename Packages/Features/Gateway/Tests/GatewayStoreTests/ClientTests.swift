import Capabilities
import GatewayStore
import StorageKit
import Testing

@Suite("Clients with their own tokens", .timeLimit(.minutes(5)))
struct ClientTests {
    @Test("The last use of a client is stored to the minute, even if the database holds an invalid time")
    func seen() async throws {
        try await withStore { store in
            try await store.addClient(
                GatewayClient(name: "ci", scopes: [.chat], created: Timestamp(microseconds: 0)), digest: [1, 2, 3])
            for odd in [Int64.min, Int64.max, 0] {
                try await store.database.write { connection in
                    try connection.run("UPDATE clients SET used = ?", odd)
                }
                let (client, digest) = try #require(try await store.client(digest: [1, 2, 3]))
                #expect(digest == [1, 2, 3] && client.used?.microseconds == odd)
                try await store.clientWasSeen(client)
                let seen = try #require(try await store.clients().first?.used)
                #expect(seen > Days.start, "\(odd)")
                // It is not written again within a minute.
                try await store.clientWasSeen(try #require(try await store.clients().first))
                #expect(try await store.clients().first?.used == seen)
            }
            #expect(try await store.client(digest: [1, 2]) == nil)
        }
    }

    @Test("A token is valid until it is removed or expires")
    func valid() async throws {
        try await withStore { store in
            let rows: [(String, [UInt8], Int64?)] = [("a", [1], nil), ("b", [2], 10), ("c", [3], 11), ("d", [4], 9)]
            for (name, digest, expires) in rows {
                let client = GatewayClient(
                    name: name, scopes: [.chat], created: Days.start,
                    expires: expires.map { Timestamp(microseconds: $0) })
                try await store.addClient(client, digest: digest)
            }
            let now = Timestamp(microseconds: 10)
            #expect(try await store.validDigests(at: now) == ["a": [1], "c": [3]])
            try await store.removeClient(named: "a")
            #expect(try await store.validDigests(at: now) == ["c": [3]])
        }
    }
}

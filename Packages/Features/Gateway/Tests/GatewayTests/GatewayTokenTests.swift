import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Testing

@testable import Gateway

@Suite("The gateway's token", .timeLimit(.minutes(10)))
struct GatewayTokenTests {
    private func token(
        _ folder: String, _ vault: any Feature.Type = MemoryVault.self, isNew: Bool = false,
        _ environment: [String: String] = [:]
    ) async throws -> String {
        let host = try TestHost([vault, GatewayFeature.self], environment: environment, folder: folder)
        return try #require(try await host.perform("gateway.token.show", ["new": .bool(isNew)]).string)
    }

    @Test("The token is created once, kept in the vault, and replaced on request")
    func vault() async throws {
        try await TemporaryDirectory.run { folder in
            let first = try await token(folder)
            #expect(first.hasPrefix("mgw_") && first.utf8.count >= 40)
            #expect(try await token(folder) == first)
            let second = try await token(folder, isNew: true)
            #expect(second != first)
            #expect(try await token(folder) == second)
            #expect(!Files.exists("\(folder)/data/gateway.token"))
        }
    }

    @Test("Concurrent commands get the same first token")
    func together() async throws {
        try await TemporaryDirectory.run { folder in
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<CrowdedVault.crowd {
                    group.addTask { try await token(folder, CrowdedVault.self) }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(try await token(folder) == tokens.first)
        }
    }

    @Test("Without a vault the token is kept in a file that only its owner can read")
    func file() async throws {
        try await TemporaryDirectory.run { folder in
            let first = try await token(folder, NoVault.self)
            let file = "\(folder)/data/gateway.token"
            #expect(try read(file) == first + "\n")
            #expect(try Files.info(file).mode == 0o600)
            #expect(try await token(folder, NoVault.self) == first)
            #expect(try await token(folder, NoVault.self, isNew: true) != first)
        }
    }

    @Test("The variable overrides every stored token and is never replaced")
    func variable() async throws {
        try await TemporaryDirectory.run { folder in
            let own = try await token(folder)
            let given = [GatewayToken.variable: "given-token"]
            #expect(try await token(folder, MemoryVault.self, given) == "given-token")
            await #expect(throws: ServingError.self) {
                try await token(folder, MemoryVault.self, isNew: true, given)
            }
            #expect(try await token(folder, MemoryVault.self, [GatewayToken.variable: ""]) == own)
        }
    }

    @Test(
        "A running gateway accepts a new token at once and refuses the old one",
        arguments: [MemoryVault.self, NoVault.self] as [any Feature.Type])
    func running(vault: any Feature.Type) async throws {
        try await TemporaryDirectory.run { folder in
            let old = try await token(folder, vault)
            let serving = Task {
                try await TestHost([vault, GatewayFeature.self], folder: folder).perform("gateway.serve", ["port": 0])
            }
            let deadline = ContinuousClock.now + .seconds(20)
            while !Files.exists("\(folder)/state/gateway.json"), ContinuousClock.now < deadline { await Task.yield() }
            let state = try JSON(parsing: try Files.read("\(folder)/state/gateway.json", limit: 4096))
            let address = try #require(state["addresses"]?[0]?.string)
            let client = HTTPClient(.standalone)
            func status(_ token: String) async throws -> Int {
                let headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
                return try await client.send(HTTPRequest(.get, try HTTPURL(address), headers: headers)).status.code
            }
            #expect(try await status(old) == 200)
            let new = try await token(folder, vault, isNew: true)
            // Even before the new one was used by a client.
            #expect(try await status(old) == 401)
            #expect(try await status(new) == 200)
            await client.close()
            serving.cancel()
            _ = await serving.result
        }
    }

    private func token(
        _ folder: String, _ vault: any Feature.Type, _ environment: [String: String]
    ) async throws -> String {
        try await token(folder, vault, isNew: false, environment)
    }
}

import Capabilities
import LoopKit
import Synchronization

@testable import AuthSignIn

/// Keeps credentials in memory.
final class MemoryStore: ResourceStore {
    private let kept = Mutex<[ResourceAddress: Secret]>([:])
    private let learnt = Mutex(0)
    private let turn = Turn()

    /// How many tokens it was told.
    var tokens: Int { learnt.withLock { $0 } }

    func credential(for resource: ResourceAddress) async throws -> Secret? { kept.withLock { $0[resource] } }
    func store(_ credential: Secret, for resource: ResourceAddress) async throws {
        kept.withLock { $0[resource] = credential }
    }
    func remove(for resource: ResourceAddress) async throws { kept.withLock { $0[resource] = nil } }
    func learn(_ token: Secret) { learnt.withLock { $0 += 1 } }
    func mark() throws -> SessionMark? { nil }
    func exclusively<Result: Sendable>(
        for resource: ResourceAddress, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await turn.take()
        defer { turn.pass() }
        return try await body()
    }
}

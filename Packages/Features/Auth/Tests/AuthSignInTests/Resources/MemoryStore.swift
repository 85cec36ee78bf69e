import Capabilities
import LoopKit
import Synchronization

@testable import AuthSignIn

/// Keeps credentials in memory.
final class MemoryStore: ResourceStore {
    private let kept = Mutex<[ResourceAddress: Secret]>([:])
    private let turn = Turn()

    func credential(for resource: ResourceAddress) async throws -> Secret? { kept.withLock { $0[resource] } }
    func store(_ credential: Secret, for resource: ResourceAddress) async throws {
        kept.withLock { $0[resource] = credential }
    }
    func mark() throws -> SessionMark? { nil }
    func exclusively<Result: Sendable>(
        for resource: ResourceAddress, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await turn.take()
        defer { turn.pass() }
        return try await body()
    }
}

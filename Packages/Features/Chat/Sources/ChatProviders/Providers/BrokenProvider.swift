import Capabilities

/// A provider that cannot be made from what the settings or the environment say, so that the reason is told when
/// somebody wants it, and the others work.
final class BrokenProvider: ModelProvider {
    let id: String
    let name: String
    private let error: any Error

    init(id: String, name: String, error: any Error) {
        self.id = id
        self.name = name
        self.error = error
    }

    func isAvailable() async -> Bool { false }
    func models() async throws -> [ModelDescription] { throw error }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        throw error
    }
}

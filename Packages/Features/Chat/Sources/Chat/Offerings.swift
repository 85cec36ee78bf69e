import Capabilities
import ChatHistory
import ChatProviders
import JSON

/// A provider of Chat as other features see it. It is created on first use.
final class OfferedProvider: ModelProvider {
    let id: String
    let name: String
    let runsTools: Bool
    let isFound: Bool
    private let services: ChatServices

    init(_ offer: ProviderOffer, _ services: ChatServices) {
        id = offer.id
        name = offer.name
        runsTools = offer.runsTools
        isFound = offer.isFound
        self.services = services
    }

    private func provider() async throws -> any ModelProvider { try await services.directory().provider(named: id) }

    func isAvailable() async -> Bool {
        // Without a registry, no request can be signed.
        do { return try await provider().isAvailable() } catch { return false }
    }

    func models() async throws -> [ModelDescription] { try await services.directory().models(of: id) }

    func dialect(of model: String) async -> RequestDialect? {
        // A provider that cannot be created reports this when it is asked.
        do { return try await provider().dialect(of: model) } catch { return nil }
    }

    func embeddings(_ body: JSONObject) async throws -> JSONObject? { try await provider().embeddings(body) }

    func agentServer() async throws -> (any AgentServer)? {
        // Looking for a provider on this machine asks it, and none of these is an agent server.
        guard runsTools else { return nil }
        return try await provider().agentServer()
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        try await provider().answer(request, receive)
    }
}

/// The history as other features see it.
final class Conversations: ConversationStore {
    let history: History

    init(_ history: History) {
        self.history = history
    }

    func conversations(limit: Int) async throws -> [ConversationSummary] {
        try await history.list(limit: limit).items.map { conversation in
            ConversationSummary(
                id: conversation.id.rawValue, title: conversation.title, provider: conversation.setup.provider,
                model: conversation.setup.model, updated: conversation.updated, messages: conversation.messages,
                preview: conversation.preview)
        }
    }

    func messages(of conversation: String) async throws -> [ConversationMessage] {
        try await history.entries(of: history.find(conversation).id).map { entry in
            ConversationMessage(
                id: Int(entry.id.rawValue), message: entry.message, time: entry.time, model: entry.model,
                state: entry.state.word)
        }
    }

    func search(_ words: String, limit: Int) async throws -> [ConversationHit] {
        try await history.search(words, limit: limit).map { hit in
            ConversationHit(
                conversation: hit.conversation.rawValue, title: hit.title, message: Int(hit.message.rawValue),
                role: hit.role, time: hit.time, text: hit.snippet.plain)
        }
    }
}

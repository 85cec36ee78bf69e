import Capabilities
import ChatHistory

/// The history as other features find it.
final class Conversations: ConversationStore {
    private let history: History

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

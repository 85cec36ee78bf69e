import Capabilities
import JSON
import Registry
import Settings

/// Another feature with its own models, which also uses the models of others.
struct Neighbour: Feature {
    static let manifest = Manifest(
        id: "next", summary: "Another feature with models", version: "1.0",
        provides: [.shared((any ModelProvider).self)],
        needs: [.all((any ModelProvider).self), .optional((any ConversationStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any ModelProvider).self, Echo())
        registry.add(
            Action("next.ids", "Who has models", .reads) { context in
                context.registry.all((any ModelProvider).self).map { "\($0.id) \($0.runsTools)" }
            })
        registry.add(
            Action("next.models", "The models of one", .reads, .argument("provider", "Its id", as: String.self)) {
                context, id in
                try await Self.provider(id, context).models().map(\.id)
            })
        registry.add(
            Action("next.gateways", "Who is an agent server", .reads) { context in
                var found: [String] = []
                for provider in context.registry.all((any ModelProvider).self) {
                    if let server = try await provider.agentServer() {
                        found.append("\(provider.id) \(server.server.name)")
                    }
                }
                return found
            })
        registry.add(
            Action(
                "next.ask", "Asks one", .reads, .argument("provider", "Its id", as: String.self),
                .argument("model", "The model", as: String.self)
            ) { context, id, model in
                let request = ChatRequest(model: model, messages: [Message(.user, "Hi from next door")])
                return try await Self.provider(id, context).answer(request) { _ in }.message.text
            })
        registry.add(
            Action("next.read", "What was said", .reads, .argument("words", "Words", as: String.self)) {
                context, words in
                let store = try context.registry.one((any ConversationStore).self)
                let list = try await store.conversations(limit: 10)
                let said = try await store.messages(of: list.first?.id ?? "")
                return [
                    "list": list.json, "hits": try await store.search(words, limit: 5).json,
                    "said": .array(said.map { .string("\($0.message.role.rawValue) \($0.state): \($0.message.text)") }),
                ] as JSON
            })
    }

    private static func provider(_ id: String, _ context: ActionContext) throws -> any ModelProvider {
        guard let found = context.registry.all((any ModelProvider).self).first(where: { $0.id == id }) else {
            throw OutOfOrder()
        }
        return found
    }
}

/// Repeats the message, and the number of tools that it received.
private final class Echo: ModelProvider {
    let id = "martlet"
    let name = "The neighbour"

    func isAvailable() async -> Bool { true }

    func models() async throws -> [ModelDescription] { [ModelDescription(id: "small", provider: id)] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let text = "echo of \(request.messages.last?.text ?? "") by \(request.model)"
        let start = ChatStart(model: request.model)
        try await receive([.began(start), .text(text)])
        return ChatAnswer(start: start, message: Message(.assistant, text), finish: .stop)
    }
}

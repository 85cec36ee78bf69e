public import Capabilities
import GatewayStore
public import JSON
import TurnLoop

extension Turns {
    /// All models that can be asked now, in the order of their providers. Each is asked for by `PROVIDER/ID`.
    public func models() async -> [ModelDescription] {
        await catalogue.models()
    }

    /// The model of a name, as a request would find it; the default for an empty one.
    public func model(named name: String) async throws -> ModelDescription {
        try await catalogue.choice(named: name, default: parts.settings.defaultModel).description
    }

    /// Texts as vectors: the answer to OpenAI's `POST /v1/embeddings`, whose body this is.
    public func embeddings(_ body: JSONObject, for client: TurnClient? = nil) async throws -> JSONObject {
        let choice = try await catalogue.choice(named: body["model"]?.string ?? "", default: nil)
        let model = choice.description
        if parts.isLimited(client) { try await admit(session: nil, project: nil, client: client) }
        var asked = body
        asked["model"] = .string(model.id)
        guard case .provider(let provider) = choice.backend, var answer = try await provider.embeddings(asked) else {
            throw GatewayError(
                .modelNotFound, "\(choice.name) makes no embeddings; name a model of a server that does", param: "model"
            )
        }
        var usage = Usage(inputTokens: answer["usage"]?["prompt_tokens"]?.int, outputTokens: 0)
        usage.cost = model.price?.cost(of: usage)
        try await parts.store.account(
            UsageEntry(client: client?.name, provider: model.provider, model: model.id, usage: usage))
        answer["model"] = .string(choice.name)
        return answer
    }
}

import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Routes for the available models.
struct ModelRoutes {
    let services: APIServices

    var all: [Route] {
        let one = Route(.get, "/v1/models/{id}", "getModel", "Get a model", .path("id", "Id of the model")) { _, id in
            try await model(id)
        }
        // Clients send the slash in a model's name either plain or escaped.
        let slashed = Route(
            .get, "/v1/models/{id...}", "getModelBySlashedName", "Get a model with slashes in its name",
            .path("id", "Id of the model")
        ) { _, id in try await model(id) }
        return [
            list,
            Route(.get, "/v1/models/capabilities", "listCapabilities", "List abilities and prices of models") { _ in
                WireList(rows: await services.turns.models().map(WireCapabilities.init))
            },
            one.refusing(.notFound), slashed.refusing(.notFound).hidden(),
        ].map { $0.tagged("models") }
    }

    /// Clients request it all the time, so the response is cached.
    private var list: Route {
        let written = LastWritten<WireModels>()
        return Route(.get, "/v1/models", "listModels", "List the models of all available providers") { _ in
            written.answer(WireModels(models: await services.turns.models(), since: services.started))
        }.answering(.ok, WireModels.self, "The models")
    }

    private func model(_ id: String) async throws -> WireModel {
        WireModel(model: try await services.turns.model(named: id), since: services.started)
    }
}

/// A model in a list, under the names of OpenAI's API and of Anthropic's.
struct WireModel: Record {
    let model: ModelDescription
    /// Clients require a creation time, but providers do not report one, so this is when the gateway started.
    let since: Timestamp

    /// The id under which requests name the model.
    var id: String { "\(model.provider)/\(model.id)" }

    static let fields: [Field<WireModel>] = [
        Field("id", "Id for requests", .name) { $0.id },
        Field("object", "Always model") { _ in "model" },
        Field("type", "Always model") { _ in "model" },
        Field("created", "Start of the gateway, in seconds since 1970") {
            Int($0.since.microseconds / 1_000_000)
        },
        Field("created_at", "The same as a timestamp") { $0.since },
        Field("owned_by", "Provider of the model") { $0.model.provider },
        Field("display_name", "Display name") { $0.model.name ?? $0.model.id },
        Field("context_length", "Context size in tokens, including the answer") { $0.model.contextTokens },
    ]
}

/// A list of models as both APIs have it.
struct WireModels: Record, Equatable {
    let models: [ModelDescription]
    let since: Timestamp

    static let fields: [Field<WireModels>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "All models, preferred ones first") { $0.rows },
        Field("has_more", "Always false: the list is complete") { _ in false },
        Field("first_id", "Id of the first model") { $0.rows.first?.id },
        Field("last_id", "Id of the last model") { $0.rows.last?.id },
    ]

    private var rows: [WireModel] { models.map { WireModel(model: $0, since: since) } }
}

/// The abilities and prices of a model. Unknown values are left out.
struct WireCapabilities: Record {
    let model: ModelDescription

    static let fields: [Field<WireCapabilities>] = [
        Field("id", "Id for requests", .name) { "\($0.model.provider)/\($0.model.id)" },
        Field("name", "Display name") { $0.model.name ?? $0.model.id },
        Field("provider", "Provider of the model") { $0.model.provider },
        Field("context_window", "Context size in tokens, including the answer") { $0.model.contextTokens },
        Field("max_output_tokens", "Maximum number of tokens in an answer") { $0.model.outputTokens },
        Field("input_cost_per_million", "US dollars per million tokens read") {
            $0.model.price?.input?.perMillion
        },
        Field("output_cost_per_million", "US dollars per million tokens written") {
            $0.model.price?.output?.perMillion
        },
        Field("supports_streaming", "Always true: answers can be streamed") { _ in true },
        Field("supports_tools", "Whether it can call tools") { $0.can(.tools) },
        Field("supports_images", "Whether it can read images") { $0.can(.images) },
        Field("supports_files", "Whether it can read documents") { $0.can(.files) },
        Field("supports_reasoning", "Whether it reasons before it answers") { $0.can(.reasoning) },
        Field("supports_schema", "Whether it can follow a schema") { $0.can(.schema) },
    ]

    private func can(_ ability: ModelAbility) -> Bool? { model.abilities.map { $0.contains(ability) } }
}

import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Which models there are.
struct ModelRoutes {
    let services: APIServices

    var all: [Route] {
        let one = Route(.get, "/v1/models/{id}", "getModel", "One model", .path("id", "What it is asked for by")) {
            _, id in try await model(id)
        }
        // Clients write the slash in a model's name as it is or escaped.
        let slashed = Route(
            .get, "/v1/models/{id...}", "getModelBySlashedName", "One model, with slashes in its name",
            .path("id", "What it is asked for by")
        ) { _, id in try await model(id) }
        return [
            list,
            Route(.get, "/v1/models/capabilities", "listCapabilities", "What the models can do and cost") { _ in
                WireList(rows: await services.turns.models().map(WireCapabilities.init))
            },
            one.refusing(.notFound), slashed.refusing(.notFound).hidden(),
        ].map { $0.tagged("models") }
    }

    /// Clients ask for it all the time.
    private var list: Route {
        let written = LastWritten<WireModels>()
        return Route(.get, "/v1/models", "listModels", "All models, of all providers that can be asked now") { _ in
            written.answer(WireModels(models: await services.turns.models(), since: services.started))
        }.answering(.ok, WireModels.self, "Done")
    }

    private func model(_ id: String) async throws -> WireModel {
        WireModel(model: try await services.turns.model(named: id), since: services.started)
    }
}

/// A model in a list, under the names of OpenAI's API and of Anthropic's.
struct WireModel: Record {
    let model: ModelDescription
    /// Nobody tells when a model came into being, and clients demand a time: when the gateway began.
    let since: Timestamp

    /// What it is asked for by.
    var id: String { "\(model.provider)/\(model.id)" }

    static let fields: [Field<WireModel>] = [
        Field("id", "What it is asked for by", .name) { $0.id },
        Field("object", "Always model") { _ in "model" },
        Field("type", "Always model") { _ in "model" },
        Field("created", "Since when it is known here, in seconds since 1970") {
            Int($0.since.microseconds / 1_000_000)
        },
        Field("created_at", "The same as a time") { $0.since },
        Field("owned_by", "Who has it") { $0.model.provider },
        Field("display_name", "What people call it") { $0.model.name ?? $0.model.id },
        Field("context_length", "How many tokens fit in, with the answer") { $0.model.contextTokens },
    ]
}

/// A list of models as both APIs have it.
struct WireModels: Record, Equatable {
    let models: [ModelDescription]
    let since: Timestamp

    static let fields: [Field<WireModels>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "All models, the best choice first") { $0.rows },
        Field("has_more", "Always false: the list is whole") { _ in false },
        Field("first_id", "The first of them") { $0.rows.first?.id },
        Field("last_id", "The last of them") { $0.rows.last?.id },
    ]

    private var rows: [WireModel] { models.map { WireModel(model: $0, since: since) } }
}

/// What a model can do and costs. What is not known is left out.
struct WireCapabilities: Record {
    let model: ModelDescription

    static let fields: [Field<WireCapabilities>] = [
        Field("id", "What it is asked for by", .name) { "\($0.model.provider)/\($0.model.id)" },
        Field("name", "What people call it") { $0.model.name ?? $0.model.id },
        Field("provider", "Who has it") { $0.model.provider },
        Field("context_window", "How many tokens fit in, with the answer") { $0.model.contextTokens },
        Field("max_output_tokens", "How many tokens an answer can have") { $0.model.outputTokens },
        Field("input_cost_per_million", "US dollars for a million tokens that it reads") {
            $0.model.price?.input?.perMillion
        },
        Field("output_cost_per_million", "US dollars for a million tokens that it writes") {
            $0.model.price?.output?.perMillion
        },
        Field("supports_streaming", "Always: answers can come as they come into being") { _ in true },
        Field("supports_tools", "Whether it can call tools") { $0.can(.tools) },
        Field("supports_images", "Whether it can look at images") { $0.can(.images) },
        Field("supports_files", "Whether it can read documents") { $0.can(.files) },
        Field("supports_reasoning", "Whether it thinks before it answers") { $0.can(.reasoning) },
        Field("supports_schema", "Whether it keeps to a schema") { $0.can(.schema) },
    ]

    private func can(_ ability: ModelAbility) -> Bool? { model.abilities.map { $0.contains(ability) } }
}

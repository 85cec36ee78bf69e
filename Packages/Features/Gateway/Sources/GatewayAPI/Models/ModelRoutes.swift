import GatewayTurns
import HTTPCore
import HTTPServer

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

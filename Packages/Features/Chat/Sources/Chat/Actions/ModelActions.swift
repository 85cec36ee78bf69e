import Capabilities
import ChatProviders
import JSON
import Registry

/// The models that can be asked.
struct ModelActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [models] }

    private var models: Action {
        Action(
            "chat.models", "List the models of every provider that can be asked now", .reads,
            .argument("provider", "Only this provider's", as: String?.self)
        ) { context, provider in
            let directory = try services.directory()
            if let provider {
                return FoundModels(models: try await directory.models(of: provider), exit: .done)
            }
            context.progress("asking the providers")
            let catalogue = await directory.catalogue()
            for (provider, failure) in catalogue.failures {
                context.notice("\(PlainText.escape(provider)): \(failure.message)")
            }
            if catalogue.models.isEmpty, catalogue.failures.isEmpty {
                // It says what to do when there is nobody to ask.
                _ = try await directory.choice()
            }
            return FoundModels(models: catalogue.models, exit: exit(of: catalogue, directory))
        }
        .example("martlet chat models --json", "With context, prices and abilities")
        .sending()
    }

    /// How it went: nobody whom the person has set up has given a list, and somebody has refused to.
    private func exit(of catalogue: ModelCatalogue, _ directory: ProviderDirectory) -> ExitCode {
        guard let first = catalogue.failures.first else { return .done }
        let silent = catalogue.failures.map(\.provider)
        let isAnswered = catalogue.models.contains { model in
            !silent.contains(model.provider) && !directory.isOther(model.provider)
        }
        return isAnswered ? .done : first.failure.exit
    }
}

/// Models, and whether somebody who was to list them did.
struct FoundModels: OutputValue {
    let models: [ModelDescription]
    let exit: ExitCode

    static var schema: Schema { [ModelDescription].schema }
    var json: JSON { models.json }
}

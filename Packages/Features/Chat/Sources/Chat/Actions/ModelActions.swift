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
            let directory = services.directory(context)
            if let provider {
                return try await directory.models(of: provider)
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
            return catalogue.models
        }
        .example("martlet chat models --json", "With context, prices and abilities")
    }
}

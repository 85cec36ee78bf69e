import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry

/// The actions that list the models, and let another one answer.
struct ModelActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [models, use] }

    private var models: Action {
        Action(
            "chat.models", "List the models of all available providers", .reads,
            .argument(
                "provider", "Only models of this provider", as: String?.self, completion: ChatCompletion.providers)
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
                // Without any provider, the error says what to do.
                _ = try await directory.choice()
            }
            return FoundModels(models: catalogue.models, exit: exit(of: catalogue, directory))
        }
        .example("martlet chat models --json", "With context, prices and abilities")
        .sending()
    }

    private var use: Action {
        Action(
            "chat.use", "Let another model answer the next messages of a conversation", .writes,
            HistoryActions.conversation,
            .argument(
                "model", "The model, such as openai/gpt-5, or the name of a server", as: String.self,
                completion: ChatCompletion.models)
        ) { context, prefix, model in
            let id = try await services.history.find(prefix).id
            var options = SendOptions()
            options.conversation = id.rawValue
            let chat = ChatSession(services: services, context: context, sendOptions: options)
            try await chat.find()
            let choice = try await chat.use(model)
            if let doubt = try await choice.doubt() { context.notice(doubt) }
            return try await services.history.conversation(id)
        }
        .sending()
        .question("chat.local-server", "Whether to use a server that was found on this machine: true or false")
        .details("With the next message it receives the whole conversation.")
        .example("martlet chat use 7f3q openai/gpt-5", "Earlier answers keep their model")
    }

    /// The exit code. It is a failure if a provider failed and no configured provider returned a list.
    private func exit(of catalogue: ModelCatalogue, _ directory: ProviderDirectory) -> ExitCode {
        guard let first = catalogue.failures.first else { return .done }
        let silent = catalogue.failures.map(\.provider)
        let isAnswered = catalogue.models.contains { model in
            !silent.contains(model.provider) && !directory.isOther(model.provider)
        }
        return isAnswered ? .done : first.failure.exit
    }
}

/// The models, and the exit code of listing them.
struct FoundModels: OutputValue {
    let models: [ModelDescription]
    let exit: ExitCode

    static var schema: Schema { [ModelDescription].schema }
    var json: JSON { models.json }
}

public import Capabilities

/// The chosen provider and model.
public struct ModelChoice: Sendable {
    /// The provider to ask.
    public let provider: any ModelProvider
    /// The model of the request; empty if the server chooses.
    public let model: String
    /// What is known of the model without a request.
    public let description: ModelDescription?
    /// How to use another model, if this one was chosen only because there is nothing else.
    public var advice: String?

    /// The name that selects this choice again.
    public var name: String { model.isEmpty ? provider.id : "\(provider.id)/\(model)" }

    /// Whether the model runs on the user's own platform.
    public var isPlatform: Bool { provider is KamiwazaProvider }
}

/// The models of all providers that could be asked.
public struct ModelCatalogue: Sendable {
    /// The models in the order of their providers.
    public var models: [ModelDescription] = []
    /// The providers whose models could not be listed.
    public var failures: [(provider: String, failure: AnyFailure)] = []
}

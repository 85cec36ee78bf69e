public import Capabilities

/// Who is asked, and which model.
public struct ModelChoice: Sendable {
    public let provider: any ModelProvider
    /// What a request names; empty where the server has a choice of its own.
    public let model: String
    /// What is known of the model without asking.
    public let description: ModelDescription?
    /// How to have somebody better, where this one was chosen because there is nobody else.
    public var advice: String?

    /// What names this choice again.
    public var name: String { model.isEmpty ? provider.id : "\(provider.id)/\(model)" }

    /// Whether the model runs on a platform of the person's own.
    public var isPlatform: Bool { provider is KamiwazaProvider }
}

/// The models of all providers that could be asked.
public struct ModelCatalogue: Sendable {
    public var models: [ModelDescription] = []
    /// The providers whose list could not be had.
    public var failures: [(provider: String, failure: AnyFailure)] = []
}

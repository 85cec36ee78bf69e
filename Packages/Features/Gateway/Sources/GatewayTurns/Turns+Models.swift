public import Capabilities

extension Turns {
    /// All models that can be asked now, in the order of their providers. Each is asked for by `PROVIDER/ID`.
    public func models() async -> [ModelDescription] {
        await catalogue.models()
    }

    /// The model of a name, as a request would find it; the default for an empty one.
    public func model(named name: String) async throws -> ModelDescription {
        try await catalogue.choice(named: name, default: parts.settings.defaultModel).description
    }
}

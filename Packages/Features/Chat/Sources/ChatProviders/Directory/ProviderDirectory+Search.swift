import Capabilities
import TurnLoop

extension ProviderDirectory {
    /// The model of a name that says nothing about its provider.
    func search(_ name: String) async throws -> ModelChoice {
        // What is known beforehand needs no list, so that a question is on its way at once.
        for provider in configured {
            guard let known = setup.table.description(of: name, provider: provider.id),
                await provider.isAvailable()
            else { continue }
            return ModelChoice(provider: provider, model: name, description: known)
        }
        let providers = await available()
        let catalogue = await catalogue(of: providers)
        let exact = catalogue.models.first { $0.id == name }
        if let exact, let provider = providers.first(where: { $0.id == exact.provider }) {
            return ModelChoice(provider: provider, model: exact.id, description: exact)
        }
        let wanted = name.lowercased()
        let fitting = catalogue.models.filter { $0.id.lowercased().hasPrefix(wanted) }
        if Set(fitting.map(\.id)).count > 1 { throw ambiguous(name, fitting) }
        if let only = fitting.first, let provider = providers.first(where: { $0.id == only.provider }) {
            return ModelChoice(provider: provider, model: only.id, description: only)
        }
        // A vendor's new model, whose list does not have it yet or cannot be had: the vendor knows.
        if let vendor = vendors.first(where: { $0.families.contains { wanted.hasPrefix($0) } }),
            let provider = providers.first(where: { $0.id == vendor.id })
        {
            return ModelChoice(provider: provider, model: name, description: nil)
        }
        throw notFound(name, catalogue, providers)
    }

    private func ambiguous(_ name: String, _ fitting: [ModelDescription]) -> ChatError {
        let names = fitting.prefix(5).map { "'\(PlainText.escape("\($0.provider)/\($0.id)"))'" }
        return ChatError(
            .ambiguousModel, "several models begin with \(ChatError.shown(name))",
            remedy: "say which: \(names.joined(separator: ", "))\(fitting.count > 5 ? ", …" : "")")
    }

    private func notFound(
        _ name: String, _ catalogue: ModelCatalogue, _ providers: [any ModelProvider]
    ) -> ChatError {
        if let vendor = vendors.first(where: { $0.families.contains { name.lowercased().hasPrefix($0) } }),
            !providers.contains(where: { $0.id == vendor.id })
        {
            return ChatError(
                .noKey, "\(ChatError.shown(name)) is a model of \(vendor.name), for which there is no key",
                remedy: setup.authenticator == nil
                    ? "set \(vendor.keyVariable)"
                    : "set \(vendor.keyVariable), or keep a key with 'martlet auth secret set \(vendor.id)'",
                provider: vendor.id)
        }
        let names = ChatError.nearest(to: name, among: catalogue.models.map(\.id)).map { "'\(PlainText.escape($0))'" }
        let advice = names.isEmpty ? "" : "did you mean \(names.joined(separator: ", "))? "
        let silent = catalogue.failures.map(\.provider)
        let without = silent.isEmpty ? "" : " (the lists of \(silent.joined(separator: ", ")) could not be had)"
        return ChatError(
            .modelNotFound, "nobody has a model \(ChatError.shown(name))\(without)",
            remedy: "\(advice)'martlet chat models' lists what there is")
    }
}

public import Capabilities
import TurnLoop

extension ProviderDirectory {
    /// The models of all that can be asked, all lists asked for at once. What a list does not say is completed by the
    /// table; where a list cannot be had, the table stands for it.
    public func catalogue() async -> ModelCatalogue {
        await catalogue(of: await available())
    }

    /// The models of one provider, completed in the same way.
    public func models(of id: String) async throws -> [ModelDescription] {
        try await provider(named: id).models().map(setup.table.completing)
    }

    func catalogue(of providers: [any ModelProvider]) async -> ModelCatalogue {
        let answers = await withTaskGroup(of: (Int, Result<[ModelDescription], any Error>).self) { group in
            for (index, provider) in providers.enumerated() {
                group.addTask {
                    do { return (index, .success(try await provider.models())) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var catalogue = ModelCatalogue()
        for (index, provider) in providers.enumerated() {
            switch answers[index] {
            case .success(let models)?: catalogue.models += models.map(setup.table.completing)
            case .failure(let error)?:
                catalogue.models += setup.table.all.filter { $0.provider == provider.id }
                catalogue.failures.append((provider.id, AnyFailure(error)))
            case nil: continue
            }
        }
        return catalogue
    }
}

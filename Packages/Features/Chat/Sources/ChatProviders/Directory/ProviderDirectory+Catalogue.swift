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
        let listings = await withTaskGroup(of: Listing.self) { group in
            for (place, provider) in providers.enumerated() {
                group.addTask { await Listing(of: provider, at: place) }
            }
            return await group.reduce(into: [Listing]()) { $0.append($1) }
        }
        var catalogue = ModelCatalogue()
        for listing in listings.sorted(by: { $0.place < $1.place }) {
            switch listing.models {
            case .success(let models): catalogue.models += models.map(setup.table.completing)
            case .failure(let error):
                catalogue.models += setup.table.all.filter { $0.provider == listing.provider }
                catalogue.failures.append((listing.provider, AnyFailure(error)))
            }
        }
        return catalogue
    }
}

/// What a provider answered when it was asked for its models. Not a tuple, since swiftc 6.3.1 loses the first member of a
/// tuple that a task returns from do and catch when it optimises.
private struct Listing: Sendable {
    let place: Int
    let provider: String
    let models: Result<[ModelDescription], any Error>

    init(of provider: any ModelProvider, at place: Int) async {
        self.place = place
        self.provider = provider.id
        do { models = .success(try await provider.models()) } catch { models = .failure(error) }
    }
}

import Capabilities
import GatewayModels
import TurnLoop

extension Catalogue {
    /// The model of a name. Another one than was asked for is never taken in its place.
    ///
    /// - Parameter name: `PROVIDER/MODEL`, an id that only one provider has, or empty for the default.
    func choice(named name: String, default preset: String?) async throws -> ModelChoice {
        let listings = await listings()
        if !name.isEmpty { return try await Self.choice(named: name, among: listings) }
        if let preset, !preset.isEmpty { return try await Self.choice(named: preset, among: listings) }
        for listing in listings where !listing.backend.isFound {
            if let model = listing.models.first { return ModelChoice(backend: listing.backend, description: model) }
        }
        throw GatewayError(.modelUnavailable, "no model can be used now\(Self.leftOut(listings))", param: "model")
    }

    private static func choice(named name: String, among listings: [Listing]) async throws -> ModelChoice {
        var unlisted: ModelChoice?
        if let slash = name.firstIndex(of: "/"), let own = listings.first(where: { $0.id == name[..<slash] }) {
            let id = name[name.index(after: slash)...]
            if let model = own.models.first(where: { $0.id == id }) {
                return ModelChoice(backend: own.backend, description: model)
            }
            // Servers know names beside those of their lists, such as aliases and models that were made for somebody.
            if case .provider(let provider) = own.backend, !id.isEmpty, await provider.dialect(of: String(id)) != nil {
                let model = ModelTable.known.completing(ModelDescription(id: String(id), provider: own.id))
                unlisted = ModelChoice(backend: own.backend, description: model)
            } else if let problem = own.problem {
                throw GatewayError(
                    .modelUnavailable,
                    "the models of '\(own.id)' cannot be listed now: \(problem.message); ask again in a minute",
                    param: "model", cause: problem)
            }
        }
        // Ids with a slash of their own are usual where one server stands for many vendors.
        let found = listings.compactMap { listing in
            listing.models.first { $0.id == name }.map { ModelChoice(backend: listing.backend, description: $0) }
        }
        if found.count == 1 { return found[0] }
        let shown = PlainText.escape(name).quoted
        guard found.isEmpty || unlisted != nil else {
            throw GatewayError(
                .modelAmbiguous,
                "several providers have the model \(shown); say which: \(found.map(\.name).joined(separator: ", "))",
                param: "model")
        }
        if let unlisted { return unlisted }
        let names = listings.flatMap { listing in listing.models.flatMap { [$0.id, "\(listing.id)/\($0.id)"] } }
        throw GatewayError(
            .modelNotFound, "there is no model \(shown)\(Suggestion.text(for: name, among: names))\(leftOut(listings))",
            param: "model")
    }

    /// Says which providers are missing from the list, for one of them may have the model.
    private static func leftOut(_ listings: [Listing]) -> String {
        let names = listings.filter { $0.problem != nil }.map(\.id)
        return names.isEmpty ? "" : "; the models of \(names.joined(separator: ", ")) cannot be listed now"
    }
}

extension String {
    /// As a name that somebody chose is put into a sentence: it may be of any length.
    var quoted: String { count > 100 ? "'\(prefix(100))…'" : "'\(self)'" }
}

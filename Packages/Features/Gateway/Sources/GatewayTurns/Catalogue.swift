import Capabilities
import GatewayModels
import Synchronization
import TurnLoop

/// The models of all providers, listed at most once a minute.
final class Catalogue: Sendable {
    /// The models of one provider, or why they are not known.
    struct Listing: Sendable {
        let id: String
        let backend: Backend
        var models: [ModelDescription] = []
        var problem: AnyFailure?
    }

    private let providers: @Sendable () async -> [any ModelProvider]
    private let builtIn: (any BuiltInModel)?
    private let claude: ClaudeCommand?
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    /// Called for a provider that is left out.
    private let report: @Sendable (Listing) async -> Void

    /// The listed models, and the time.
    private struct Found {
        let listings: [Listing]
        let models: [ModelDescription]
        let time: Timestamp

        init(_ listings: [Listing], at time: Timestamp) {
            self.listings = listings
            models = listings.flatMap(\.models)
            self.time = time
        }
    }

    private struct State {
        var known: Found?
        /// The running load. Callers that need the lists wait for it, and so does `close`.
        var loading: Task<Found, Never>?
    }

    private let state = Mutex(State())

    init(
        providers: @escaping @Sendable () async -> [any ModelProvider], builtIn: (any BuiltInModel)?,
        claude: ClaudeCommand?, clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (Listing) async -> Void
    ) {
        self.providers = providers
        self.builtIn = builtIn
        self.claude = claude
        self.clock = clock
        self.now = now
        self.report = report
    }

    /// The listings in the order of the providers, the built-in model last.
    func listings() async -> [Listing] { await found().listings }

    /// The models of all providers. It is the same array until they are listed again.
    func models() async -> [ModelDescription] { await found().models }

    var isLoading: Bool { state.withLock { $0.loading != nil } }

    func close() async {
        let loading = state.withLock { $0.loading }
        loading?.cancel()
        _ = await loading?.value
    }

    private func found() async -> Found {
        // Nearly every request finds the list here and does not wait.
        if let fresh { return fresh }
        return await loading().value
    }

    private var fresh: Found? {
        let now = now()
        return state.withLock { state in
            state.known.flatMap { (.zero..<Self.lifetime).contains(now - $0.time) ? $0 : nil }
        }
    }

    private func loading() -> Task<Found, Never> {
        state.withLock { state in
            let loading = state.loading ?? Task { await load() }
            state.loading = loading
            return loading
        }
    }

    private static let lifetime = Duration.seconds(60)
    /// A provider that does not respond must not delay the others.
    private static let patience = Duration.seconds(10)

    private func load() async -> Found {
        var all = await providers()
        if let builtIn, !all.contains(where: { $0.id == builtIn.id }) { all.append(builtIn) }
        var listings = await Self.listings(of: all, clock)
        if let claude {
            let own = Listing(id: ClaudeCommand.provider, backend: .claude(claude), models: ClaudeCommand.models)
            listings.insert(own, at: listings.firstIndex { $0.id == builtIn?.id } ?? listings.endIndex)
        }
        let found = Found(listings, at: now())
        let isWhole = !Task.isCancelled
        state.withLock { state in
            if isWhole { state.known = found }
            state.loading = nil
        }
        for listing in listings where listing.problem != nil { await report(listing) }
        return found
    }

    /// Lists the models of all providers concurrently.
    private static func listings(of providers: [any ModelProvider], _ clock: any Clock<Duration>) async -> [Listing] {
        await withTaskGroup(of: (Int, Listing?).self) { group in
            for (index, provider) in providers.enumerated() {
                group.addTask { (index, await listing(of: provider, clock)) }
            }
            let answers = await group.reduce(into: [Int: Listing]()) { $0[$1.0] = $1.1 }
            return providers.indices.compactMap { answers[$0] }
        }
    }

    /// Lists the models of a provider; nil if it is not available.
    private static func listing(of provider: any ModelProvider, _ clock: any Clock<Duration>) async -> Listing? {
        var listing = Listing(id: provider.id, backend: .provider(provider))
        do {
            let found = try await withTimeLimit(patience, on: clock) { () async throws -> [ModelDescription]? in
                await provider.isAvailable() ? try await provider.models() : nil
            }
            guard let found else {
                throw GatewayError(.modelUnavailable, "it did not list its models within \(patience.words)")
            }
            guard let models = found else { return nil }
            listing.models = models.map(ModelTable.known.completing)
        } catch {
            listing.problem = AnyFailure(error)
        }
        return listing
    }
}

extension Catalogue {
    /// The model with a name. It never substitutes another model.
    ///
    /// - Parameter name: `PROVIDER/MODEL`, an id that only one provider has, or empty for the default.
    func choice(named name: String, default preset: String?) async throws -> ModelChoice {
        let listings = await listings()
        if !name.isEmpty { return try await Self.choice(named: name, among: listings) }
        if let preset, !preset.isEmpty { return try await Self.choice(named: preset, among: listings) }
        for listing in listings where !listing.backend.isFound {
            if let model = listing.models.first { return ModelChoice(backend: listing.backend, description: model) }
        }
        throw GatewayError(
            .modelUnavailable,
            "no model is available now\(Self.leftOut(listings)); store a key with 'martlet auth secret set openai', "
                + "or switch on the built-in model, as 'martlet features' shows",
            param: "model")
    }

    private static func choice(named name: String, among listings: [Listing]) async throws -> ModelChoice {
        var unlisted: ModelChoice?
        if let slash = name.firstIndex(of: "/"), let own = listings.first(where: { $0.id == name[..<slash] }) {
            let id = name[name.index(after: slash)...]
            if let model = own.models.first(where: { $0.id == id }) {
                return ModelChoice(backend: own.backend, description: model)
            }
            // Servers accept names that they do not list, such as aliases and custom models.
            if case .provider(let provider) = own.backend, !id.isEmpty, await provider.dialect(of: String(id)) != nil {
                let model = ModelTable.known.completing(ModelDescription(id: String(id), provider: own.id))
                unlisted = ModelChoice(backend: own.backend, description: model)
            } else if let problem = own.problem {
                throw GatewayError(
                    .modelUnavailable,
                    "cannot list the models of '\(own.id)': \(problem.message); retry in a minute",
                    param: "model", cause: problem)
            }
        }
        // Ids can contain a slash, usually on servers that offer models of many vendors.
        let found = listings.compactMap { listing in
            listing.models.first { $0.id == name }.map { ModelChoice(backend: listing.backend, description: $0) }
        }
        if found.count == 1 { return found[0] }
        let shown = PlainText.escape(name).quoted
        guard found.isEmpty || unlisted != nil else {
            throw GatewayError(
                .modelAmbiguous,
                "several providers have the model \(shown); use one of \(found.map(\.name).joined(separator: ", "))",
                param: "model")
        }
        if let unlisted { return unlisted }
        let names = listings.flatMap { listing in listing.models.flatMap { [$0.id, "\(listing.id)/\($0.id)"] } }
        throw GatewayError(
            .modelNotFound, "there is no model \(shown)\(Suggestion.text(for: name, among: names))\(leftOut(listings))",
            param: "model")
    }

    /// Names the providers whose models are not known, since one of them may have the model.
    private static func leftOut(_ listings: [Listing]) -> String {
        let names = listings.filter { $0.problem != nil }.map(\.id)
        return names.isEmpty ? "" : "; cannot list the models of \(names.joined(separator: ", "))"
    }
}

extension String {
    /// The text in quotes, shortened, for names of any length in messages.
    var quoted: String { count > 100 ? "'\(prefix(100))…'" : "'\(self)'" }
}

/// What answers: a provider, whose tool calls run here, or the `claude` command, which runs its own.
enum Backend: Sendable {
    case provider(any ModelProvider)
    case claude(ClaudeCommand)

    /// Whether it was only discovered on this machine; then it must be requested by name.
    var isFound: Bool {
        if case .provider(let provider) = self { provider.isFound } else { false }
    }
}

/// A model and the backend that has it. It is a class, because every request holds one.
final class ModelChoice: Sendable {
    let backend: Backend
    let description: ModelDescription

    init(backend: Backend, description: ModelDescription) {
        self.backend = backend
        self.description = description
    }

    var name: String { "\(description.provider)/\(description.id)" }
}

extension ClaudeCommand {
    static let provider = "claude"

    /// The command cannot list models. Every version understands these names; `default` leaves the choice to it.
    static let models = ["default", "opus", "sonnet", "haiku"].map { id in
        ModelDescription(
            id: id, provider: provider, name: "Claude Code (\(id))", abilities: [.tools, .images, .reasoning])
    }
}

import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import OpenAIDialect
import Synchronization

/// The models that a Kamiwaza platform has deployed, each of which has an address of its own.
final class KamiwazaProvider: ModelProvider {
    let id: String
    let name: String
    let address: HTTPURL
    let access: ServerAccess
    let lastModel: @Sendable () async -> String?
    let state = Mutex(State())

    struct State {
        /// Where the API was found.
        var base: HTTPURL?
        /// The list by which addresses are known until one of them fails.
        var deployments: [Deployment]?
        var dialects: [String: OpenAIQuirks] = [:]
    }

    init(_ factory: ProviderFactory, _ id: String, _ address: HTTPURL, _ credential: Credential) {
        self.id = id
        name = id
        self.address = address
        access = factory.access(id, credential)
        lastModel = factory.lastModel(id)
    }

    func isAvailable() async -> Bool { true }

    /// The list is asked for each time: what is deployed changes.
    func models() async throws -> [ModelDescription] {
        let active = try await deployments()
        guard !active.isEmpty else { throw nothingDeployed() }
        return active.map { ModelDescription(id: active.name(of: $0), provider: id, name: $0.model) }
    }

    func dialect(of model: String) -> RequestDialect? { .openai }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let known = state.withLock { $0.deployments }?.named(request.model)
        var deployment: Deployment
        if let known { deployment = known } else { deployment = try await self.deployment(named: request.model) }
        var mayLook = true
        var request = request
        while true {
            // Nothing is asked again once something of an answer was seen.
            var hasContent = false
            do {
                return try await answer(request, of: deployment) { events in
                    hasContent = hasContent || events.contains(where: \.isContent)
                    try await receive(events)
                }
            } catch let error as ChatError where request.streams && !hasContent && error.status == 500 {
                // Some engines refuse a stream so, without a word of streams.
                request.streams = false
                try await receive([.notice("\(error.happened); asking for the whole answer at once")])
            } catch let error as ChatError where mayLook && !hasContent && error.mayMeanMoved {
                mayLook = false
                // One that is gone is told so, and one that is at the same place has failed for its own reason.
                let now = try await self.deployment(named: request.model)
                guard now != deployment else { throw error.status == 404 ? absent(request.model, error) : error }
                deployment = now
            }
        }
    }

    /// What is known of a name without asking.
    func deploymentID(of model: String) -> String? { state.withLock { $0.deployments }?.named(model)?.id }

    private func answer(
        _ request: ChatRequest, of deployment: Deployment, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let endpoint = try await deployment.endpoint(at: base())
        var asked = request
        asked.model = deployment.canonical ?? deployment.model
        let quirks = state.withLock { $0.dialects[deployment.id] } ?? .kamiwaza
        let question = StreamedAnswer(
            access: access, url: try endpoint.below("/chat/completions"), readsErrorField: quirks.readsErrorField)
        let (answer, used) = try await question.run(asked, in: OpenAIDialect(quirks), receive)
        if let used = used as? OpenAIDialect { state.withLock { $0.dialects[deployment.id] = used.quirks } }
        return answer
    }
}

extension ChatError {
    /// Whether the model may be at another address by now, or nowhere.
    fileprivate var mayMeanMoved: Bool {
        switch kind {
        case .modelNotFound, .unreachable, .notReady: true
        default: status == 404
        }
    }
}

extension KamiwazaProvider {
    /// The deployment of a name, by a list that is new.
    func deployment(named name: String) async throws -> Deployment {
        let active = try await deployments()
        if let found = active.named(name) { return found }
        guard !active.isEmpty else { throw nothingDeployed() }
        let others = active.prefix(3).map { "'\(PlainText.escape(active.name(of: $0)))'" }.joined(separator: ", ")
        throw ChatError(
            .modelGone, "\(self.name) does not serve the model \(ChatError.shown(name)) now",
            remedy: "pick another, such as \(others)", provider: id)
    }

    /// The platform lists it and does not find it.
    func absent(_ model: String, _ error: ChatError) -> ChatError {
        let others = (state.withLock { $0.deployments } ?? []).filter { $0.id != model && $0.model != model }
        let names = others.prefix(3).map { "'\(PlainText.escape(others.name(of: $0)))'" }.joined(separator: ", ")
        return ChatError(
            .modelGone, "\(name) does not find the deployment of \(ChatError.shown(model)) (\(error.happened))",
            remedy: names.isEmpty ? "deploy it anew, or ask an administrator to" : "pick another, such as \(names)",
            provider: id, status: 404, cause: error)
    }

    func deployments() async throws -> [Deployment] {
        let response: HTTPResponse
        do {
            response = try await access.list(base().below("/serving/deployments"))
        } catch let error as ChatError where error.status == 404 {
            throw ChatError(
                .badAnswer, "\(name) has no list of deployments (\(error.happened))",
                remedy: "check that its address leads to the platform's API", provider: id, status: 404, cause: error)
        }
        let list: [JSON]
        do {
            guard let entries = try JSON(parsing: response.body, reading: .stream).array else { throw badList() }
            list = entries
        } catch is JSONError {
            throw badList()
        }
        let active = list.compactMap(Deployment.init(active:)).ordered(last: await lastModel())
        state.withLock { $0.deployments = active }
        return active
    }

    /// The base of the API. What was typed may leave out the path, and then the platform is asked.
    func base() async throws -> HTTPURL {
        if let known = state.withLock({ $0.base }) { return known }
        let found =
            address.path.hasSuffix("/api") || address.path.hasSuffix("/api/")
            ? address : try await KamiwazaAddress(address.text).discover(using: access.client)
        state.withLock { $0.base = found }
        return found
    }

    func nothingDeployed() -> ChatError {
        ChatError(
            .noModel, "\(name) serves no model now", remedy: "deploy one there, or ask an administrator to",
            provider: id)
    }

    func badList() -> ChatError {
        ChatError(
            .badAnswer, "\(name) sent no list of deployments", remedy: "check that its address leads to the API",
            provider: id)
    }
}

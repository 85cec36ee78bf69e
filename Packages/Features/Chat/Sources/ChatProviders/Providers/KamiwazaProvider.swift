import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import OpenAIDialect
import Synchronization

/// The deployed models of a Kamiwaza platform, each with its own address.
final class KamiwazaProvider: ModelProvider {
    let id: String
    let name: String
    let address: HTTPURL
    let access: ServerAccess
    let lastModel: @Sendable () async -> String?
    private let state = Mutex(State())

    struct State {
        /// The address of the API, once it was found.
        var base: HTTPURL?
        /// The last list of deployments. Its addresses are used until one of them fails.
        var deployments: [Deployment]?
        var dialects: [String: OpenAIQuirks] = [:]
    }

    init(_ factory: ProviderFactory, _ id: String, _ address: HTTPURL, _ signer: RequestSigner?) {
        self.id = id
        name = id
        self.address = address
        access = factory.access(id, signer)
        lastModel = factory.lastModel(id)
    }

    func isAvailable() async -> Bool { true }

    /// The list is requested each time, because deployments change.
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
            // The question is not asked again after any part of the answer was delivered.
            var hasContent = false
            do {
                return try await answer(request, of: deployment) { events in
                    hasContent = hasContent || events.contains(where: \.isContent)
                    try await receive(events)
                }
            } catch let error as ChatError where request.streams && !hasContent && error.status == 500 {
                // Some engines refuse to stream with this status, without saying so.
                request.streams = false
                try await receive([.notice("\(error.happened); asking for the complete answer at once")])
            } catch let error as ChatError where mayLook && !hasContent && error.mayMeanMoved {
                mayLook = false
                // A missing model is reported. A model at the same address has failed for its own reason.
                let now = try await self.deployment(named: request.model)
                guard now != deployment else { throw error.status == 404 ? absent(request.model, error) : error }
                deployment = now
            }
        }
    }

    /// The id for a name, if it is known without a request.
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

extension KamiwazaProvider {
    /// The deployment for a name, from a new list.
    func deployment(named name: String) async throws -> Deployment {
        let active = try await deployments()
        if let found = active.named(name) { return found }
        guard !active.isEmpty else { throw nothingDeployed() }
        let others = active.prefix(3).map { "'\(PlainText.escape(active.name(of: $0)))'" }.joined(separator: ", ")
        throw ChatError(
            .modelGone, "\(self.name) does not currently serve the model \(ChatError.shown(name))",
            remedy: "choose another, such as \(others)", provider: id)
    }

    /// The platform lists the deployment but does not find it.
    func absent(_ model: String, _ error: ChatError) -> ChatError {
        let others = (state.withLock { $0.deployments } ?? []).filter { $0.id != model && $0.model != model }
        let names = others.prefix(3).map { "'\(PlainText.escape(others.name(of: $0)))'" }.joined(separator: ", ")
        return ChatError(
            .modelGone, "\(name) cannot find the deployment of \(ChatError.shown(model)) (\(error.happened))",
            remedy: names.isEmpty ? "deploy it again, or ask an administrator to" : "choose another, such as \(names)",
            provider: id, status: 404, cause: error)
    }

    func deployments() async throws -> [Deployment] {
        let response: HTTPResponse
        do {
            response = try await access.list(base().below("/serving/deployments"))
        } catch let error as ChatError where error.status == 404 {
            throw ChatError(
                .badAnswer, "\(name) does not list its deployments (\(error.happened))",
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

    /// The base of the API. If the configured address has no path, the platform is asked for it.
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
            .noModel, "\(name) currently serves no model", remedy: "deploy one there, or ask an administrator to",
            provider: id)
    }

    func badList() -> ChatError {
        ChatError(
            .badAnswer, "unexpected response from \(name): not a list of deployments",
            remedy: "check that its address leads to the API", provider: id)
    }
}

/// A model that a Kamiwaza platform serves.
struct Deployment: Sendable, Hashable {
    let id: String
    /// The name of the model.
    let model: String
    /// The model name that the engine expects, if the platform names one. Local engines reject the name of the
    /// repository.
    let canonical: String?
    private let engine: String?
    let deployed: Timestamp?
    private let accessPath: String?
    let port: Int?

    /// Nil unless it and one of its instances are deployed.
    init?(active json: JSON) {
        guard let id = Self.word(json["id"]), Self.isDeployed(json["status"]),
            let instances = json["instances"]?.array, instances.contains(where: { Self.isDeployed($0["status"]) })
        else { return nil }
        self.id = id
        model = Self.word(json["m_name"]) ?? id
        canonical = Self.word(json["canonical_model_id"])
        engine = Self.word(json["engine_name"]) ?? Self.word(json["engine"])
        let times = [json["deployed_at"]] + instances.map { $0["deployed_at"] } + [json["created_at"]]
        deployed = times.lazy.compactMap { $0?.string.flatMap(Timestamp.init(iso8601:)) }.first
        accessPath = Self.word(json["access_path"])
        port = json["lb_port"]?.int
    }

    /// The address of its API: the path that the platform names, else a port of its host, else its standard path.
    ///
    /// - Parameter base: the base of the platform's API, which ends in `/api`.
    func endpoint(at base: HTTPURL) throws -> HTTPURL {
        var origin = base.path[...]
        while origin.hasSuffix("/") { origin = origin.dropLast() }
        if origin.hasSuffix("/api") { origin = origin.dropLast(4) }
        if let accessPath {
            // It is set as a path and not appended as text, which could change the host.
            let path = accessPath.drop { $0 == "/" }
            return try base.resolving("\(origin)/\(path)").versioned()
        }
        if let port, port != 0, port != 443, (1...65535).contains(port) {
            return try HTTPURL("\(base.scheme.rawValue)://\(base.bracketedHost):\(port)/v1")
        }
        return try base.resolving("\(origin)/runtime/models/\(id)").versioned()
    }

    private static func isDeployed(_ status: JSON?) -> Bool { status?.string?.uppercased() == "DEPLOYED" }

    private static func word(_ json: JSON?) -> String? {
        guard let text = json?.string ?? json?.int.map(String.init), !text.isEmpty else { return nil }
        return text
    }
}

extension [Deployment] {
    /// The name of a deployment: its model, with the deployment's id if two serve the same model.
    func name(of deployment: Deployment) -> String {
        let isShared = count { $0.model == deployment.model } > 1
        return isShared ? "\(deployment.model)@\(deployment.id)" : deployment.model
    }

    /// The deployment for a name. An empty name selects the first.
    func named(_ name: String) -> Deployment? {
        name.isEmpty
            ? first
            : first { $0.id == name } ?? first { $0.model == name } ?? first { $0.canonical == name }
                ?? first { self.name(of: $0) == name }
    }

    /// The last used one first, then the oldest.
    func ordered(last: String?) -> [Deployment] {
        // Deployments of the same time are ordered by id, so that the order is stable.
        let sorted = sorted { left, right in
            switch (left.deployed, right.deployed) {
            case (let left?, let right?) where left != right: left < right
            case (_?, nil): true
            case (nil, _?): false
            default: left.id < right.id
            }
        }
        guard let last, let used = sorted.named(last), !last.isEmpty else { return sorted }
        return [used] + sorted.filter { $0.id != used.id }
    }
}

import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import Synchronization

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

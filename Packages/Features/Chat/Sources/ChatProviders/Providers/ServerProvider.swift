import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect
import Synchronization

/// The models of a server with one address: a vendor, a gateway, or a compatible server.
final class ServerProvider: AgentProvider {
    let id: String
    let name: String
    let runsTools: Bool
    private let plan: ServerPlan
    private let list: ModelList
    /// The dialects that worked for models.
    private let learnt = Mutex<[String: any Dialect]>([:])

    init(_ plan: ServerPlan, now: @escaping @Sendable () -> Timestamp) {
        id = plan.access.id
        name = plan.access.name
        runsTools = plan.question.agent != nil
        self.plan = plan
        list = ModelList(now: now)
    }

    func isAvailable() async -> Bool { await plan.isAvailable() }

    func models() async throws -> [ModelDescription] {
        let found = try await list.models { [plan] in try await plan.load() }
        return plan.ordered(found, last: await plan.lastModel())
    }

    func dialect(of model: String) -> RequestDialect? { type(of: plan.dialect).kind }

    func agentServer() -> (any AgentServer)? { plan.question.agent?.gateway }

    func embeddings(_ body: JSONObject) async throws -> JSONObject? {
        guard let url = plan.embeddings else { return nil }
        return try await plan.access.embeddings(body, at: url)
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        try await answer(request, with: AgentOptions(), receive)
    }

    func answer(
        _ request: ChatRequest, with options: AgentOptions, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        var question = plan.question
        question.agent?.options = options
        do {
            var paused = PausedAnswer(request)
            while true {
                let before = paused
                let dialect = learnt.withLock { $0[request.model] } ?? plan.dialect
                let (answer, used) = try await question.run(before.request, in: dialect) { events in
                    try await receive(before.continued(by: events))
                }
                learnt.withLock { $0[request.model] = used }
                if !paused.takes(answer) { return paused.answer ?? answer }
            }
        } catch let error as ChatError where error.kind == .modelNotFound {
            throw await error.naming(nearest: request.model, in: self)
        }
    }
}

extension ServerProvider {
    func project(named name: String) async throws -> String {
        guard let gateway = plan.question.agent?.gateway, !name.isIdentifier else { return name }
        let known: [AgentProject]
        do {
            let answer = try await plan.access.asking { try await gateway.projects() }
            guard case .value(let list) = answer else { return name }
            known = list.rows
        } catch let error as ChatError where error.kind == .badAnswer {
            return name
        }
        if known.contains(where: { $0.id == name }) { return name }
        let found = known.filter { $0.name == name }
        if let project = found.first, found.count == 1 { return project.id }
        let shown = PlainText.escape(name).quotedForMessage
        if found.isEmpty {
            throw ChatError(
                .unknownProject,
                "\(plan.access.name) has no project \(shown)" + Suggestion.text(for: name, among: known.map(\.name)),
                remedy: "'martlet gateway project list' lists the projects, on the gateway's own machine",
                provider: plan.access.id)
        }
        let ids = found.map { PlainText.escape($0.id) }.joined(separator: ", ")
        throw ChatError(
            .unknownProject, "\(plan.access.name) has \(found.count) projects named \(shown)",
            remedy: "specify one by its id: \(ids)", provider: plan.access.id)
    }
}

extension String {
    /// Whether it has the form of a UUID, which gateways use for the ids of projects.
    fileprivate var isIdentifier: Bool {
        split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && allSatisfy { $0 == "-" || $0.isHexDigit }
    }
}

/// The configuration of a `ServerProvider`.
struct ServerPlan: Sendable {
    let access: ServerAccess
    let question: StreamedAnswer
    let dialect: any Dialect
    /// The default model; nil for the first of the list.
    var defaultModel: String?
    /// The address for embeddings, if there is one.
    var embeddings: HTTPURL?
    let isAvailable: @Sendable () async -> Bool
    let lastModel: @Sendable () async -> String?
    let load: @Sendable () async throws -> [ModelDescription]

    /// The last used model, then the default model, then the order of the server.
    func ordered(_ models: [ModelDescription], last: String?) -> [ModelDescription] {
        let first = [last, defaultModel].compactMap(\.self)
        let chosen = first.compactMap { id in models.first { $0.id == id } }
        return chosen.uniqued() + models.filter { model in !chosen.contains { $0.id == model.id } }
    }
}

extension [ModelDescription] {
    /// Without repeated ids.
    func uniqued() -> [ModelDescription] {
        var seen: Set<String> = []
        return filter { seen.insert($0.id).inserted }
    }
}

/// The models of one provider, kept in memory for an hour.
final class ModelList: Sendable {
    /// A page of a list, and the position of the next one.
    typealias Page = (models: [ModelDescription], next: String?)

    private let now: @Sendable () -> Timestamp
    private let kept = Mutex<(models: [ModelDescription], time: Timestamp)?>(nil)

    static let lifetime: Duration = .seconds(3600)
    private static let mostPages = 20

    init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// The cached models, or those that `load` returns.
    func models(_ load: () async throws -> [ModelDescription]) async throws -> [ModelDescription] {
        if let fresh { return fresh }
        let models = try await load()
        let time = now()
        kept.withLock { $0 = (models, time) }
        return models
    }

    /// The cached models, if they are recent enough.
    var fresh: [ModelDescription]? {
        let time = now()
        return kept.withLock { kept in
            guard let kept, time - kept.time < Self.lifetime, kept.time <= time else { return nil }
            return kept.models
        }
    }

    /// All pages of a list.
    static func load(
        _ url: HTTPURL, from access: ServerAccess, _ read: ([UInt8]) throws -> Page
    ) async throws -> [ModelDescription] {
        var models: [ModelDescription] = []
        var next: String?
        for _ in 0..<mostPages {
            let address = try next.map { try url.adding("after_id", $0) } ?? url
            let response = try await access.list(address)
            let page = try access.reading { try read(response.body) }
            models += page.models
            guard let following = page.next, following != next, !page.models.isEmpty else { break }
            next = following
        }
        return models
    }
}

import Capabilities
import HTTPClient
import HTTPCore
import ModelKit
import OpenAIDialect
import Synchronization
import TurnLoop

/// The models of one server with one address: a vendor, a gateway, or anything that speaks like one of them.
final class ServerProvider: ModelProvider {
    let id: String
    let name: String
    let runsTools: Bool
    private let plan: ServerPlan
    private let list: ModelList
    /// The dialects that models have turned out to want.
    private let learnt = Mutex<[String: any Dialect]>([:])

    init(_ plan: ServerPlan, now: @escaping @Sendable () -> Timestamp) {
        id = plan.access.id
        name = plan.access.name
        runsTools = plan.runsTools
        self.plan = plan
        list = ModelList(now: now)
    }

    func isAvailable() async -> Bool { await plan.isAvailable() }

    func models() async throws -> [ModelDescription] {
        let found = try await list.models { [plan] in try await plan.load() }
        return plan.ordered(found, last: await plan.lastModel())
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        do {
            var paused = PausedAnswer(request)
            while true {
                let before = paused
                let dialect = learnt.withLock { $0[request.model] } ?? plan.dialect
                let (answer, used) = try await plan.question.run(before.request, in: dialect) { events in
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

/// What a `ServerProvider` is made from.
struct ServerPlan: Sendable {
    let access: ServerAccess
    let question: StreamedAnswer
    let dialect: any Dialect
    /// What is asked where nobody says what; nil is the first of the list.
    var defaultModel: String?
    /// Whether it runs tools of its own.
    var runsTools = false
    let isAvailable: @Sendable () async -> Bool
    let lastModel: @Sendable () async -> String?
    let load: @Sendable () async throws -> [ModelDescription]

    /// What was used last, then what is meant where nobody says anything, then as the server has them.
    func ordered(_ models: [ModelDescription], last: String?) -> [ModelDescription] {
        let first = [last, defaultModel].compactMap(\.self)
        let chosen = first.compactMap { id in models.first { $0.id == id } }
        return chosen.uniqued() + models.filter { model in !chosen.contains { $0.id == model.id } }
    }
}

extension [ModelDescription] {
    /// Without those whose id has come before.
    func uniqued() -> [ModelDescription] {
        var seen: Set<String> = []
        return filter { seen.insert($0.id).inserted }
    }
}

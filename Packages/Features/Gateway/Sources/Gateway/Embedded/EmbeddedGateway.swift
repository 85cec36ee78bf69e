import Capabilities
import FileKit
import GatewayModels
import GatewayStore
import GatewayTurns
import JSON
import Registry
import Settings
import Synchronization
import TurnLoop

/// The gateway in the same process: who answers where nobody else can be asked. It works in the folder in which the
/// command runs; what reads is allowed there, and for the rest the person of the action is asked.
final class EmbeddedGateway: ModelProvider {
    static let id = "martlet"
    private let settings: FeatureSettings
    private let surroundings: Surroundings
    private let store: GatewayStore
    private let opened = Mutex<Turns?>(nil)

    init(settings: FeatureSettings, surroundings: Surroundings, store: GatewayStore) {
        self.settings = settings
        self.surroundings = surroundings
        self.store = store
    }

    var id: String { Self.id }
    var name: String { "Martlet" }
    var runsTools: Bool { true }

    /// It needs no network and no key.
    func isAvailable() async -> Bool { true }

    func models() async throws -> [ModelDescription] { [OfflineModel(id: Self.id).description] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let person = Person(ActionContext.current)
        let turns = turns(person)
        let input = try await input(request, person)
        return try await withoutActuallyEscaping(receive) { receive in
            let lent = Lent(receive: receive)
            let made = Mutex(EmbeddedAnswer())
            let report = try await turns.run(input) { events in
                for event in events {
                    if case .approval(let ticket) = event {
                        try turns.answer(ticket.id, of: ticket.session, try await person.decide(ticket))
                    }
                }
                let shown = made.withLock { made in events.compactMap { made.take($0) } }
                if !shown.isEmpty { try await lent.receive(shown) }
            }
            if let failure = report.failure { throw failure }
            if case .stopped = report.outcome.end { throw CancellationError() }
            return made.withLock { $0.answer(report) }
        }
    }

    /// Ends what runs.
    func close() async {
        let turns = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        await turns?.close()
    }

    private func turns(_ person: Person) -> Turns {
        opened.withLock { opened in
            if let opened { return opened }
            var limits = GatewaySettings.turns(settings, surroundings.environment)
            limits.defaultModel = nil
            // A person who was asked on a terminal takes as long as it takes.
            limits.approvalTime = .seconds(24 * 3600)
            let made = Turns(
                store: store, providers: { [] }, settings: limits, clock: surroundings.clock, now: surroundings.now,
                tracer: person.tracer)
            opened = made
            return made
        }
    }

    private func input(_ request: ChatRequest, _ person: Person) async throws -> TurnInput {
        var asked = request
        asked.model = "\(Self.id)/\(request.model)"
        asked.tools = []
        asked.extras = [:]
        var input = TurnInput(asked, isAgent: true)
        input.canAsk = person.canAsk
        input.keepsRunning = false
        if let id = request.extras["session_id"]?.string, try await store.session(id) != nil {
            input.session = id
        } else {
            input.project = try await project(person)
        }
        return input
    }

    /// The project of the folder in which the command runs, which is made when it is first used.
    private func project(_ person: Person) async throws -> String {
        let path = try Files.canonical(surroundings.locations.current)
        if let known = try await store.project(at: path) { return known.id }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // Another command may have made it meanwhile.
        let opened = try await store.openProject(NewProject(name: name, path: path))
        if opened.isNew {
            person.tell(
                "\(PlainText.escape(path)) is a project of the gateway from now on; "
                    + "'martlet gateway project remove \(opened.project.id)' takes that back")
        }
        return opened.project.id
    }
}

/// A closure that is lent for the length of a call, to code that wants to send it elsewhere.
///
/// Unchecked, because the turn calls it only from the task that runs it, which is the one that lent it.
private struct Lent: @unchecked Sendable {
    let receive: ([ChatEvent]) async throws -> Void
}

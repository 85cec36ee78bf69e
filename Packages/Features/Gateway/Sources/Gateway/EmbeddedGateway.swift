import Capabilities
import FileKit
import GatewayStore
import GatewayTurns
import JSON
import ModelKit
import Registry
import StorageKit
import Synchronization
import TurnLoop

/// The gateway in the same process, a model provider that answers when no other provider can. It works in the folder in
/// which the command runs. Tools that only read are allowed there; for others it asks the user of the action.
final class EmbeddedGateway: ModelProvider {
    static let id = "martlet"
    private let settings: GatewaySettings
    private let surroundings: Surroundings
    private let store: GatewayStore
    private let whole: WholeRegistry?
    private let opened = Mutex(Opened())

    /// Turns, and the store that keeps them.
    private struct Place {
        let store: GatewayStore
        let turns: Turns
    }

    private struct Opened {
        var kept: Place?
        /// For conversations that are not saved. It lasts as long as this process, so that such a conversation can have
        /// several turns.
        var unkept: Place?
    }

    init(settings: GatewaySettings, surroundings: Surroundings, store: GatewayStore, whole: WholeRegistry?) {
        self.whole = whole
        self.settings = settings
        self.surroundings = surroundings
        self.store = store
    }

    var id: String { Self.id }
    var name: String { "Martlet" }
    var runsTools: Bool { true }
    var obeysMode: Bool { true }

    /// The model that answers here; nil in a build without one, or while its feature is off.
    private var builtIn: (any BuiltInModel)? { whole?.registry?.optional((any BuiltInModel).self) }

    /// The turns of sessions that are saved; nil before the first.
    var turns: Turns? { opened.withLock { $0.kept?.turns } }

    func isAvailable() async -> Bool { await builtIn?.isAvailable() ?? false }

    func models() async throws -> [ModelDescription] {
        guard let builtIn else { return [] }
        return try await builtIn.models().map { model in
            var model = model
            model.provider = Self.id
            return model
        }
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let person = Person(ActionContext.current)
        let place = place(isKept: request.isKept, person)
        let turns = place.turns
        let input = try await input(request, place, person)
        return try await withoutActuallyEscaping(receive) { receive in
            let lent = Lent(receive: receive)
            let made = Mutex(EmbeddedAnswer())
            let report = try await turns.run(input) { events in
                for event in events {
                    guard case .approval(let ticket) = event else { continue }
                    do {
                        try turns.answer(ticket.id, of: ticket.session, try await person.decide(ticket))
                    } catch let error as InteractionError {
                        try turns.answer(ticket.id, of: ticket.session, failing: error)
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

    func forget(sessions: [String]) async throws -> Bool {
        if Files.exists(store.database.path) { try await store.erase(sessions: sessions) }
        return true
    }

    /// Ends all running turns.
    func close() async {
        let opened = opened.withLock { exchange(&$0, with: Opened()) }
        await opened.kept?.turns.close()
        await opened.unkept?.turns.close()
        await opened.unkept?.store.close()
    }

    private func place(isKept: Bool, _ person: Person) -> Place {
        opened.withLock { opened in
            if let place = isKept ? opened.kept : opened.unkept { return place }
            var limits = settings.turns(in: surroundings)
            limits.defaultModel = nil
            // A user who is asked on a terminal may take any time to answer.
            limits.approvalTime = .seconds(24 * 3600)
            let store =
                isKept
                ? store
                : GatewayStore.inMemory(
                    audit: { [whole] in whole?.registry?.optional((any AuditLog).self) }, now: surroundings.now)
            let turns = Turns(
                store: store, providers: { [] }, builtIn: builtIn, settings: limits, clock: surroundings.clock,
                now: surroundings.now, tracer: person.tracer,
                folders: whole?.registry?.optional((any FolderRules).self))
            let place = Place(store: store, turns: turns)
            if isKept { opened.kept = place } else { opened.unkept = place }
            return place
        }
    }

    private func input(_ request: ChatRequest, _ place: Place, _ person: Person) async throws -> TurnInput {
        var asked = request
        // Without a built-in model, the empty name gets an error that says what to do.
        asked.model = builtIn.map { "\($0.id)/\(request.model)" } ?? ""
        asked.tools = []
        asked.extras = [:]
        var input = TurnInput(asked, isAgent: true)
        input.canAsk = person.isKnown
        input.mode = request.mode ?? .readOnly
        input.keepsRunning = false
        if let id = request.extras["session_id"]?.string, try await place.store.session(id) != nil {
            input.session = id
        } else if request.isKept {
            input.project = try await project(person)
        } else {
            input.project = try await passingProject(in: place.store)
        }
        return input
    }

    /// The project of the folder in which the command runs; creates it on first use.
    private func project(_ person: Person) async throws -> String {
        let new = try newProject()
        if let known = try await store.project(at: new.path) { return known.id }
        // Another command may have created it meanwhile.
        let opened = try await store.openProject(new)
        if opened.isNew {
            person.tell(
                "\(PlainText.escape(new.path)) is now a project of the gateway; "
                    + "undo with 'martlet gateway project remove \(opened.project.id)'")
        }
        return opened.project.id
    }

    /// The project of that folder in a store that is not saved, with the rules that the user has made for the folder.
    private func passingProject(in passing: GatewayStore) async throws -> String {
        var new = try newProject()
        if let known = try await passing.project(at: new.path) { return known.id }
        // Reading a store creates its file. Without a file there are no decisions yet.
        if Files.exists(store.database.path), let known = try await store.project(at: new.path) {
            (new.rules, new.budget) = (known.rules, known.budget)
        }
        return try await passing.openProject(new).project.id
    }

    private func newProject() throws -> NewProject {
        let path = try Files.canonical(surroundings.locations.current)
        // A turn lets its tools work in this folder, so the caller must have access to it.
        try Caller.grantHere.check(.path(path, .tree))
        return NewProject(name: path.split(separator: "/").last.map(String.init) ?? path, path: path)
    }
}

/// Makes a non-sendable closure usable for the duration of one call.
///
/// Unchecked, because the turn calls the closure only from the task that passed it in.
private struct Lent: @unchecked Sendable {
    let receive: ([ChatEvent]) async throws -> Void
}

/// Combines a turn's events into the one answer that a provider returns.
struct EmbeddedAnswer {
    private var start = ChatStart()
    private var arrived = PartialAnswer()

    /// The chat event to pass on for a gateway event; nil for events that only a gateway's own clients know.
    mutating func take(_ event: GatewayEvent) -> ChatEvent? {
        switch event {
        case .began(let place):
            start = ChatStart(model: place.model, session: place.session, project: place.project)
            return .began(start)
        case .answers(let place):
            start.model = place.model
            return nil
        case .chat(.began), .approval, .output: return nil
        case .chat(let event):
            switch event {
            // Reasoning is passed on, but it is not part of the answer.
            case .reasoning, .thought: break
            default: arrived.add(event)
            }
            return event
        case .notice(let text): return .notice(text)
        }
    }

    func answer(_ report: TurnReport) -> ChatAnswer {
        var answer = ChatAnswer(
            start: start, message: Message(.assistant, arrived.parts), finish: report.outcome.answer?.finish ?? .stop,
            usage: report.outcome.usage)
        answer.isUnapproved = report.outcome.isUnapproved
        answer.hasUnfitApproval = report.outcome.hasUnfitApproval
        return answer
    }
}

/// The user on whose behalf the embedded gateway works, if there is one.
struct Person: Sendable {
    private let context: ActionContext?

    init(_ context: ActionContext?) {
        self.context = context
    }

    /// Whether an action is running. Its user can answer questions, also with answers given in advance.
    var isKnown: Bool { context != nil }
    var tracer: Tracer? { context?.tracer }

    /// Shows a notice that is not part of the answer.
    func tell(_ text: String) { context?.notice(text) }

    /// Asks about a call that no rule decides.
    func decide(_ ticket: ApprovalTicket) async throws -> ApprovalAnswer {
        guard let context else { return ApprovalAnswer(isAllowed: false) }
        let prompt = ApprovalPrompt(
            ticket.call, of: ticket.call.name, ticket.effect, reach: ticket.reach, remembering: ticket.remembers,
            [(.conversation, "in this conversation"), (.project, "always in this folder")])
        context.notice(prompt.notice)
        return try await prompt.answer(from: context.interaction)
    }
}

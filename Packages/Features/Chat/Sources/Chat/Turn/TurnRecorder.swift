import Capabilities
import ChatHistory
import ChatProviders
import Registry
import Settings
import TurnLoop

/// Stores a turn while it runs, and reports it to the user and to programs.
///
/// The question is sent without waiting for the disk. Only the answer waits until the question is stored. A storage
/// failure does not stop the answer; it is reported once at the end.
actor TurnRecorder {
    private let services: ChatServices
    private let history: History
    private let plan: TurnPlan
    private let context: ActionContext
    /// Reports what happens to the screens of the conversation, if it is stored.
    private var live: LiveTurn?
    /// Stores the question and emits the first event. It is awaited before any event is received, and at the end.
    private var opening: Task<Void, any Error>?
    /// Nil if nothing is stored.
    private var place: TurnPlan.Place?
    private(set) var conversation: ConversationID?
    /// The newest message of the turn; at its end the answer.
    private(set) var head: MessageID?
    private var draft: Draft?
    /// Whether the model was asked and the draft of its answer has not started.
    private var isAsked = false
    private var calls: [String: CallID] = [:]
    /// The state of an incomplete answer.
    private var ending = Entry.State.stopped
    private(set) var failure: (any Error)?
    private(set) var start = ChatStart()
    private(set) var rules: [ApprovalRule]
    private let summariser: Summariser?
    /// The usage of summaries, which is not part of the usage of any answer.
    private(set) var summaries = Usage()
    private var paragraphs = Paragraphs()
    private var tools = ToolLines()
    /// The number of words of reasoning since the last text.
    private var thoughts = 0
    private var hasToldOfSecrets = false
    /// Whether the user was told that this turn is not on the newest branch.
    private var isBranch = false

    init(services: ChatServices, plan: TurnPlan, context: ActionContext, summariser: Summariser? = nil) {
        self.summariser = summariser
        self.services = services
        history = services.history
        self.plan = plan
        self.context = context
        rules = plan.rules
    }

    /// Starts to store the question.
    func begin(_ sources: [any ToolSource]) {
        opening = Task { try await open(sources) }
    }

    /// Returns when the question is stored. Throws if the reader is gone.
    func begun() async throws {
        try await opening?.value
    }

    private func open(_ sources: [any ToolSource]) async throws {
        if let found = await plan.opening?() {
            (place, head, conversation) = (found, found.after, found.conversation.id)
            tellOfSecrets(plan.message)
            live = LiveTurn(
                in: services.live.conversation(found.conversation.id), without: services.storedWithout)
            await keeping {
                let question = try await history.append(
                    plan.message, to: found.conversation.id, after: found.after, as: found.placement)
                head = question.id
                tellBranch(question)
            }
            // An answer without its question would be useless.
            if failure != nil { (place, live) = (nil, nil) }
            live?.stored()
        }
        try await context.emit(ChatEvents.start.event((plan.choice, sources.map { $0.name }, conversation)))
    }

    func receive(_ events: [TurnEvent]) async throws {
        // The question itself must not wait.
        if !events.allSatisfy(\.isAhead) { try await begun() }
        for event in events { try await receive(event) }
    }

    /// The draft of the current answer, if it is stored.
    private var answer: Draft? {
        if isAsked, let place {
            isAsked = false
            let draft = history.begin(
                in: place.conversation.id, after: head, provider: plan.choice.provider.id, model: plan.choice.model
            ) { [weak live] in
                live?.stored()
            }
            self.draft = draft
            live?.begin(draft)
        }
        return draft
    }

    private func receive(_ event: TurnEvent) async throws {
        switch event {
        case .round(let number):
            isAsked = true
            if number > 1 { paragraphs.beginRound() }
        case .chat(let event):
            answer?.append([event])
            live?.grow()
            try await tell(event)
        case .call(let update): try await note(update)
        case .output(let call, let text):
            live?.add(text, toOutputOf: call)
            try await context.emit(ChatEvents.output.event((call, text)))
        case .message(let message): await store(message)
        case .context(let notice): context.notice(notice.text)
        case .notice(let text): context.notice(text)
        case .remember(let rule): await remember(rule)
        }
    }

    // MARK: Telling

    private func tell(_ event: ChatEvent) async throws {
        switch event {
        case .began(let start):
            self.start = start
        case .text(let text): try await say(text, as: ChatEvents.text)
        case .refusal(let text): try await say(text, as: ChatEvents.refusal)
        case .reasoning(let text):
            try await context.emit(ChatEvents.reasoning.event(text))
            thoughts += text.count(where: \.isWhitespace)
            // Programs get the reasoning itself.
            if context.isWatched {
                context.progress("\(plan.answerer) is thinking, \(TurnReport.count(thoughts)) words so far")
            }
        case .calling(_, let name): context.progress("the model is preparing a call of \(PlainText.escape(name))")
        case .call(let call) where call.isDone:
            try await context.emit(ChatEvents.call.event(call))
            paragraphs.beginBlock()
            tools.begin(call)
            context.progress("running \(call.headline)")
        case .result(let result):
            try await context.emit(ChatEvents.result.event((result, nil)))
            paragraphs.beginBlock()
            if let line = tools.end(result) { context.notice(line) }
        case .notice(let text): context.notice(text)
        case .call, .malformedCall, .usage, .thought: break
        }
    }

    private func say(_ text: String, as kind: EventKind<String>) async throws {
        settleTools()
        thoughts = 0
        try await context.emit(kind.event(text, text: paragraphs.take(text)))
    }

    /// The following text comes after these calls.
    private func settleTools(isStopped: Bool = false) {
        for line in tools.settle(isStopped: isStopped) { context.notice(line) }
    }

    /// Ends the current line before something is added on the terminal or by an error.
    func endLine(isStopped: Bool = false) async {
        settleTools(isStopped: isStopped)
        guard paragraphs.isInLine else { return }
        _ = paragraphs.take("\n")
        // A reader that is gone needs no line end.
        do { try await context.emit(ChatEvents.text.event("", text: "\n", format: .plain)) } catch {}
    }

    private func tellOfSecrets(_ message: Message) {
        guard !hasToldOfSecrets, history.kept(message) != message else { return }
        hasToldOfSecrets = true
        context.notice(
            "a secret in this conversation is not stored; later turns see ‹redacted› in its place "
                + "(chat.keep-secrets stores secrets)")
    }

    private func tellBranch(_ entry: Entry) {
        guard entry.isBranch, !isBranch else { return }
        isBranch = true
        context.notice(
            "another message was added to this conversation in the meantime, so this turn starts a branch, which "
                + "'chat show' and --continue do not follow")
    }

    private func note(_ update: CallUpdate) async throws {
        let call = update.call
        switch update.state {
        case .running:
            try await context.emit(ChatEvents.call.event(call))
            context.progress("running \(call.headline)")
        case .done where update.call.isDone, .failed where update.call.isDone:
            // Results of server-side calls were passed on when they arrived. Whole answers deliver them only now.
            if !tools.hasTold(call) {
                tools.begin(call)
                if let line = update.result.flatMap({ tools.end($0) }) { context.notice(line) }
                settleTools()
            }
        case .done, .failed, .denied:
            let result = update.result ?? ToolResult(call: update.call.id, content: "", isError: true)
            try await context.emit(ChatEvents.result.event((result, update.state)))
            context.notice(ToolLines.line(call, result, isDenied: update.state == .denied))
            // A change that was asked about was already shown, and programs read the result.
            if context.isWatched, update.state == .done, update.decision?.by != .person, let diff = update.shownDiff {
                context.notice(diff)
            }
        case .waiting, .approved: break
        }
        guard let place else { return }
        var entry = CallEntry(
            update.call, CallEntry.State(rawValue: update.state.rawValue) ?? .failed, source: update.source,
            effect: update.effect, decision: update.decision.map { $0.isAllowed ? "allowed" : "denied" },
            result: update.result, started: update.started, ended: update.ended)
        entry.id = calls[update.call.id]
        await keeping { calls[update.call.id] = try await history.note(entry, in: place.conversation.id).id }
        if entry.state.isEnded { live?.end(call: update.call.id) } else { live?.stored() }
    }

    // MARK: Storing

    /// Marks the arrived part of an incomplete answer with this error.
    func broke(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let failure = AnyFailure(error)
        ending = .failed(code: failure.code, message: failure.message)
    }

    private func store(_ turn: TurnMessage) async {
        var turn = turn
        if turn.message.role == .assistant, let more = summariser?.takeUsage(), more != Usage() {
            summaries = summaries + more
            turn.usage = (turn.usage ?? Usage()) + more
        }
        guard let place else { return }
        tellOfSecrets(turn.message)
        if turn.message.role == .assistant, let draft = answer {
            self.draft = nil
            let state = turn.isWhole ? (turn.finish == .length ? .truncated : .complete) : ending
            await keeping {
                let entry = try await draft.end(
                    turn.message, state, start: turn.start, finish: turn.finish, usage: turn.usage)
                head = entry.id
                tellBranch(entry)
            }
            live?.endAnswer()
        } else {
            await keeping {
                head = try await history.append(
                    turn.message, to: place.conversation.id, after: head, as: .next
                ).id
            }
            live?.stored()
        }
    }

    /// Ends what is still open, with the reason.
    func end(_ outcome: TurnOutcome) async {
        // The reader gets this error elsewhere.
        do { try await begun() } catch {}
        defer {
            live?.end()
            live = nil
        }
        guard let draft = answer else { return }
        self.draft = nil
        await keeping {
            switch outcome.end {
            case .failed(let failure): try await draft.fail(failure)
            case .stopped, .answered, .roundLimit: try await draft.stop()
            }
        }
    }

    private func keeping(_ work: () async throws -> Void) async {
        do { try await work() } catch {
            if failure == nil { failure = error }
        }
    }

    private func remember(_ rule: ApprovalRule) async {
        rules.append(rule)
        await keeping {
            // The turn may be stopped.
            try await shielded { [history, context, place] in
                try await RememberedRules(history: history, context: context).remember(
                    rule, of: place?.conversation.id)
            }
        }
    }
}

extension TurnEvent {
    /// Whether the event may arrive before the question is stored.
    fileprivate var isAhead: Bool {
        switch self {
        case .round, .context, .notice: true
        default: false
        }
    }
}

import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry
import Settings
import TurnLoop

/// One conversation that is being had: what was said so far, and how the next thing is said.
actor Chatting {
    private let services: ChatServices
    private let context: ActionContext
    var wish: ChatWish
    private(set) var conversation: Conversation?
    /// What was said when nothing is stored.
    private var unsaved: [Message] = []
    private var choice: ModelChoice?
    private var options: ChatOptions?
    private var extras: [String: String] = [:]
    private var rules: [ApprovalRule]
    /// Whether what was decided in earlier commands is among the rules.
    private var hasStoredRules = false
    private var cut: ContextCut?
    private var isFound = false

    /// - Parameter rules: what was decided since the command began.
    init(services: ChatServices, context: ActionContext, wish: ChatWish, rules: [ApprovalRule] = []) {
        self.rules = rules
        self.services = services
        self.context = context
        self.wish = wish
    }

    /// Says something and returns when the answer is there.
    func say(_ text: String) async throws -> TurnReport {
        var parts: [Message.Part] = text.isEmpty ? [] : [.text(text)]
        parts += wish.attachments
        wish.attachments = []
        return try await turn(Message(.user, parts))
    }

    /// Says the last thing again, in the place of what came of it, which stays as a branch; nil when nothing was said.
    func sayAgain() async throws -> TurnReport? {
        try await find()
        if wish.isSaved, let id = conversation?.id {
            let entries = try await services.history.entries(of: id)
            guard let last = entries.lastIndex(where: { $0.message.role == .user }) else { return nil }
            return try await turn(entries[last].message, after: Array(entries[..<last]))
        }
        guard let last = unsaved.lastIndex(where: { $0.role == .user }) else { return nil }
        let message = unsaved[last]
        unsaved.removeSubrange(last...)
        return try await turn(message)
    }

    /// - Parameter entries: where it goes, when that is not the end.
    private func turn(_ message: Message, after entries: [Entry]? = nil) async throws -> TurnReport {
        try await find()
        let choice = try await chosen()
        let options = try await chosenOptions(choice)
        var plan = TurnPlan(choice: choice, options: options, system: system, message: message)
        plan.schema = wish.schema
        plan.streams = wish.streams && services.settings[ChatSettings.streams]
        plan.extras = try await place(at: choice)
        if options.usesTools, !hasStoredRules {
            rules += await RememberedRules(history: services.history, context: context).rules(of: conversation)
            hasStoredRules = true
        }
        plan.rules = rules
        // What a branch leads through need not be what was left out.
        plan.cut = entries == nil ? cut : nil
        if wish.isSaved, let conversation {
            let place = TurnPlan.Place(
                conversation: conversation, after: entries == nil ? conversation.head : entries?.last?.id,
                placement: entries == nil ? .next : .branch)
            plan.opening = { place }
            if let entries {
                plan.before = entries.compactMap(\.sent)
            } else {
                plan.before = try await storedBefore()
            }
        } else {
            plan.before = try await storedBefore() + unsaved
            if wish.isSaved {
                plan.opening = {
                    await self.created(choice, options).map { TurnPlan.Place(conversation: $0, after: $0.head) }
                }
            }
        }
        let report = try await ChatTurn(services: services, context: context, plan: plan).run()
        rules = report.rules
        await keep(report.outcome.cut, of: report.conversation)
        unsaved += [plan.message] + report.outcome.messages.map(\.message)
        if let id = conversation?.id {
            // In a task of its own, since this one was cancelled when the answer was stopped, and the next message has to
            // follow what is stored.
            conversation = try await Task { [history = services.history] in try await history.conversation(id) }.value
        }
        if let session = report.start.session { extras["session_id"] = session }
        if let project = report.start.project { extras["project_id"] = project }
        return report
    }

    /// Where a gateway goes on: in the project that was named, and in the session of the last answer, which may have been
    /// given to an earlier command. Nobody else would know what to do with that.
    private func place(at choice: ModelChoice) async throws -> [String: String] {
        guard choice.provider.runsTools else { return [:] }
        if extras.isEmpty, let conversation {
            let entries = try await services.history.entries(of: conversation.id)
            if let last = entries.last(where: { $0.start?.session != nil }), last.provider == choice.provider.id {
                extras["session_id"] = last.start?.session
                extras["project_id"] = last.start?.project
            }
        }
        // A session stays in its project.
        if let project = wish.project, extras["project_id"] != project { extras = ["project_id": project] }
        return extras
    }

    /// What was decided for longer than this conversation.
    var lastingRules: [ApprovalRule] { rules.filter { $0.scope == .always || $0.scope == .project } }

    /// Keeps what was left out, so that the same is left out next time.
    private func keep(_ new: ContextCut?, of id: ConversationID?) async {
        guard new != cut else { return }
        cut = new
        guard let id else { return }
        do {
            // In a task of its own, as the turn may have been stopped.
            try await Task { [history = services.history] in
                try await history.set(cut: new?.json, of: id)
            }.value
        } catch {
            // It is found out again next time.
        }
    }

    /// What was said before, as a model may be given it.
    private func storedBefore() async throws -> [Message] {
        guard let conversation else { return [] }
        return try await services.history.entries(of: conversation.id).compactMap(\.sent)
    }

    /// The conversation that was asked for, where one was.
    func find() async throws {
        guard !isFound else { return }
        isFound = true
        if let prefix = wish.conversation {
            conversation = try await services.history.find(prefix)
        } else if wish.goesOn {
            conversation = try await services.history.list(limit: 1).items.first
            if conversation == nil { context.notice("there is no conversation to go on with, so a new one begins") }
        }
        if let id = conversation?.id {
            cut = try await services.history.cut(of: id).flatMap(ContextCut.init(json:))
        }
    }

    /// Who answers: what was named, else who answered before, else what the settings and this machine offer.
    func chosen() async throws -> ModelChoice {
        if let choice { return choice }
        var name = wish.model
        if name == nil, let setup = conversation?.setup, let provider = setup.provider {
            // Without a name the server has a choice of its own.
            name = setup.model.flatMap { $0.isEmpty ? nil : "\(provider)/\($0)" } ?? provider
        }
        let found = try await services.directory(context).choice(of: name)
        choice = found
        if let advice = found.advice {
            let name = PlainText.escape("\(found.provider.name), \(found.model)")
            context.notice("\(name) answers, as there is nobody else to ask; to have another, \(advice)")
        }
        if wish.isSaved, let id = conversation?.id, wish.model != nil {
            // It holds for what is said from now on; what was said keeps its model.
            conversation = try await services.history.switchModel(
                id, provider: found.provider.id, model: found.model)
        }
        return found
    }

    /// Another model for what is said from now on.
    func use(_ model: String) async throws -> ModelChoice {
        let before = (wish.model, choice)
        wish.model = model
        choice = nil
        do { return try await chosen() } catch {
            // Whoever answered so far goes on to.
            (wish.model, choice) = before
            throw error
        }
    }

    /// Lets the model use tools from now on, or no longer; gives which.
    func toggleTools() async throws -> Bool {
        let usesTools = try await !chosenOptions(chosen()).usesTools
        wish.usesTools = usesTools
        return usesTools
    }

    private var system: String {
        if let conversation { return conversation.setup.system ?? "" }
        return wish.system ?? services.settings[ChatSettings.system]
    }

    private func chosenOptions(_ choice: ModelChoice) async throws -> ChatOptions {
        var options =
            self.options ?? conversation.map { ChatOptions(json: $0.setup.options) }
            ?? ChatOptions(services.settings, isPlatform: choice.isPlatform)
        if let usesTools = wish.usesTools { options.usesTools = usesTools }
        if let temperature = wish.temperature { options.model.temperature = temperature }
        if let maxTokens = wish.maxTokens { options.model.maxTokens = maxTokens }
        if let effort = wish.effort { options.model.effort = effort }
        if let seed = wish.seed { options.model.seed = seed }
        self.options = options
        return options
    }

    /// A new one to write it down in; nil, after saying why, where that cannot be, which keeps nobody from an answer.
    private func created(_ choice: ModelChoice, _ options: ChatOptions) async -> Conversation? {
        do {
            conversation = try await services.history.create(
                ConversationSetup(
                    provider: choice.provider.id, model: choice.model,
                    server: services.settings.servers.first { $0.profile == choice.provider.id }?.profile,
                    system: system, options: options.json))
        } catch {
            context.notice("This is not stored: \(AnyFailure(error).message)")
        }
        return conversation
    }
}

import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry
import TurnLoop

/// A running conversation: the messages so far, and the options of the next message.
actor ChatSession {
    private var services: ChatServices
    private var context: ActionContext
    var sendOptions: SendOptions
    private(set) var conversation: Conversation?
    /// The messages of a conversation that is not saved.
    private var unsaved: [Message] = []
    private var choice: ModelChoice?
    private var options: ChatOptions?
    private var extras: [String: String] = [:]
    private var rules: [ApprovalRule]
    /// Whether the rules of earlier commands were loaded.
    private var hasStoredRules = false
    private var cut: ContextCut?
    private var isFound = false

    /// - Parameter rules: the rules since the command started.
    init(services: ChatServices, context: ActionContext, sendOptions: SendOptions, rules: [ApprovalRule] = []) {
        self.rules = rules
        self.services = services
        self.context = context
        self.sendOptions = sendOptions
    }

    /// Uses these services and this context from now on, because the settings may have changed since the last line. A
    /// started conversation keeps its model, system prompt and options. A new one uses the settings.
    func use(_ services: ChatServices, _ context: ActionContext) {
        self.context = context
        guard self.services !== services else { return }
        if conversation == nil {
            if let choice, !unsaved.isEmpty {
                (sendOptions.model, sendOptions.system) = (choice.name, system(for: choice))
            } else {
                options = nil
            }
        }
        self.services = services
        choice = nil
    }

    /// Sends a message and returns when the answer is complete.
    func say(_ text: String) async throws -> TurnReport {
        var parts: [Message.Part] = text.isEmpty ? [] : [.text(text)]
        parts += sendOptions.attachments
        sendOptions.attachments = []
        return try await turn(Message(.user, parts))
    }

    /// Sends the last message again. Its old answer stays as a branch. Returns nil if there is no message.
    func sayAgain() async throws -> TurnReport? {
        try await find()
        if sendOptions.isSaved, let id = conversation?.id {
            let entries = try await services.history.entries(of: id)
            guard let last = entries.lastIndex(where: { $0.message.role == .user }) else { return nil }
            return try await turn(entries[last].message, after: Array(entries[..<last]))
        }
        guard let last = unsaved.lastIndex(where: { $0.role == .user }) else { return nil }
        let message = unsaved[last]
        unsaved.removeSubrange(last...)
        return try await turn(message)
    }

    /// - Parameter entries: the messages to follow, unless it is the end of the conversation.
    private func turn(_ message: Message, after entries: [Entry]? = nil) async throws -> TurnReport {
        try await find()
        let choice = try await chosen()
        try await agreeOnServer(choice)
        let options = try await chosenOptions(choice)
        let system = system(for: choice)
        var request = ChatRequest(
            model: choice.model, messages: system.isEmpty ? [] : [Message(.system, system)], options: options.model,
            schema: sendOptions.schema, streams: sendOptions.streams && services.settings.streams)
        request.mode = options.mode
        for (name, value) in try await place(at: choice) { request.extras[name] = .string(value) }
        var plan = TurnPlan(choice: choice, request: request, message: message, summarises: options.summarises)
        if options.mode != nil, !hasStoredRules {
            rules += await RememberedRules(history: services.history, context: context).rules(of: conversation)
            hasStoredRules = true
        }
        plan.rules = rules
        plan.conversation = conversation?.id
        // A branch may contain messages that the cut left out.
        plan.cut = entries == nil ? cut : nil
        if sendOptions.isSaved, let conversation {
            let place = TurnPlan.Place(
                conversation: conversation, after: entries == nil ? conversation.head : entries?.last?.id,
                placement: entries == nil ? .next : .branch)
            plan.opening = { place }
            if let entries {
                plan.request.messages += entries.compactMap(\.sent)
            } else {
                plan.request.messages += try await storedBefore()
            }
        } else {
            plan.request.messages += try await storedBefore() + unsaved
            if sendOptions.isSaved {
                plan.opening = {
                    await self.created(choice, options, system).map { TurnPlan.Place(conversation: $0, after: $0.head) }
                }
            }
        }
        plan.request.messages = HistoryRepair.repaired((plan.request.messages + [message]).withCommandsAsText)
        plan.request.isKept = plan.opening != nil
        let report = try await ChatTurn(services: services, context: context, plan: plan).run()
        rules = report.rules
        await keep(report.outcome.cut, of: report.conversation)
        unsaved += [message] + report.outcome.messages.map(\.message)
        if let id = conversation?.id {
            // The task is cancelled when the answer was stopped, and the next message must follow the stored ones.
            conversation = try await shielded { [history = services.history] in try await history.conversation(id) }
            try await keepDeployment(of: choice)
        }
        if let session = report.start.session { extras["session_id"] = session }
        if let project = report.start.project { extras["project_id"] = project }
        return report
    }

    /// Where a gateway continues: in the named project, and in the session of the last answer, which may be of an
    /// earlier command. Only gateways understand these members.
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
        guard let named = sendOptions.project, extras["project_id"] != named else { return extras }
        let project = try await (choice.provider as? any AgentProvider)?.project(named: named) ?? named
        sendOptions.project = project
        if extras["project_id"] != project { extras = ["project_id": project] }
        return extras
    }

    /// The rules that outlast this conversation.
    var lastingRules: [ApprovalRule] { rules.filter { $0.scope == .always || $0.scope == .project } }

    /// Stores what was left out, so that the next request leaves out the same.
    private func keep(_ new: ContextCut?, of id: ConversationID?) async {
        guard new != cut else { return }
        cut = new
        guard let id else { return }
        do {
            // The turn may have been stopped.
            try await shielded { [history = services.history] in try await history.set(cut: new?.json, of: id) }
        } catch {
            // The next request determines it again.
        }
    }

    /// The earlier messages, as they may be sent to a model.
    private func storedBefore() async throws -> [Message] {
        guard let conversation else { return [] }
        return try await services.history.entries(of: conversation.id).compactMap(\.sent)
    }

    /// Finds the requested conversation, if there is one.
    func find() async throws {
        guard !isFound else { return }
        isFound = true
        if let id = sendOptions.begun {
            conversation = try await services.history.existing(id)
            if conversation?.deleted != nil { throw HistoryError.deleted(id) }
        } else if let prefix = sendOptions.conversation {
            conversation = try await services.history.find(prefix)
        } else if sendOptions.goesOn {
            conversation = try await services.history.newest()
            if conversation == nil { context.notice("there is no conversation to continue, so a new one starts") }
        }
        if conversation != nil, sendOptions.system != nil {
            context.notice("an existing conversation keeps its system prompt, so --system is ignored")
        }
        if let id = conversation?.id {
            cut = try await services.history.cut(of: id).flatMap(ContextCut.init(json:))
        }
    }

    /// The model: the named one, else the earlier one, else what the settings and this machine offer.
    func chosen() async throws -> ModelChoice {
        if let choice { return choice }
        var name = sendOptions.model
        let directory = try services.directory()
        if name == nil, let setup = conversation?.setup, let provider = setup.provider {
            guard directory.isKnown(provider) else { throw ChatError.gone(provider, setup.server) }
            // Without a name the server chooses the model.
            name = setup.model.flatMap { $0.isEmpty ? nil : "\(provider)/\($0)" } ?? provider
        }
        let found = try await directory.choice(of: name, agreeing: { try await self.agree($0) })
        choice = found
        if let advice = found.advice {
            let name = PlainText.escape("\(found.model) (\(found.provider.name))")
            context.notice("\(name) answers, because no other model is available; to use another one, \(advice)")
        }
        if sendOptions.isSaved, let id = conversation?.id, sendOptions.model != nil {
            // This applies to the next messages. Earlier ones keep their model.
            conversation = try await services.history.switchModel(
                id, provider: found.provider.id, model: found.model,
                // The user is asked first about a changed address.
                server: conversation?.setup.provider == found.provider.id
                    ? conversation?.setup.server : directory.address(of: found.provider.id))
        }
        return found
    }

    /// Asks whether to use a server that was only found on this machine. A yes is stored in the settings.
    private func agree(_ server: LocalServer) async throws -> Bool {
        guard context.interaction.canAsk else { throw ChatError.notAgreed(server) }
        let isAgreed = try await context.interaction.confirm(
            "chat.local-server",
            "\(server.name) seems to run on port \(server.port) of this machine. Send it your messages, now and in the future?"
        )
        guard isAgreed else { return false }
        let agreed = services.settings.localServers + [server.id]
        do {
            try await context.registry.one((any SettingsWriter).self).change([
                (["chat", "local-servers"], .array(agreed.map { .string($0) }))
            ])
        } catch {
            context.notice("this could not be saved, so you will be asked again: \(AnyFailure(error).message)")
        }
        return true
    }

    /// A conversation is sent to another address only with the user's approval, whatever the names are.
    private func agreeOnServer(_ choice: ModelChoice) async throws {
        guard let conversation, let before = conversation.setup.server, before.contains("://"),
            conversation.setup.provider == choice.provider.id
        else { return }
        let address = try services.directory().address(of: choice.provider.id)
        guard let address, address != before else { return }
        let name = PlainText.escape(choice.provider.name)
        guard
            try await context.interaction.confirm(
                "chat.other-server",
                "This conversation used \(PlainText.escape(before)), but \(name) is now at \(PlainText.escape(address)). "
                    + "Send all of it there?")
        else { throw InteractionError.declined(id: "chat.other-server") }
        guard sendOptions.isSaved else { return }
        self.conversation = try await services.history.switchModel(
            conversation.id, provider: choice.provider.id, model: choice.model, server: address)
    }

    /// Only now it is known which deployment of a platform has answered.
    private func keepDeployment(of choice: ModelChoice) async throws {
        guard sendOptions.isSaved, let conversation, let deployment = try services.directory().deployment(of: choice),
            deployment != conversation.setup.deployment
        else { return }
        let setup = conversation.setup
        // The turn may have been stopped.
        self.conversation = try await shielded { [history = services.history] in
            try await history.switchModel(
                conversation.id, provider: setup.provider, model: setup.model, server: setup.server,
                deployment: deployment)
        }
    }

    /// Switches to another model for the next messages.
    func use(_ model: String) async throws -> ModelChoice {
        let before = (sendOptions.model, choice)
        sendOptions.model = model
        choice = nil
        do { return try await chosen() } catch {
            // The earlier model stays in use.
            (sendOptions.model, choice) = before
            throw error
        }
    }

    /// The tool mode; nil without tools.
    func mode() async throws -> ToolMode? { try await chosenOptions(chosen()).mode }

    /// The name of the provider, if it uses its own tools and rules, which our modes do not change.
    func ownRuler() async throws -> String? {
        let provider = try await chosen().provider
        return provider.runsTools && !provider.obeysMode ? PlainText.escape(provider.name) : nil
    }

    /// Sets the mode from now on.
    func use(mode: ToolMode?) async throws -> ToolMode? {
        try ToolFolder(context).check(mode)
        sendOptions.mode = .some(mode)
        options?.mode = mode
        try await keepMode()
        return mode
    }

    /// Stores the chosen mode with the conversation, so that it applies when the conversation continues later.
    private func keepMode() async throws {
        guard sendOptions.isSaved, let mode = sendOptions.mode, let conversation else { return }
        let folder = ToolFolder.known(context)
        let stored = conversation.setup.options
        guard ChatOptions.changed(stored, to: mode, in: folder) != stored else { return }
        self.conversation = try await services.history.changeOptions(of: conversation.id) { stored in
            ChatOptions.changed(stored, to: mode, in: folder)
        }
    }

    /// The system prompt. An agent has its own, which our default would replace, with what it says about its tools.
    private func system(for choice: ModelChoice) -> String {
        let system =
            conversation.map { $0.setup.system ?? "" } ?? sendOptions.system ?? services.settings.system
        return choice.provider.runsTools && system == ChatSettings.usualSystem ? "" : system
    }

    private func chosenOptions(_ choice: ModelChoice) async throws -> ChatOptions {
        var options: ChatOptions
        if let known = self.options {
            options = known
        } else if let conversation {
            options = try await stored(ChatOptions(json: conversation.setup.options))
        } else {
            options = ChatOptions(services.settings, isPlatform: choice.isPlatform)
            if sendOptions.mode == nil { options.mode = try await usualMode(or: options.mode) }
        }
        if let mode = sendOptions.mode { options.mode = mode }
        try ToolFolder(context).check(options.mode)
        try await keepMode()
        options.model.replace(with: sendOptions.parameters)
        options.toolFolder = ToolFolder.known(context)
        self.options = options
        return options
    }

    /// The stored options of the conversation. Its tools were chosen for another folder if the current one differs.
    private func stored(_ options: ChatOptions) async throws -> ChatOptions {
        guard let chosen = options.mode, options.toolFolder?.isSame(as: ToolFolder.known(context)) != true else {
            return options
        }
        var options = options
        options.mode = services.settings.tools ? .readOnly : nil
        guard sendOptions.mode == nil else { return options }
        options.mode = try await usualMode(or: options.mode)
        if options.mode != chosen {
            context.notice(
                "the tools of this conversation were chosen for another folder; --mode \(chosen.rawValue) allows them here"
            )
        }
        return options
    }

    /// The mode of the settings for this folder. A new folder is asked about once.
    private func usualMode(or other: ToolMode?) async throws -> ToolMode? {
        guard let mode = services.settings.mode else { return other }
        let agreed = AgreedMode(services: services, context: context)
        try agreed.folder.check(mode)
        return try await agreed.mode(upTo: mode)
    }

    /// Creates a conversation to store the turn. Returns nil with a notice if that fails, because the answer is still
    /// wanted.
    private func created(_ choice: ModelChoice, _ options: ChatOptions, _ system: String) async -> Conversation? {
        do { return try await create(choice, options, system) } catch {
            context.notice("This conversation is not stored: \(AnyFailure(error).message)")
            return conversation
        }
    }

    private func create(
        _ choice: ModelChoice, _ options: ChatOptions, _ system: String
    ) async throws -> Conversation {
        let created = try await services.history.create(
            ConversationSetup(
                provider: choice.provider.id, model: choice.model,
                server: try services.directory().address(of: choice.provider.id), system: system,
                options: options.json), as: sendOptions.begun)
        conversation = created
        return created
    }

    /// Reads the conversation again after another action has added to it, so that the next message follows that.
    func refresh() async throws {
        guard let id = conversation?.id else { return }
        conversation = try await services.history.conversation(id)
    }

    /// The conversation. One that has not begun begins as it would with a message.
    func opened() async throws -> Conversation {
        try await find()
        if let conversation { return conversation }
        let choice = try await chosen()
        return try await create(choice, try await chosenOptions(choice), system(for: choice))
    }
}

extension ModelChoice {
    /// The provider and the model; only the provider if the server chooses the model.
    var words: String {
        PlainText.escape(model.isEmpty ? provider.name : "\(provider.name), \(model)")
    }

    /// What suggests that the name of the model is wrong; nil for nothing. It is only a notice, because lists may be
    /// incomplete.
    func doubt() async throws -> String? {
        guard description == nil, !model.isEmpty else { return nil }
        do {
            let models = try await provider.models().map(\.id)
            guard !models.isEmpty, !models.contains(model) else { return nil }
            return "\(PlainText.escape(provider.name)) does not list this model"
                + Suggestion.text(for: model, among: models)
        } catch let error where !(error is CancellationError) {
            // Without a list, nothing can be said about the name.
            return nil
        }
    }
}

extension ChatError {
    /// The server of a conversation is no longer set up.
    fileprivate static func gone(_ provider: String, _ address: String?) -> ChatError {
        let place = address.map { " (\(PlainText.escape($0)))" } ?? ""
        return ChatError(
            .unknownProvider,
            "this conversation used “\(PlainText.escape(provider))”\(place), which is no longer set up",
            remedy: "choose another model with --model, which will be sent the whole conversation", provider: provider)
    }
}

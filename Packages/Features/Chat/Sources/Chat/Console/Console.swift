import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry

/// A conversation on a terminal: what is typed is said, and lines that begin with a slash are commands.
struct Console: Sendable {
    let services: ChatServices
    let context: ActionContext
    let wish: ChatWish

    /// Talks until the person has had enough; gives the last turn.
    func run() async throws -> TurnReport? {
        var chatting = Chatting(services: services, context: context, wish: wish)
        try await chatting.find()
        let choice = try await chatting.chosen()
        context.notice(
            "\(PlainText.escape(choice.provider.name)), \(PlainText.escape(choice.model)). /help shows the commands, "
                + "Ctrl-D ends.")
        var said: [String] = []
        var last: TurnReport?
        while let line = try await context.interaction.composition(
            "chat.message", "›", history: said, completions: ConsoleCommand.names)
        {
            guard !line.isEmpty else { continue }
            said.append(line)
            do {
                if line.hasPrefix("/") {
                    let command = try ConsoleCommand(line)
                    if case .quit = command { break }
                    if let report = try await perform(command, &chatting) { last = report }
                } else {
                    last = try await say(line, chatting)
                }
            } catch is CancellationError where !Task.isCancelled {
                // Only the answer was stopped.
            } catch let error where !(error is CancellationError) {
                // A turn that failed is no reason to end the conversation.
                context.notice(AnyFailure(error).message)
            }
        }
        return last
    }

    /// Says it, until the person stops the answer with Ctrl-C, which ends nothing else.
    private func say(_ text: String, _ chatting: Chatting) async throws -> TurnReport {
        let report = try await context.interruptible { try await chatting.say(text) }
        let shown = try await shown(report)
        // The model has gone in the midst of the conversation: another one may answer in its place.
        guard report.failure?.code == ChatError.Kind.modelGone.description,
            try await pick(chatting, "Which model shall answer instead?")
        else { return shown }
        let again = try await context.interruptible { try await chatting.sayAgain() }
        guard let again else { return shown }
        return try await self.shown(again)
    }

    /// Lets the person choose among the models of who answers. False when there is nothing to choose.
    private func pick(_ chatting: Chatting, _ prompt: String) async throws -> Bool {
        let choice = try await chatting.chosen()
        let models = try await choice.provider.models().map(\.id)
        let others = models.filter { $0 != choice.model }
        guard !others.isEmpty, context.interaction.canAsk else { return false }
        let names = others.prefix(20).map { PlainText.escape($0) }
        let index = try await context.interaction.choice("chat.model", prompt, among: names + ["None of them"])
        guard index < names.count else { return false }
        try await switchModel(to: "\(choice.provider.id)/\(others[index])", chatting)
        return true
    }

    private func switchModel(to name: String, _ chatting: Chatting) async throws {
        let choice = try await chatting.use(name)
        context.notice("\(PlainText.escape("\(choice.provider.name), \(choice.model)")) answers from now on")
    }

    private func shown(_ report: TurnReport) async throws -> TurnReport {
        if let failure = report.failure {
            context.notice(failure.message)
            try await context.emit(failure.event)
        }
        try await context.emit(ActionEvent("turn", report.json.object ?? [:], text: "\n"))
        return report
    }

    /// Another conversation after this one, in which what was allowed for longer holds too.
    private func following(_ chatting: Chatting, _ wish: ChatWish) async -> Chatting {
        Chatting(services: services, context: context, wish: wish, rules: await chatting.lastingRules)
    }

    /// Gives the turn, for a command that is one.
    private func perform(_ command: ConsoleCommand, _ chatting: inout Chatting) async throws -> TurnReport? {
        switch command {
        case .quit: break
        case .help: context.notice(ConsoleCommand.overview)
        case .new:
            var fresh = wish
            (fresh.conversation, fresh.goesOn) = (nil, false)
            chatting = await following(chatting, fresh)
            context.notice("a new conversation begins")
        case .resume(let prefix):
            var other = wish
            (other.conversation, other.goesOn) = (prefix, prefix == nil)
            let resumed = await following(chatting, other)
            try await resumed.find()
            chatting = resumed
            if let title = await resumed.conversation?.title { context.notice("goes on with \(title)") }
        case .model(let name):
            if let name {
                try await switchModel(to: name, chatting)
            } else {
                context.notice(PlainText.escape(try await chatting.chosen().model))
                _ = try await pick(chatting, "Which model shall answer from now on?")
            }
        case .tools:
            context.notice(try await chatting.toggleTools() ? "the model may use tools" : "no tools")
        case .system(let text):
            var fresh = wish
            (fresh.system, fresh.conversation, fresh.goesOn) = (text, nil, false)
            chatting = await following(chatting, fresh)
            context.notice("a new conversation begins with this")
        case .attach(let path):
            let part = try Attachments.file(path, context.host)
            await chatting.change { $0.attachments.append(part) }
            context.notice("\(PlainText.escape(path)) goes with your next message")
        case .retry:
            if let report = try await chatting.sayAgain() { return try await shown(report) }
            context.notice("nothing was said yet")
        case .save:
            if let id = await chatting.conversation?.id {
                context.notice("it is kept as \(id.tag)")
            } else {
                context.notice("nothing is kept yet")
            }
        case .stop: context.notice("Ctrl-C stops an answer while it comes")
        case .clear: try await context.emit(ActionEvent("clear", text: String(repeating: "\n", count: 40)))
        }
        return nil
    }
}

extension Chatting {
    func change(_ body: (inout ChatWish) -> Void) {
        body(&wish)
    }
}

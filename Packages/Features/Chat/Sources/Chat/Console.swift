import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry
import TurnLoop

/// A conversation on a terminal: what is typed is said, and lines that begin with a slash are commands.
///
/// Each line is a `chat.send` of its own, so that it goes by the settings of the moment; what was said, decided and
/// chosen before stays here.
actor Console {
    /// The conversation to which a `chat.send` belongs, where that is one line of it.
    @TaskLocal static var open: Console?

    /// Where the conversation as a whole goes on, from its first line to its last.
    private let whole: ActionContext
    private let wish: ChatWish
    private var services: ChatServices
    private var context: ActionContext
    private var chatting: Chatting
    private var said: [String] = []

    init(services: ChatServices, context: ActionContext, wish: ChatWish) {
        whole = context
        self.wish = wish
        self.services = services
        self.context = context
        chatting = Chatting(services: services, context: context, wish: wish)
    }

    /// Talks until the person has had enough; gives the last turn.
    func run() async throws -> ChatResult {
        try await chatting.find()
        let who = try await answerer()
        var mode = ""
        if let chosen = try await modeNow() { mode = " (mode \(chosen.rawValue))" }
        context.notice("\(who)\(mode). /help shows the commands, Ctrl-D ends.")
        said = try await recall()
        do {
            let last = try await talk()
            await tellHow()
            return last
        } catch {
            // Ctrl-C at the prompt, most likely.
            await tellHow()
            throw error
        }
    }

    /// Does what one line says; gives the turn, for one that is a turn.
    func take(_ line: String, _ services: ChatServices, _ context: ActionContext) async throws -> TurnReport? {
        (self.services, self.context) = (services, context)
        await chatting.use(services, context)
        return ConsoleCommand.isCommand(line) ? try await perform(ConsoleCommand(line)) : try await say(line)
    }

    private func talk() async throws -> ChatResult {
        var result = ChatResult()
        while let line = try await whole.interaction.composition(
            "chat.message", "›", history: said, completions: completions)
        {
            guard !line.isEmpty else { continue }
            said.append(line)
            do {
                if ConsoleCommand.isCommand(line), try ConsoleCommand(line) == .quit { break }
                let done = try await Self.$open.withValue(self) {
                    try await whole.performAnew("chat.send", ["message": .string(line)])
                }
                if let report = (done as? ChatResult)?.report { note(report, in: &result) }
            } catch is CancellationError where !Task.isCancelled {
                // Only the answer was stopped.
            } catch let error where !(error is CancellationError) {
                // A turn that failed is no reason to end the conversation.
                whole.notice(AnyFailure(error).message)
                if let error = error as? InteractionError { note(error.exit, in: &result) }
            }
        }
        return result
    }

    private func note(_ report: TurnReport, in result: inout ChatResult) {
        result.report = report
        if [.unanswered, .usage].contains(report.exit) { note(report.exit, in: &result) }
    }

    /// Where nobody watches, a question that had no answer, or none that fits, is told at the end, whatever came after it.
    private func note(_ exit: ExitCode, in result: inout ChatResult) {
        if !whole.interaction.canAsk { result.missed = result.missed ?? exit }
    }

    /// Who answers. A server that cannot be reached now may be there when something is said.
    private func answerer() async throws -> String {
        do {
            return name(of: try await chatting.chosen())
        } catch let error as ChatError where error.mayRetry {
            context.notice(error.message)
            return "nobody answers yet"
        }
    }

    /// The mode. Nil when the model has no tools, or rules of its own for them, or while no model can be reached.
    private func modeNow() async throws -> ToolMode? {
        do { return try await chatting.ownRuler() == nil ? chatting.mode() : nil } catch let error as ChatError
            where error.mayRetry
        { return nil }
    }

    /// A server that chooses the model itself is named alone.
    private func name(of choice: ModelChoice) -> String {
        PlainText.escape(choice.model.isEmpty ? choice.provider.name : "\(choice.provider.name), \(choice.model)")
    }

    /// Shows where a conversation that is gone on with has come to; gives what the person said in it before.
    private func recall() async throws -> [String] {
        guard let conversation = await chatting.conversation else { return [] }
        let entries = try await services.history.entries(of: conversation.id)
        context.notice("goes on with \(PlainText.escape(conversation.title)), \(entries.count) messages")
        let spoken = entries.filter { [.user, .assistant].contains($0.message.role) && !$0.message.text.isEmpty }
        if let question = spoken.last(where: { $0.message.role == .user }) {
            for entry in [question] + spoken.filter({ $0.id > question.id }) {
                context.notice("\(entry.message.role == .user ? "›" : " ") \(Self.excerpt(entry.message.blocks))")
            }
        }
        return entries.filter { $0.message.role == .user }.map(\.message.text).filter { !$0.isEmpty }
    }

    /// Enough of a text to remember the rest.
    private static func excerpt(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let shown = lines.prefix(6).joined(separator: "\n  ")
        let isCut = lines.count > 6 || shown.count > 600
        return PlainText.escapeLines(String(shown.prefix(600))) + (isCut ? " …" : "")
    }

    /// How to go on with it another time.
    private func tellHow() async {
        guard let id = await chatting.conversation?.id else { return }
        whole.notice("go on with it: martlet chat --conversation \(id.tag)")
    }

    /// The commands, and the files of this folder that can go along.
    private var completions: [String] {
        ConsoleCommand.names + Attachments.names(in: whole.host).map { "/attach \($0)" }
    }

    /// Says it, until the person stops the answer with Ctrl-C, which ends nothing else.
    private func say(_ text: String) async throws -> TurnReport {
        let report = try await context.interruptible { [chatting] in try await chatting.say(text) }
        let shown = try await shown(report)
        // The model has gone in the midst of the conversation: another one may answer in its place.
        guard report.failure?.code == ChatError.Kind.modelGone.description,
            try await pick("Which model shall answer instead?")
        else { return shown }
        let again = try await context.interruptible { [chatting] in try await chatting.sayAgain() }
        guard let again else { return shown }
        return try await self.shown(again)
    }

    /// Lets the person choose among the models of who answers. False when there is nothing to choose.
    private func pick(_ prompt: String) async throws -> Bool {
        guard context.interaction.canAsk else { return false }
        let choice = try await chatting.chosen()
        let provider = PlainText.escape(choice.provider.name)
        let models: [String]
        do {
            models = try await choice.provider.models().map(\.id)
        } catch let error where !(error is CancellationError) {
            context.notice(
                "\(provider) gives no list of models: \(AnyFailure(error).message)\n"
                    + "/model NAME takes one by its name")
            return false
        }
        let others = models.filter { $0 != choice.model }
        guard !others.isEmpty else {
            context.notice("\(provider) lists no other model; /model NAME takes one by its name")
            return false
        }
        let names = others.prefix(20).map { PlainText.escape($0) }
        let more = others.count > names.count ? "; /model NAME takes one of \(others.count - names.count) more" : ""
        // One that is gone is nothing to stay with.
        let stay = models.contains(choice.model) ? "\(PlainText.escape(choice.model)), as now" : "None of them"
        let index = try await context.interaction.choice("chat.model", prompt + more, among: names + [stay])
        guard index < names.count else { return false }
        try await switchModel(to: "\(choice.provider.id)/\(others[index])")
        return true
    }

    private func switchModel(to name: String) async throws {
        let choice = try await chatting.use(name)
        context.notice("\(self.name(of: choice)) answers from now on")
        // A slip is told now, and not by the server when something was said. Lists need not be whole, so it may be none.
        guard choice.description == nil, !choice.model.isEmpty else { return }
        do {
            let models = try await choice.provider.models().map(\.id)
            guard !models.isEmpty, !models.contains(choice.model) else { return }
            context.notice(
                "\(PlainText.escape(choice.provider.name)) does not list this model"
                    + Suggestion.text(for: choice.model, among: models))
        } catch let error where !(error is CancellationError) {
            // What is not listed cannot be told from what is.
        }
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
    private func following(_ wish: ChatWish) async -> Chatting {
        Chatting(services: services, context: context, wish: wish, rules: await chatting.lastingRules)
    }

    /// Gives the turn, for a command that is one.
    private func perform(_ command: ConsoleCommand) async throws -> TurnReport? {
        switch command {
        case .quit: break
        case .help: context.notice(ConsoleCommand.overview)
        case .new:
            var fresh = wish
            (fresh.conversation, fresh.goesOn) = (nil, false)
            chatting = await following(fresh)
            context.notice("a new conversation begins")
        case .resume(let prefix):
            var other = wish
            (other.conversation, other.goesOn) = (prefix, prefix == nil)
            let resumed = await following(other)
            try await resumed.find()
            chatting = resumed
            said += try await recall()
        case .model(let name):
            if let name {
                try await switchModel(to: name)
            } else {
                context.notice("\(self.name(of: try await chatting.chosen())) answers now")
                _ = try await pick("Which model shall answer from now on?")
            }
        case .tools:
            let name = try await chatting.mode() == nil ? ToolMode.readOnly.rawValue : "off"
            context.notice(try await mode(name))
        case .mode(let name): context.notice(try await mode(name))
        case .system(let text):
            var fresh = wish
            (fresh.system, fresh.conversation, fresh.goesOn) = (text, nil, false)
            chatting = await following(fresh)
            context.notice("a new conversation begins with this")
        case .attach(let path):
            let part = try Attachments.file(ReadPath(path), context)
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
        case .clear:
            try await context.emit(.clear)
            return try await perform(.new)
        }
        return nil
    }

    /// Sets how far the model goes, if that is named, and says how far that is.
    private func mode(_ name: String?) async throws -> String {
        if let ruler = try await chatting.ownRuler() {
            return "\(ruler) goes by tools and rules of its own; a mode is about the tools of this machine"
        }
        guard let name else { return try await chatting.mode().words }
        guard name == "off" || ToolMode(rawValue: name) != nil else {
            throw ConsoleCommandError(message: "the modes are off, read-only, workspace and full")
        }
        return try await chatting.use(mode: ToolMode(rawValue: name)).words
    }
}

extension Chatting {
    func change(_ body: (inout ChatWish) -> Void) {
        body(&wish)
    }
}

/// A line that begins with a slash.
enum ConsoleCommand: Sendable, Hashable {
    case help, new, resume(String?), model(String?), tools, mode(String?), system(String), attach(String), retry, stop,
        save, clear,
        quit

    static let names = [
        "/help", "/new", "/resume", "/model", "/tools", "/mode", "/system", "/attach", "/retry", "/stop", "/save",
        "/clear",
        "/quit",
    ]

    static let overview = """
        /new              begin another conversation
        /resume [id]      go on with the newest one, or with the one named
        /model [name]     show who answers, or let another model answer
        /tools            let the model use tools, or not
        /mode [name]      show or set how far it goes unasked: off, read-only, workspace, full
        /system <text>    begin another conversation with this instruction
        /attach <file>    send a file with your next message
        /retry            say the last thing again
        /stop             say how an answer is stopped
        /save             show under which name it is kept
        /clear            begin another conversation on an empty screen
        /quit             end, as Ctrl-D does; Ctrl-C stops an answer
        """

    /// Whether a line is a command. A path at the beginning of a message is none: `/etc/hosts looks odd`.
    static func isCommand(_ line: String) -> Bool {
        guard line.hasPrefix("/") else { return false }
        let word = line.prefix { !$0.isWhitespace }
        return word == "/?" || word.dropFirst().allSatisfy { $0.isLetter || $0 == "-" }
    }

    init(_ line: String) throws(ConsoleCommandError) {
        let parts = line.split(separator: " ", maxSplits: 1)
        let name = parts.first.map(String.init) ?? line
        let rest = parts.count > 1 ? String(parts[1]) : nil
        func needed(_ what: String) throws(ConsoleCommandError) -> String {
            guard let rest, !rest.isEmpty else { throw ConsoleCommandError(message: "\(name) needs \(what)") }
            return rest
        }
        switch name {
        case "/help", "/?": self = .help
        case "/new": self = .new
        case "/resume": self = .resume(rest)
        case "/model": self = .model(rest)
        case "/tools": self = .tools
        case "/mode": self = .mode(rest)
        case "/system": self = .system(try needed("an instruction"))
        case "/attach": self = .attach(try needed("a file"))
        case "/retry": self = .retry
        case "/stop": self = .stop
        case "/save": self = .save
        case "/clear": self = .clear
        case "/quit", "/exit", "/bye": self = .quit
        default:
            throw ConsoleCommandError(
                message: "there is no command \(PlainText.escape(name))"
                    + "\(Suggestion.text(for: name, among: Self.names)); /help shows them, and a message begins with a space"
            )
        }
    }
}

/// A slash with something else behind it.
struct ConsoleCommandError: Failure {
    let message: String
    var code: String { "chat.command" }
    var exit: ExitCode { .usage }
}

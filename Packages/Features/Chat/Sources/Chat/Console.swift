import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
import Registry
import Screens
import TurnLoop

/// A conversation on a terminal. Typed lines are sent as messages, with the files that they name after `@`. Lines that begin
/// with a slash are commands of the console; what is after `!` runs as a command of the person.
///
/// Each line is a separate `chat.send`, so that it uses the current settings. The messages, rules and choices so far
/// stay in the console.
actor Console {
    /// The console to which the current `chat.send` belongs, if it is one line of a conversation.
    @TaskLocal static var open: Console?

    /// The context of the whole conversation, from its first line to its last.
    private let whole: ActionContext
    private let sendOptions: SendOptions
    private var services: ChatServices
    private var context: ActionContext
    private var chat: ChatSession
    private var said: [String] = []

    init(services: ChatServices, context: ActionContext, sendOptions: SendOptions) {
        whole = context
        self.sendOptions = sendOptions
        self.services = services
        self.context = context
        chat = ChatSession(services: services, context: context, sendOptions: sendOptions)
    }

    /// Runs until the user ends the conversation. Returns the last turn.
    func run() async throws -> ChatResult {
        try await chat.find()
        let who = try await answerer()
        var mode = ""
        if let chosen = try await modeNow() { mode = " (mode \(chosen.rawValue))" }
        context.notice("\(who)\(mode). /help lists the commands, Ctrl-D quits.")
        said = try await recall()
        do {
            let last = try await talk()
            await tellHow()
            return last
        } catch {
            // Usually Ctrl-C at the prompt.
            await tellHow()
            throw error
        }
    }

    /// Performs one line. Returns the turn, if the line is one.
    ///
    /// - Parameter files: what is sent with it, if it is a message.
    func take(
        _ line: String, with files: [Message.Part], _ services: ChatServices, _ context: ActionContext
    ) async throws -> TurnReport? {
        (self.services, self.context) = (services, context)
        await chat.use(services, context)
        if ConsoleCommand.isCommand(line) { return try await perform(ConsoleCommand(line)) }
        await chat.change { $0.attachments += files }
        return try await say(line)
    }

    private func talk() async throws -> ChatResult {
        var result = ChatResult()
        while let written = try await whole.interaction.composition(
            "chat.message", "›", history: said, completions: completions)
        {
            let line = written.text
            guard !line.isEmpty else { continue }
            said.append(line)
            do {
                if ConsoleCommand.isCommand(line), try ConsoleCommand(line) == .quit { break }
                let composed = ComposedText(line, seen: written.seen, for: ConversationScreen.composer([:]))
                let done = composed.isCommand ? try await run(composed) : try await send(composed)
                if let report = (done as? ChatResult)?.report { note(report, in: &result) }
            } catch is CancellationError where !Task.isCancelled {
                // The user stopped only the answer.
            } catch let error where !(error is CancellationError) {
                // A failed turn does not end the conversation.
                whole.notice(AnyFailure(error).message)
                if let error = error as? InteractionError { note(error.exit, in: &result) }
            }
        }
        return result
    }

    /// Sends a line with the files that it names. A command of the console names them in its own way.
    private func send(_ composed: ComposedText) async throws -> any OutputValue {
        var arguments = composed.arguments
        if !ConsoleCommand.isCommand(composed.text), let files = composed.files {
            arguments = files.added(to: arguments, telling: whole.notice) { [whole] path in
                do { return try whole.path(path).kind() == .regular } catch { return false }
            }
        }
        return try await Self.$open.withValue(self) { [arguments] in
            try await whole.performAnew(composed.target.action, arguments)
        }
    }

    /// Runs a command, and adds it to the conversation. Ctrl-C stops only the command.
    private func run(_ composed: ComposedText) async throws -> any OutputValue {
        guard !composed.isBlank else { throw ConsoleCommandError(message: "write the command after !") }
        guard sendOptions.isSaved else {
            throw ConsoleCommandError(
                message: "commands are added to the conversation, which --no-save does not keep; to send this as a "
                    + "message, begin with a space")
        }
        let id = try await chat.opened().id
        var arguments = composed.arguments
        arguments["conversation"] = .string(id.rawValue)
        let done = try await whole.interruptible { [whole, arguments] in
            try await whole.performAnew(composed.target.action, arguments)
        }
        try await chat.refresh()
        if let code = (done as? CommandRun)?.command.result.exitCode, code != 0 { whole.notice("exit code \(code)") }
        return done
    }

    private func note(_ report: TurnReport, in result: inout ChatResult) {
        result.report = report
        if [.unanswered, .usage].contains(report.exit) { note(report.exit, in: &result) }
    }

    /// Without a watcher, an unanswered question or a wrong answer sets the exit code at the end, whatever follows.
    private func note(_ exit: ExitCode, in result: inout ChatResult) {
        if !whole.interaction.canAsk { result.missed = result.missed ?? exit }
    }

    /// The name of the model. A server that is unreachable now may be back when a message is sent.
    private func answerer() async throws -> String {
        do {
            return try await chat.chosen().words
        } catch let error as ChatError where error.mayRetry {
            context.notice(error.message)
            return "no model is available yet"
        }
    }

    /// The mode. Nil if the model has no tools, if it has its own rules for them, or while no model can be reached.
    private func modeNow() async throws -> ToolMode? {
        do { return try await chat.ownRuler() == nil ? chat.mode() : nil } catch let error as ChatError
            where error.mayRetry
        { return nil }
    }

    /// Shows the last messages of a resumed conversation. Returns the earlier messages of the user.
    private func recall() async throws -> [String] {
        guard let conversation = await chat.conversation else { return [] }
        let entries = try await services.history.entries(of: conversation.id)
        context.notice("continuing \(PlainText.escape(conversation.title)), \(entries.count) messages")
        let spoken = entries.filter { [.user, .assistant].contains($0.message.role) && !$0.message.text.isEmpty }
        if let question = spoken.last(where: { $0.message.role == .user }) {
            for entry in [question] + spoken.filter({ $0.id > question.id }) {
                context.notice("\(entry.message.role == .user ? "›" : " ") \(Self.excerpt(entry.message.blocks))")
            }
        }
        return entries.filter { $0.message.role == .user }.map(\.message.text).filter { !$0.isEmpty }
    }

    /// A part of a text, long enough to recognise it.
    private static func excerpt(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let shown = lines.prefix(6).joined(separator: "\n  ")
        let isCut = lines.count > 6 || shown.count > 600
        return PlainText.escapeLines(String(shown.prefix(600))) + (isCut ? " …" : "")
    }

    /// Shows the command that continues the conversation.
    private func tellHow() async {
        guard let id = await chat.conversation?.id else { return }
        whole.notice("to continue: martlet chat --conversation \(id.tag)")
    }

    /// The commands, and the files of this folder that can be attached.
    private var completions: [String] {
        let files = Attachments.names(in: whole.host)
        return ConsoleCommand.names + files.map { "/attach \($0)" }
            + files.filter(FileMention.canWrite).map { FileMention.written($0, isOpen: false) }
    }

    /// Sends a message. Ctrl-C stops only its answer.
    private func say(_ text: String) async throws -> TurnReport {
        let report = try await context.interruptible { [chat] in try await chat.say(text) }
        let shown = try await shown(report)
        // The model is no longer available, so another one may answer.
        guard report.failure?.code == ChatError.Kind.modelGone.description,
            try await pick("Which model should answer instead?")
        else { return shown }
        let again = try await context.interruptible { [chat] in try await chat.sayAgain() }
        guard let again else { return shown }
        return try await self.shown(again)
    }

    /// Lets the user choose another model of the current provider. Returns false if there is nothing to choose.
    private func pick(_ prompt: String) async throws -> Bool {
        guard context.interaction.canAsk else { return false }
        let choice = try await chat.chosen()
        let provider = PlainText.escape(choice.provider.name)
        let models: [String]
        do {
            models = try await choice.provider.models().map(\.id)
        } catch let error where !(error is CancellationError) {
            context.notice(
                "cannot list the models of \(provider): \(AnyFailure(error).message)\n"
                    + "/model NAME selects one by name")
            return false
        }
        let others = models.filter { $0 != choice.model }
        guard !others.isEmpty else {
            context.notice("\(provider) lists no other model; /model NAME selects one by name")
            return false
        }
        let names = others.prefix(20).map { PlainText.escape($0) }
        let more = others.count > names.count ? "; /model NAME selects one of \(others.count - names.count) more" : ""
        // A model that is gone is not offered.
        let stay = models.contains(choice.model) ? "\(PlainText.escape(choice.model)), as now" : "None of them"
        let index = try await context.interaction.choice("chat.model", prompt + more, among: names + [stay])
        guard index < names.count else { return false }
        try await switchModel(to: "\(choice.provider.id)/\(others[index])")
        return true
    }

    private func switchModel(to name: String) async throws {
        let choice = try await chat.use(name)
        context.notice("\(choice.words) answers from now on")
        if let doubt = try await choice.doubt() { context.notice(doubt) }
    }

    private func shown(_ report: TurnReport) async throws -> TurnReport {
        if let failure = report.failure {
            context.notice(failure.message)
            try await context.emit(failure.event)
        }
        try await context.emit(ChatEvents.turn.event(report, text: "\n"))
        return report
    }

    /// A new conversation in which the lasting rules of this one apply.
    private func following(_ sendOptions: SendOptions) async -> ChatSession {
        ChatSession(services: services, context: context, sendOptions: sendOptions, rules: await chat.lastingRules)
    }

    /// Performs a command. Returns the turn, if the command is one.
    private func perform(_ command: ConsoleCommand) async throws -> TurnReport? {
        switch command {
        case .quit: break
        case .help: context.notice(ConsoleCommand.overview)
        case .new:
            chat = await following(sendOptions.elsewhere())
            context.notice("started a new conversation")
        case .resume(let prefix):
            let resumed = await following(sendOptions.elsewhere(prefix, goesOn: prefix == nil))
            try await resumed.find()
            chat = resumed
            said += try await recall()
        case .model(let name):
            if let name {
                try await switchModel(to: name)
            } else {
                context.notice("\(try await chat.chosen().words) is answering now")
                _ = try await pick("Which model should answer from now on?")
            }
        case .tools:
            let name = try await chat.mode() == nil ? ToolMode.readOnly.rawValue : "off"
            context.notice(try await mode(name))
        case .mode(let name): context.notice(try await mode(name))
        case .system(let text):
            var fresh = sendOptions.elsewhere()
            fresh.system = text
            chat = await following(fresh)
            context.notice("started a new conversation with this system prompt")
        case .attach(let path):
            let part = try Attachments.file(ReadPath(path), context)
            await chat.change { $0.attachments.append(part) }
            context.notice("\(PlainText.escape(path)) will be sent with your next message")
        case .retry:
            if let report = try await chat.sayAgain() { return try await shown(report) }
            context.notice("there is no message to send again yet")
        case .save:
            if let id = await chat.conversation?.id {
                context.notice("saved as \(id.tag)")
            } else {
                context.notice("nothing is saved yet")
            }
        case .stop: context.notice("Ctrl-C stops an answer while it arrives")
        case .clear:
            try await context.emit(.clear)
            return try await perform(.new)
        }
        return nil
    }

    /// Sets the mode, if a name is given, and returns the current one in words.
    private func mode(_ name: String?) async throws -> String {
        if let ruler = try await chat.ownRuler() {
            return "\(ruler) uses its own tools and rules; a mode only affects the tools of this machine"
        }
        guard let name else { return try await chat.mode().words }
        guard name == "off" || ToolMode(rawValue: name) != nil else {
            throw ConsoleCommandError(message: "unknown mode; use off, read-only, workspace or full")
        }
        return try await chat.use(mode: ToolMode(rawValue: name)).words
    }
}

extension ChatSession {
    func change(_ body: (inout SendOptions) -> Void) {
        body(&sendOptions)
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
        /new              start a new conversation
        /resume [id]      continue the newest conversation, or the one named
        /model [name]     show the model, or switch to another one
        /tools            turn tools on or off
        /mode [name]      show or set what it may do without asking: off, read-only, workspace, full
        /system <text>    start a new conversation with this system prompt
        /attach <file>    send a file with your next message; @file in a message sends it along too
        /retry            send the last message again
        /stop             show how to stop an answer
        /save             show the id under which the conversation is saved
        /clear            start a new conversation on an empty screen
        /quit             quit, like Ctrl-D; Ctrl-C stops an answer
        !<command>        run a command, and add its output to the conversation
        """

    /// Whether a line is a command. A message that begins with a path is not: `/etc/hosts looks odd`.
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
        case "/system": self = .system(try needed("a system prompt"))
        case "/attach": self = .attach(try needed("a file"))
        case "/retry": self = .retry
        case "/stop": self = .stop
        case "/save": self = .save
        case "/clear": self = .clear
        case "/quit", "/exit", "/bye": self = .quit
        default:
            throw ConsoleCommandError(
                message: "unknown command \(PlainText.escape(name))\(Suggestion.text(for: name, among: Self.names)); "
                    + "/help lists the commands; to send this as a message, begin with a space")
        }
    }
}

/// An unknown command, or one with wrong arguments.
struct ConsoleCommandError: Failure {
    let message: String
    var code: String { "chat.command" }
    var exit: ExitCode { .usage }
}

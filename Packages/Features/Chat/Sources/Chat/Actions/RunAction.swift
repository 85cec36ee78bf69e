import Capabilities
import ChatHistory
import JSON
import Registry
import SandboxKit
import Synchronization
import ToolKit
import TurnLoop

/// `martlet chat run`: runs a command of the person, and adds it to a conversation, so that the next message can refer to
/// what it printed.
///
/// It is the tool that models have for commands, in the same folder and the same sandbox. Nobody is asked, because the
/// person has written the command; but what a rule denies stays denied.
struct RunAction {
    let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    var all: [Action] { [run] }

    /// The tool ends a command after this time, which is the longest that it allows.
    private static let limit = 600_000

    static let printed = EventKind<String>(
        "output", "Output of the command", [Field("text", "Text to append") { $0 }], text: "text")

    private var run: Action {
        Action(
            "chat.run", "Run a command, and add its output to a conversation", .writes, taking: RunArguments.self
        ) { context, arguments in
            // Models have a tool for commands, with rules. What a bundle may run is for the bundle to declare.
            guard context.caller.isPerson else { throw RunFailure.notAPerson }
            let options = try arguments.options()
            guard !arguments.command.allSatisfy(\.isWhitespace) else { throw RunFailure.blank }
            try ToolFolder(context).check(.full, refusing: "commands cannot run")
            let session = ChatSession(services: services, context: context, sendOptions: options)
            let conversation = try await session.opened()
            let rules = await RememberedRules(history: services.history, context: context).rules(of: conversation)
            let policy = services.policy(.full, rules: rules, context)
            let tools = try services.folderTools(.all, policy, context)
            let call = ToolCall(
                id: "command", name: WorkspaceTools.command,
                input: ["command": .string(arguments.command), "timeout_ms": .int(Self.limit)])
            try await Self.check(call, of: tools, policy, context)
            return try await perform(arguments.command, call, with: tools, in: conversation.id, context)
        }
        .streaming([Self.printed.declaration])
        .byName()
        .question("chat.mode", "Whether the mode of the settings applies in this folder: true or false")
        .question("chat.local-server", "Whether to use a server that was found on this machine: true or false")
        .details(
            "The command runs with bash in the current folder, in the sandbox that chat.sandbox sets for commands of models. "
                + "The model sees the command and its output with your next message; of more than 64 KiB it sees the "
                + "beginning and the end. It is ended after 10 minutes, or by Ctrl-C. In a conversation, write ! and the command "
                + "in the place of a message."
        )
        .example("martlet chat run --conversation 7f3q \"make test\"", "Add the output of the tests to a conversation")
    }

    /// Refuses what a rule denies.
    private static func check(
        _ call: ToolCall, of tools: WorkspaceTools, _ policy: ApprovalPolicy, _ context: ActionContext
    ) async throws {
        guard let tool = try await tools.tools().first(where: { $0.name == call.name }) else { return }
        let request = ApprovalRequest(
            call: call, tool: tool.name, source: tools.name, effect: tool.effect, sends: tool.sends,
            summary: tool.summary, reach: try await tools.reach(of: call))
        let use = request.use(in: policy.mode, ruling: policy.ruling(for: request)?.verdict)
        // A model would have to ask because of it.
        if let caution = request.reach.command?.caution { context.notice(PlainText.escape(caution)) }
        try context.caller.grant.checkUnasked(.tool(use))
    }

    private func perform(
        _ command: String, _ call: ToolCall, with tools: WorkspaceTools, in id: ConversationID,
        _ context: ActionContext
    ) async throws -> CommandRun {
        let live = LiveTurn(
            in: services.live.conversation(id), without: services.storedWithout, running: command)
        defer { live.end() }
        context.progress("running \(PlainText.escape(command, limit: 60))")
        let seen = Mutex(OutputExcerpt())
        let stopwatch = Stopwatch(context.host.clock)
        let result: ToolResult
        do {
            result = try await tools.runForPerson(call) { text in
                seen.withLock { $0.add(Array(text.utf8)) }
                live.addOutput(text)
                // If the reader is gone, the command still runs to its end, which is stored.
                do { try await context.emit(Self.printed.event(text)) } catch {}
            }
        } catch is CancellationError {
            let text = seen.withLock { $0.text }
            let note = "[stopped by the person before it was done]"
            let part = ToolResult(
                call: call.id, content: text.isEmpty || text.hasSuffix("\n") ? text + note : "\(text)\n\(note)",
                isError: true, duration: stopwatch.time())
            try await store(PersonCommand(command, part), in: id, context)
            throw CancellationError()
        }
        var whole = result
        whole.duration = stopwatch.time()
        let done = PersonCommand(command, whole)
        try await store(done, in: id, context)
        return CommandRun(conversation: id, command: done)
    }

    /// Adds it after the newest message, also if the person has stopped it.
    private func store(_ command: PersonCommand, in id: ConversationID, _ context: ActionContext) async throws {
        let history = services.history
        if history.kept(command.message) != command.message {
            context.notice(
                "a secret in this command or its output is not stored; the model sees ‹redacted› in its place "
                    + "(chat.keep-secrets stores secrets)")
        }
        await waitForAnswer(in: id)
        try await shielded {
            let newest = try await history.conversation(id).head
            try await history.append(command.message, to: id, after: newest)
        }
    }
}

extension RunAction {
    /// Waits for an answer that this program writes in the conversation, from another page or command. What came between
    /// would make a branch of it. A person who stops the command waits no longer.
    private func waitForAnswer(in id: ConversationID) async {
        let live = services.live.conversation(id)
        while !Task.isCancelled {
            let seen = live.signal.count
            guard live.snapshot.isAnswering else { return }
            do { _ = try await live.signal.wait(beyond: seen) } catch { return }
        }
    }
}

/// The arguments of `chat.run`.
struct RunArguments: ActionArguments {
    private(set) var command = ""
    private var sendOptions = SendOptions()
    private var sessionID: String?

    static let bindings = [
        bind(\.command, .argument("command", "The command, as bash gets it")),
        bind(
            \.sendOptions.conversation,
            .option(
                "conversation", "The conversation: its id, or the beginning or end of it", short: "c",
                completion: ChatCompletion.conversations)),
        bind(
            \.sessionID, .option("session-id", "Begin a conversation with this id, or add to it if it has begun")),
        bind(
            \.sendOptions.model,
            .option(
                "model", "The model of a conversation that begins, such as openai/gpt-5, or the name of a server",
                short: "m", completion: ChatCompletion.models)),
    ]

    init() {}

    /// The conversation that is meant. What a command prints must not go into another one.
    func options() throws(ArgumentsFailure) -> SendOptions {
        var options = sendOptions
        let other = options.conversation.map { _ in "conversation" }
        options.begun = try ConversationID.begun(sessionID, besides: other, of: "chat.run")
        guard options.conversation != nil || options.begun != nil else {
            throw ArgumentsFailure(
                action: "chat.run",
                problems: [ValueError("is missing: 'martlet chat list' shows the conversations", at: ["conversation"])])
        }
        return options
    }
}

/// A command of the person that has ended. One that failed is shown too, and sets the exit code.
struct CommandRun: Record {
    let conversation: ConversationID
    let command: PersonCommand

    var exit: ExitCode { command.result.isError ? .toolFailed : .done }

    static let fields: [Field<CommandRun>] = [
        Field("conversation", "Id of the conversation", .name) { $0.conversation },
        Field("command", "The command") { $0.command.command },
        Field("state", "Whether it succeeded", .state) { $0.command.state },
        Field("exit_code", "Exit code of the command") { $0.command.result.exitCode },
        Field("duration_ms", "Duration in milliseconds") {
            $0.command.result.duration.map { Int($0 / .milliseconds(1)) }
        },
        Field("output", "What it printed", .detail) { $0.command.result.content },
    ]
}

/// Why a command is not run.
enum RunFailure: Failure, Hashable {
    case notAPerson, blank

    var code: String {
        switch self {
        case .notAPerson: "chat.not-a-person"
        case .blank: "chat.no-command"
        }
    }
    var exit: ExitCode { .usage }
    var message: String {
        switch self {
        case .notAPerson:
            "only a person runs commands in a conversation; models have a tool for commands, with rules"
        case .blank: "there is no command to run, because it is blank"
        }
    }
}

import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
import Registry
import SchemaKit
import TurnLoop

/// `martlet chat`: one message, or a conversation on a terminal; and the last message again.
struct SendAction {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [send, retry] }

    private var send: Action {
        Action(
            "chat.send", "Send a message to a model", .writes, taking: SendArguments.self
        ) { context, arguments in
            if let console = Console.open, let line = arguments.message {
                // An action that this line starts must not run in this console's conversation.
                return try await Console.$open.withValue(nil) {
                    let files = try arguments.attachments(in: context)
                    return ChatResult(report: try await console.take(line, with: files, services, context))
                }
            }
            let asked = try arguments.options(in: context)
            let said = [arguments.message, arguments.input].compactMap(\.self)
            let text = said.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n\n")
            guard text.isEmpty, asked.attachments.isEmpty else {
                let chat = ChatSession(services: services, context: context, sendOptions: asked)
                return try await Self.result(of: chat.say(text), context)
            }
            // An unset variable, or a command that printed nothing, must not start a conversation.
            if !said.isEmpty { throw Self.nothing(because: "the input is blank") }
            if !context.interaction.canAsk { try await Self.requireAnswer(context) }
            return try await Console(services: services, context: context, sendOptions: asked).run()
        }
        .asDefault().alias("ask").streaming(ChatEvents.all + [RunAction.printed.declaration])
        .sending()
        .question("chat.message", "The message: a text, or a list of texts for a conversation")
        .askingAsTurns()
        .question("chat.model", "Which model to use instead of one that is no longer available")
        .details(
            "Piped input is sent with the message. Ctrl-C stops the answer and keeps what has arrived. With --format ndjson "
                + "each event is a line: init, message, reasoning, tool_use, tool_output, tool_result, error, and result at "
                + "the end; 'chat events' prints their schema."
        )
        .example("martlet ask \"What is a martlet?\"", "One question")
        .example("git diff | martlet ask \"Review this\"", "With piped input")
        .example("martlet ask --mode workspace \"Fix the typos in README.md\"", "Let it edit files in this folder")
        .example("martlet chat", "A conversation on the terminal; /help lists its commands")
        .example("martlet chat --continue \"And in French?\"", "Continue the newest conversation")
    }

    private var retry: Action {
        Action(
            "chat.retry", "Send the last message of a conversation again", .writes, HistoryActions.newest,
            .option(
                "model", "The model that answers from now on, such as openai/gpt-5, or the name of a server",
                as: String?.self, short: "m", completion: ChatCompletion.models)
        ) { context, prefix, model in
            var options = SendOptions()
            options.conversation = try await HistoryActions(services).find(prefix).id.rawValue
            options.model = model
            let chat = ChatSession(services: services, context: context, sendOptions: options)
            guard let report = try await chat.sayAgain() else { throw NothingToRepeat() }
            return try await Self.result(of: report, context)
        }
        .streaming(ChatEvents.all)
        .sending()
        .askingAsTurns()
        .details("The conversation goes on with the new answer. The old one stays as a branch.")
        .example("martlet chat retry --model openai/gpt-5", "Let another model answer the newest conversation")
    }

    /// The result of a turn. A failed one is a failure of the action.
    private static func result(of report: TurnReport, _ context: ActionContext) async throws -> ChatResult {
        if let failure = report.failure {
            try await context.emit(failure.event)
            throw failure
        }
        return ChatResult(report: report)
    }
}

extension Action {
    /// What a turn may ask.
    fileprivate func askingAsTurns() -> Action {
        question("chat.approve", "Whether a tool may be used: one of the choices of the question, such as No")
            .question("chat.approve.reason", "What the model should do instead of using a denied tool")
            .question("chat.mode", "Whether the mode of the settings applies in this folder: true or false")
            .question("chat.local-server", "Whether to use a server that was found on this machine: true or false")
            .question("chat.other-server", "Whether to continue the conversation at another address: true or false")
    }
}

/// A conversation without a message of the user.
struct NothingToRepeat: Failure {
    var code: String { "chat.nothing-to-repeat" }
    var message: String { "the conversation has no message to send again; 'martlet chat --continue \"…\"' adds one" }
    var exit: ExitCode { .usage }
}

extension SendAction {
    /// Without a terminal, a message must have been prepared.
    private static func requireAnswer(_ context: ActionContext) async throws {
        do {
            _ = try await context.interaction.composition("chat.message", "›")
        } catch InteractionError.unanswered {
            throw nothing(because: nil)
        }
    }

    private static func nothing(because reason: String?) -> ArgumentsFailure {
        let what = "there is no message to send" + (reason.map { ", because \($0)" } ?? "")
        let remedy = "pass it as 'martlet ask \"…\"', pipe it in, or answer 'chat.message' with --answers"
        return ArgumentsFailure(action: "chat.send", problems: [ValueError("\(what): \(remedy)")])
    }
}

/// The arguments of `chat.send`.
struct SendArguments: ActionArguments {
    var message: String?
    var input: String?
    private var options = SendOptions()
    private var sessionID: String?
    private var mode: ToolMode?
    private var schema: ReadPath?
    private var files: [ReadPath] = []
    private var (tools, noStream, noSave) = (false, false, false)

    static let bindings = [
        bind(\.message, .words("message", "The message; without one, a conversation starts")),
        bind(
            \.options.model,
            .option(
                "model", "The model, such as openai/gpt-5, or the name of a server", short: "m",
                completion: ChatCompletion.models)),
        bind(
            \.options.conversation,
            .option(
                "conversation", "Continue this conversation: its id, or the beginning or end of it", short: "c",
                completion: ChatCompletion.conversations)),
        bind(\.options.goesOn, .flag("continue", "Continue the newest conversation")),
        bind(
            \.sessionID, .option("session-id", "Begin a conversation with this id, or continue it if it has begun")),
        bind(
            \.options.project,
            .option(
                "project", "The gateway project to work in", completion: .like("project", of: "gateway.project.remove"))
        ),
        bind(\.options.system, .option("system", "System prompt of a new conversation", short: "s")),
        bind(\.files, .option("file", "Attach this file: text, an image or a PDF", short: "f")),
        bind(\.tools, .flag("tools", "Let the model use read-only tools")),
        bind(
            \.mode,
            .option(
                "mode", "What the model may do without asking: read, edit files here, run sandboxed commands too")),
        bind(\.noStream, .flag("no-stream", "Show the answer only when it is complete")),
        bind(\.noSave, .flag("no-save", "Do not save the conversation")),
        bind(\.schema, .option("schema", "File with the JSON Schema of the answer")),
        bind(
            \.options.parameters.temperature,
            .option("temperature", "Sampling temperature, from 0 to 2", in: ChatSettings.temperatures)),
        bind(
            \.options.parameters.maxTokens,
            .option("max-tokens", "Maximum tokens of the answer", in: ChatSettings.tokens)),
        bind(\.options.parameters.effort, .option("effort", "Reasoning effort")),
        bind(
            \.options.parameters.seed,
            .option("seed", "Seed for repeatable answers, if the provider supports it")),
        bind(\.input, .piped("input", "More text for the message, from standard input")),
    ]

    init() {}

    /// Reads the files that the arguments name.
    func options(in context: ActionContext) throws -> SendOptions {
        var options = options
        (options.streams, options.isSaved) = (!noStream, !noSave)
        let other = options.goesOn ? "continue" : options.conversation.map { _ in "conversation" }
        options.begun = try ConversationID.begun(sessionID, besides: other, of: "chat.send")
        if let mode = mode ?? (tools ? .readOnly : nil) { options.mode = .some(mode) }
        options.schema = try schema.map { try Attachments.schema($0, context) }
        options.attachments = try attachments(in: context)
        return options
    }

    /// Reads the files to attach.
    func attachments(in context: ActionContext) throws -> [Message.Part] {
        try files.map { try Attachments.file($0, context) }
    }
}

extension ConversationID {
    /// The conversation to begin, or to continue if it has begun; nil if none was named.
    ///
    /// - Parameter other: the argument that names a conversation too. What is meant for one conversation must not silently
    ///   go into another.
    static func begun(
        _ sessionID: String?, besides other: String?, of action: String
    ) throws(ArgumentsFailure) -> ConversationID? {
        guard let sessionID else { return nil }
        guard let id = ConversationID(whole: sessionID) else {
            let problem = ValueError("must be a whole id, such as 20261121-213045-k7f3qd8z", at: ["session-id"])
            throw ArgumentsFailure(action: action, problems: [problem])
        }
        guard let other else { return id }
        let problem = ValueError("names another conversation than --session-id; give one of them", at: [other])
        throw ArgumentsFailure(action: action, problems: [problem])
    }
}

/// The options of the user for a turn, beyond those of the settings and the conversation.
struct SendOptions: Sendable {
    var model: String?
    var conversation: String?
    var goesOn = false
    /// The id of the conversation to begin, or to continue if it has begun.
    var begun: ConversationID?
    /// The gateway project to work in.
    var project: String?
    var system: String?
    /// Nil keeps the mode of the conversation. A nil value inside removes the tools.
    var mode: ToolMode??
    var streams = true
    var isSaved = true
    /// The parameters that replace those of the conversation.
    var parameters = ModelOptions()
    var schema: AnswerSchema?
    var attachments: [Message.Part] = []

    /// The same for a new conversation, or for another one.
    func elsewhere(_ conversation: String? = nil, goesOn: Bool = false) -> SendOptions {
        var options = self
        (options.conversation, options.goesOn, options.begun) = (conversation, goesOn, nil)
        return options
    }
}

/// The result of `chat.send`. A conversation without messages has no report.
struct ChatResult: OutputValue {
    var report: TurnReport?
    /// The exit code of an earlier turn with a missing or wrong answer, if nobody watched.
    var missed: ExitCode?

    static var schema: Schema { TurnReport.schema }
    var json: JSON { report?.json ?? .object([:]) }
    var exit: ExitCode {
        let last = report?.exit ?? .done
        return last == .done ? missed ?? .done : last
    }
}

/// Files that are sent with a message.
enum Attachments {
    /// The size limit of providers for one request.
    private static let largest = 20 << 20

    /// A text becomes part of the message, with its name. An image or a PDF becomes an attachment.
    static func file(_ given: ReadPath, _ context: ActionContext) throws -> Message.Part {
        let path = try context.path(given)
        let bytes = try path.read(limit: largest)
        let name = AbsolutePath(path.absolute).names.last.map { String(decoding: $0, as: UTF8.self) } ?? given.shown
        if let type = mediaType(bytes) {
            return .attachment(Attachment(name: name, mediaType: type, bytes: bytes))
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            throw AttachmentError(path: given.shown)
        }
        return .text("\n\nFile \(name):\n\n\(text)\n")
    }

    /// The files of the current folder, offered as completions. Hidden files are left out.
    static func names(in host: Host) -> [String] {
        do {
            return try Files.list(host.locations.current).filter { !$0.name.hasPrefix(".") && $0.kind == .regular }.map(
                \.name)
        } catch {
            // The user then has to type the whole name.
            return []
        }
    }

    static func schema(_ given: ReadPath, _ context: ActionContext) throws -> AnswerSchema {
        let (path, bytes) = (given.shown, try context.path(given).read(limit: 1 << 20))
        do {
            let schema = try JSON(parsing: bytes, reading: .json5)
            let title = schema["title"]?.string ?? "answer"
            let name = String(
                title.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(60))
            // An answer that depends on another document could never be checked.
            if let gap = try JSONSchema(schema).gaps.first(where: { $0.kind == .reference }) {
                throw AttachmentError(path: path, why: "\(path) cannot be used for answers: \(gap)")
            }
            return AnswerSchema(name: name, schema: schema)
        } catch let error as SchemaError {
            let faults = error.sentences.prefix(3).joined(separator: "; ")
            throw AttachmentError(path: path, why: "\(path) is not a valid JSON Schema: \(faults)")
        } catch let error as JSONError {
            throw AttachmentError(path: path, why: error.located(in: path))
        }
    }

    /// The media type by the first bytes, because file names can be wrong.
    private static func mediaType(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        if bytes.starts(with: "%PDF-".utf8) { return "application/pdf" }
        return nil
    }
}

/// A file that cannot be sent to a model.
struct AttachmentError: Failure {
    let path: String
    var why: String?

    var code: String { "chat.attachment" }
    var exit: ExitCode { .usage }
    var message: String {
        why ?? "\(path) cannot be sent: it is neither text, an image (PNG, JPEG, GIF, WebP) nor a PDF"
    }
}

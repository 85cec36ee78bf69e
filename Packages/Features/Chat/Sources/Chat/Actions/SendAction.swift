import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
import Registry
import TurnLoop

/// `martlet chat`: one message, or a conversation on a terminal.
struct SendAction {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [send] }

    private var send: Action {
        Action(
            "chat.send", "Say something to a model", .writes, taking: SendArguments.self
        ) { context, arguments in
            if let console = Console.open, let line = arguments.message {
                // Whoever is asked by what this line sets off begins a conversation of its own.
                return try await Console.$open.withValue(nil) {
                    ChatResult(report: try await console.take(line, services, context))
                }
            }
            let asked = try arguments.wish(in: context)
            let said = [arguments.message, arguments.input].compactMap(\.self)
            let text = said.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n\n")
            guard text.isEmpty, asked.attachments.isEmpty else {
                let report = try await Chatting(services: services, context: context, wish: asked).say(text)
                if let failure = report.failure {
                    try await context.emit(failure.event)
                    throw failure
                }
                return ChatResult(report: report)
            }
            // A variable that is not set, or a command that printed nothing: no conversation is meant.
            if !said.isEmpty { throw Self.nothing(because: "what was given is blank") }
            if !context.interaction.canAsk { try await Self.requireAnswer(context) }
            return try await Console(services: services, context: context, wish: asked).run()
        }
        .asDefault().alias("ask").streaming()
        .sending()
        .question("chat.message", "What to say: a text, or a list of texts for a conversation")
        .question("chat.approve", "Whether a tool may be used, in the words of the question, such as No")
        .question("chat.approve.reason", "What the model shall do instead of a tool that was denied")
        .question("chat.mode", "Whether the mode of the settings holds in this folder: true or false")
        .question("chat.local-server", "Whether a server that was found on this machine is meant: true or false")
        .question("chat.other-server", "Whether the conversation goes on at another address: true or false")
        .question("chat.model", "Which model answers in place of one that is gone")
        .details(
            "What is piped in goes along with the message. Ctrl-C stops the answer; what has come is kept. With --format "
                + "ndjson each event is a line: init, message, reasoning, tool_use, tool_output, tool_result, error, and result "
                + "at the end; 'chat events' has their schema."
        )
        .example("martlet ask \"What is a martlet?\"", "One question")
        .example("git diff | martlet ask \"Review this\"", "With something piped in")
        .example("martlet ask --mode workspace \"Fix the typos in README.md\"", "Let it edit files in this folder")
        .example("martlet chat", "A conversation on the terminal; /help shows what it understands")
        .example("martlet chat --continue \"And in French?\"", "Go on where you were")
    }
}

extension SendAction {
    /// Without a person there must be something to say beforehand.
    private static func requireAnswer(_ context: ActionContext) async throws {
        do {
            _ = try await context.interaction.composition("chat.message", "›")
        } catch InteractionError.unanswered {
            throw nothing(because: nil)
        }
    }

    private static func nothing(because reason: String?) -> ArgumentsFailure {
        let what = "there is nothing to say" + (reason.map { ", as \($0)" } ?? "")
        let remedy = "write it as 'martlet ask \"…\"', pipe it in, or give the answer 'chat.message' with --answers"
        return ArgumentsFailure(action: "chat.send", problems: [ValueError("\(what): \(remedy)")])
    }
}

extension AnyFailure {
    /// As an event of a turn.
    var event: ActionEvent { ActionEvent("error", ["code": .string(code), "message": .string(message)]) }
}

/// What `chat.send` takes.
struct SendArguments: ActionArguments {
    var message: String?
    var input: String?
    private var wish = ChatWish()
    private var mode: ToolMode?
    private var schema: ReadPath?
    private var files: [ReadPath] = []
    private var (tools, noStream, noSave) = (false, false, false)

    static let bindings = [
        bind(\.message, .words("message", "What to say; without it a conversation begins")),
        bind(\.wish.model, .option("model", "The model, such as openai/gpt-5 or the name of a server", short: "m")),
        bind(
            \.wish.conversation,
            .option("conversation", "Go on with this one: its id, or how that begins or ends", short: "c")),
        bind(\.wish.goesOn, .flag("continue", "Go on with the newest conversation")),
        bind(\.wish.project, .option("project", "The project of a gateway in which it happens")),
        bind(\.wish.system, .option("system", "What the model is told first, in a new conversation", short: "s")),
        bind(\.files, .option("file", "Also send this file: text, an image, a PDF", short: "f")),
        bind(\.tools, .flag("tools", "Let the model look around with tools")),
        bind(
            \.mode,
            .option(
                "mode", "How far the model goes unasked: it looks around, edits here, runs commands in a sandbox too")),
        bind(\.noStream, .flag("no-stream", "Show the answer when it is whole")),
        bind(\.noSave, .flag("no-save", "Keep nothing of it")),
        bind(\.schema, .option("schema", "A file with the JSON Schema of the answer")),
        bind(
            \.wish.temperature,
            .option(
                "temperature", "From 0 to 2: how freely the model chooses its words", in: ChatSettings.temperatures)),
        bind(\.wish.maxTokens, .option("max-tokens", "How long the answer may be", in: ChatSettings.tokens)),
        bind(\.wish.effort, .option("effort", "How much the model shall think")),
        bind(\.wish.seed, .option("seed", "A number that makes answers repeatable, where a provider can")),
        bind(\.input, .piped("input", "A text to send along; what is piped into the command")),
    ]

    init() {}

    /// With the files read that belong to it.
    func wish(in context: ActionContext) throws -> ChatWish {
        var wish = wish
        (wish.streams, wish.isSaved) = (!noStream, !noSave)
        if let mode = mode ?? (tools ? .readOnly : nil) { wish.mode = .some(mode) }
        wish.schema = try schema.map { try Attachments.schema($0, context) }
        wish.attachments = try files.map { try Attachments.file($0, context) }
        return wish
    }
}

/// What a person wants of a turn, beyond what the settings and the conversation say.
struct ChatWish: Sendable {
    var model: String?
    var conversation: String?
    var goesOn = false
    /// Where a gateway shall work.
    var project: String?
    var system: String?
    /// Nil leaves it to the conversation; nil in it takes the tools away.
    var mode: ToolMode??
    var streams = true
    var isSaved = true
    var temperature: Double?
    var maxTokens: Int?
    var effort: ModelOptions.Effort?
    var seed: Int?
    var schema: AnswerSchema?
    var attachments: [Message.Part] = []
}

/// The result of `chat.send`; a conversation in which nothing was said has none.
struct ChatResult: OutputValue {
    var report: TurnReport?
    /// Why an earlier turn of the conversation was not all that it could be, where nobody was there to see it.
    var missed: ExitCode?

    static var schema: Schema { TurnReport.schema }
    var json: JSON { report?.json ?? .object([:]) }
    var exit: ExitCode {
        let last = report?.exit ?? .done
        return last == .done ? missed ?? .done : last
    }
}

/// Files that go along with a message.
enum Attachments {
    /// Providers take no more than that in one request.
    private static let largest = 20 << 20

    /// A text becomes part of the message, with its name; an image or a PDF is attached.
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

    /// The files of the folder that a command runs in, for a person to choose from; hidden ones are left out.
    static func names(in host: Host) -> [String] {
        do {
            return try Files.list(host.locations.current).filter { !$0.name.hasPrefix(".") && $0.kind == .regular }.map(
                \.name)
        } catch {
            // Then a name has to be typed whole.
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
            if let fault = SchemaCheck(schema).faults.first {
                throw AttachmentError(
                    path: path, why: "\(path) is no JSON Schema: \(PlainText.escape(fault))")
            }
            return AnswerSchema(name: name, schema: schema)
        } catch let error as JSONError {
            throw AttachmentError(path: path, why: error.located(in: path))
        }
    }

    /// By how the file begins, since names lie.
    private static func mediaType(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        if bytes.starts(with: "%PDF-".utf8) { return "application/pdf" }
        return nil
    }
}

/// A file that no model can be sent.
struct AttachmentError: Failure {
    let path: String
    var why: String?

    var code: String { "chat.attachment" }
    var exit: ExitCode { .usage }
    var message: String {
        why
            ?? "\(path) cannot be sent: it is neither text nor an image (PNG, JPEG, GIF, WebP) nor a PDF"
    }
}

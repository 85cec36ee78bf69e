import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import StorageKit
import TurnLoop

/// The actions on stored conversations.
struct HistoryActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    private var history: History { services.history }

    var all: [Action] { [list, show, search, rename, fork, delete, restore, export, importing, inspect, rerun] }

    static let conversation: Parameter<String> = .argument(
        "conversation", "Its id, or the beginning or end of it", as: String.self,
        completion: ChatCompletion.conversations)
    private static let deleted: Parameter<String> = .argument(
        "conversation", "Its id, or the beginning or end of it", as: String.self, completion: ChatCompletion.deleted)
    static let call: Parameter<Int> = .argument("call", "The number of the call, as shown by 'chat inspect'")
    static let newest: Parameter<String?> = .argument(
        "conversation", "Its id, or the beginning or end of it; the newest one if omitted", as: String?.self,
        completion: ChatCompletion.conversations)

    /// The named conversation, or the newest one.
    func find(_ prefix: String?) async throws -> Conversation {
        if let prefix { return try await history.find(prefix) }
        guard let newest = try await history.newest() else { throw NoConversation() }
        return newest
    }

    private var list: Action {
        Action(
            "chat.list", "List conversations, newest first", .reads, taking: ListArguments.self
        ) { context, arguments in
            let filter = arguments.filter
            let isNarrowed =
                [filter.model, filter.provider].contains { $0 != nil } || filter.since != nil || filter.until != nil
            return context.rows(
                try await history.list(filter, limit: arguments.limit).items,
                orSay: isNarrowed
                    ? "no conversation matches"
                    : filter.isDeleted
                        ? "no conversation was deleted" : "no conversation yet; 'martlet chat' starts one")
        }
        .forModels()
        .showingConversations()
    }

    private var show: Action {
        Action("chat.show", "Show the messages of a conversation", .reads, Self.newest) { context, prefix in
            let found = try await find(prefix)
            let entries = try await history.entries(of: found.id)
            // A terminal shows local times. A file or a program gets times with their zone.
            for entry in entries {
                let time = context.isWatched ? LocalTime.words(entry.time, withSeconds: false) : entry.time.iso8601
                try await context.emit(entry.event(at: time))
            }
            return ShownConversation(conversation: found, entries: entries)
        }
        .streaming([Entry.kind.declaration])
        .showingConversations()
    }

    private var search: Action {
        Action(
            "chat.search", "Search all messages, newest first", .reads,
            taking: SearchArguments.self
        ) { context, arguments in
            let text = try Self.text(
                of: arguments.words, "words", "chat.search", "is missing: specify the words to search for")
            return context.rows(
                try await history.search(text, arguments.filter, limit: arguments.limit),
                orSay: "no message contains these words")
        }
        .forModels()
        .showingConversations()
    }

    private var rename: Action {
        Action(
            "chat.rename", "Rename a conversation", .writes, Self.conversation,
            .argument("title", "The new title", as: [String].self)
        ) { context, prefix, title in
            let text = try Self.text(of: title, "title", "chat.rename", "is missing: specify the new title")
            return try await history.rename(try await history.find(prefix).id, to: text)
        }
    }

    /// Joins the words of an argument to one text, which must not be blank.
    private static func text(
        of words: [String], _ name: String, _ action: String, _ problem: String
    ) throws(ArgumentsFailure) -> String {
        let text = words.joined(separator: " ")
        guard !text.allSatisfy(\.isWhitespace) else {
            throw ArgumentsFailure(action: action, problems: [ValueError(problem, at: [name])])
        }
        return text
    }

    private var fork: Action {
        Action(
            "chat.fork", "Start a new conversation with the messages of this one", .writes, Self.conversation,
            .option("at", "Only the messages up to this one", as: Int?.self, completion: ChatCompletion.messages)
        ) { context, prefix, message in
            try await history.fork(
                try await history.find(prefix).id, at: message.map { MessageID(rawValue: Int64($0)) })
        }
    }

    private var delete: Action {
        Action(
            "chat.delete", "Delete a conversation; 'chat restore' undoes this for 30 days", .writes, Self.conversation,
            .flag("now", "Remove it permanently, with every trace in this program's files")
        ) { context, prefix, isForGood in
            if isForGood {
                let found = try await findAny(prefix)
                try await erase(found, context)
                return found
            }
            let found = try await history.find(prefix)
            try await history.delete(found.id)
            try await history.purge(
                deletedBefore: Timestamp(microseconds: context.host.now().microseconds - 30 * 86_400 * 1_000_000))
            return try await history.conversation(found.id)
        }
        .destroying(with: "now")
        .losing { arguments, context in
            let found = try await findAny(arguments["conversation"]?.string ?? "")
            let count = found.messages == 1 ? "1 message" : "\(found.messages) messages"
            return "Permanently remove the conversation \(PlainText.escape(found.title).quotedForMessage) (\(count))"
        }
        .details(
            "--now removes every trace from this program's files, including those of the embedded gateway. It also works for "
                + "conversations that were already deleted. No other program may have these files open. Copies that were "
                + "exported, saved by 'data backup' or sent to a server remain, and a disk may keep blocks that no file "
                + "shows. A fork keeps the messages that it shares."
        )
        .example("martlet chat delete 7f3q --now", "Permanently, at once")
    }

    /// A conversation that may already be deleted.
    private func findAny(_ prefix: String) async throws -> Conversation {
        do {
            return try await history.find(prefix)
        } catch let error as HistoryError where error.kind == .notFound {
            do {
                return try await history.find(prefix, isDeleted: true)
            } catch let other as HistoryError where other.kind == .notFound {
                throw error
            }
        }
    }

    /// Removes a conversation permanently, from the history and from the servers whose sessions are stored here.
    private func erase(_ conversation: Conversation, _ context: ActionContext) async throws {
        try await history.database.requireAlone()
        let log = context.registry.optional((any AuditLog).self)
        try await log?.eraseContent(of: [.conversation(conversation.id.rawValue)])
        let elsewhere = try await services.forgetSessions(of: conversation.id, context.registry)
        context.progress("removing it from the history")
        try await history.purge(conversation.id)
        do {
            try await history.database.erase()
        } catch {
            context.notice(
                "the conversation is removed, but traces of it may remain in the files; 'martlet data purge chat.history' "
                    + "removes them and all conversations deleted earlier")
            throw error
        }
        if !elsewhere.isEmpty {
            context.notice("copies remain at \(elsewhere.joined(separator: " and ")); remove them there too")
        }
        let setAside = try history.database.setAsides
        if !setAside.isEmpty {
            let files = setAside.map(PlainText.escape).joined(separator: ", ")
            context.notice(
                "damaged files that were set aside may still contain it: \(files); 'martlet data purge chat.history' "
                    + "removes them and all conversations deleted earlier")
        }
    }

    private var restore: Action {
        Action("chat.restore", "Restore a deleted conversation", .writes, Self.deleted) { context, prefix in
            try await history.restore(try await history.find(prefix, isDeleted: true).id)
        }
    }

    private var export: Action {
        Action(
            "chat.export", "Print a conversation as a document", .reads, Self.newest,
            .option("as", "Output format", default: TranscriptFormat.markdown)
        ) { context, prefix, format in
            try await history.transcript(of: try await find(prefix).id).text(as: format)
        }
        .example("martlet chat export 7f3q > talk.md", "As Markdown")
        .showingConversations()
    }

    private var importing: Action {
        Action(
            "chat.import", "Import a conversation from a document", .writes,
            .argument("file", "Markdown, Martlet's own JSON, or messages of OpenAI or Anthropic", as: ReadPath.self),
            .option("as", "Format of the document; detected if omitted", as: TranscriptFormat?.self)
        ) { context, file, format in
            let text = try context.path(file).read(limit: 256 << 20)
            return try await history.add(try Transcript(parsing: text, as: format))
        }
    }

    private var inspect: Action {
        Action(
            "chat.inspect", "Show the tool calls of a conversation, with their input and output", .reads,
            Self.newest
        ) { context, prefix in
            let found = try await find(prefix)
            let calls = try await history.timeline(of: found.id)
            context.notice(Self.totals(of: found, calls))
            return calls.map(CallRow.init)
        }
        .showingConversations()
    }

    /// The totals of a conversation on one line.
    private static func totals(of conversation: Conversation, _ calls: [CallEntry]) -> String {
        let failed = calls.count { $0.state == .failed }
        var words = ["\(calls.count) call\(calls.count == 1 ? "" : "s")"]
        if failed > 0 { words.append("\(failed) failed") }
        let time = calls.compactMap { call in call.started.flatMap { start in call.ended.map { $0 - start } } }
        if !time.isEmpty {
            words.append(Duration.milliseconds((time.reduce(.zero, +) / .milliseconds(1)).rounded()).words)
        }
        let usage = conversation.usage
        if let tokens = usage.inputTokens { words.append("\(tokens) tokens read") }
        if let tokens = usage.outputTokens { words.append("\(tokens) written") }
        if let cost = usage.cost { words.append(cost.words) }
        return words.joined(separator: ", ")
    }

    /// A call by its number.
    func call(_ number: Int, of conversation: ConversationID) async throws -> CallEntry {
        if let found = try await history.call(CallID(rawValue: Int64(number)), of: conversation) { return found }
        let calls = try await history.timeline(of: conversation)
        throw NoSuchCall(number: number, known: calls.compactMap(\.id?.rawValue))
    }

    private var rerun: Action {
        Action(
            "chat.rerun", "Repeat a tool call of a conversation, optionally with another input", .writes,
            Self.conversation, Self.call,
            .option("input", "Another input, as JSON", as: JSON?.self)
        ) { context, prefix, number, input in
            let found = try await call(number, of: try await history.find(prefix).id)
            // The tools of a call that a server ran are not available here.
            guard !found.call.isDone else { throw NotOurCall(name: found.call.name) }
            var call = found.call
            if let input { call.input = input }
            let start = context.host.now()
            // All tools are offered, and the user is asked about those that write.
            let rules = await RememberedRules(history: history, context: context).rules(
                of: try await history.find(prefix))
            let policy = services.policy(.readOnly, rules: rules, context)
            let tools = try await services.tools(.workspace, policy, context)
            var loop = services.loop(tools, policy, context)
            let conversation = try await history.find(prefix).id.rawValue
            loop.audit = services.audit(isSaved: true) { conversation }
            let result = try await loop.run(again: call) { _ in }
            return RepeatedCall(
                row: CallRow(
                    CallEntry(
                        call, result.isError ? .failed : .done, source: found.source, effect: found.effect,
                        result: result, started: start, ended: context.host.now())))
        }
        .details("The conversation does not change. Calls that a rule denies or that are not approved are not run.")
        .example("martlet chat rerun 7f3q 12 --input '{\"path\": \"README.md\"}'", "With another input")
    }
}

/// A conversation with all its messages.
struct ShownConversation: Record {
    let conversation: Conversation
    let entries: [Entry]

    static let fields: [Field<ShownConversation>] = [
        Field("id", "Id of the conversation", .name) { $0.conversation.id },
        Field("title", "Title of the conversation") { $0.conversation.title },
        Field("model", "The model") { $0.conversation.setup.model },
        Field("usage", "Tokens and cost of all its answers", .detail) { $0.conversation.usage },
        Field("messages", "The messages") { shown in
            JSON.array(shown.entries.map { .object(Entry.kind.members(of: $0)) })
        },
    ]
}

extension Entry {
    /// The message for a transcript and for programs.
    ///
    /// - Parameter words: the time in words.
    func event(at words: String) -> ActionEvent {
        Self.kind.event(self, text: transcript(at: words))
    }

    fileprivate static let kind = EventKind<Entry>(
        "message", "A message of the conversation",
        [
            Field("id", "Id of the message") { $0.id }, Field("role", "Role of the author") { $0.message.role },
            Field("text", "The text") { PersonCommand($0.message)?.words ?? $0.message.text },
            Field("time", "When it was sent") { $0.time },
            Field("state", "How far it got") { $0.state.word }, Field("model", "The model of an answer") { $0.model },
            Field("error", "Why it failed") { $0.state.reason },
        ], format: .markdown)

    private func transcript(at words: String) -> String {
        let command = PersonCommand(message)
        let author = command == nil ? message.role : .user
        var lines = ["**\(author.rawValue)** · \(words)", ""]
        if !message.text.isEmpty { lines += [message.text, ""] }
        if let command { lines += [command.words] }
        for part in command == nil ? message.parts : [] {
            switch part {
            case .call(let call): lines += ["- used `\(PlainText.escape(call.name))`", ""]
            case .attachment(let file): lines += ["- attached \(PlainText.escape(file.name))", ""]
            case .text, .reasoning, .refusal, .malformedCall, .result: break
            }
        }
        if state != .complete { lines += ["*\(state.word)*", ""] }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Entry.State {
    var word: String {
        switch self {
        case .complete: "complete"
        case .streaming: "streaming"
        case .stopped: "stopped"
        case .failed(let code, _): "failed: \(code)"
        case .truncated: "truncated"
        case .interrupted: "interrupted"
        }
    }

    fileprivate var reason: String? { if case .failed(_, let reason) = self { reason } else { nil } }
}

/// There is no conversation at all.
private struct NoConversation: Failure {
    var code: String { "history.not-found" }
    var exit: ExitCode { .usage }
    var message: String { "there is no conversation yet; 'martlet chat' starts one" }
}

/// A call that the server ran itself.
private struct NotOurCall: Failure {
    let name: String

    var code: String { "chat.call-of-server" }
    var exit: ExitCode { .usage }
    var message: String {
        "\(PlainText.escape(name)) ran on the server, with tools that are not available here; ask the server to run it again"
    }
}

/// The result of a repeated call. A failed one is printed too, and sets the exit code.
struct RepeatedCall: OutputValue {
    let row: CallRow

    static var schema: Schema { CallRow.schema }
    var json: JSON { row.json }
    var exit: ExitCode { row.entry.result?.isError == true ? .toolFailed : .done }
}

/// A number that is not a call of the conversation.
private struct NoSuchCall: Failure {
    let number: Int
    let known: [Int64]

    var code: String { "chat.call-unknown" }
    var exit: ExitCode { .usage }
    var message: String {
        "there is no call \(number) in this conversation; "
            + (known.isEmpty ? "it has no calls" : "its calls are \(known.map(String.init).joined(separator: ", "))")
    }
}

/// A tool call with everything that is known about it.
struct CallRow: Record {
    let entry: CallEntry

    init(_ entry: CallEntry) {
        self.entry = entry
    }

    static let fields: [Field<CallRow>] = [
        Field("call", "Number of the call", .name) { $0.entry.id.map { Int($0.rawValue) } },
        Field("tool", "Name of the tool") { PlainText.escape($0.entry.call.name) },
        Field("state", "State of the call", .state) { $0.entry.state },
        Field("source", "Source of the tool") { $0.entry.source },
        Field("started", "When it started") { $0.entry.started },
        Field("duration_ms", "Duration in milliseconds") { row -> Int? in
            guard let start = row.entry.started, let end = row.entry.ended else { return nil }
            return Int((end - start) / .milliseconds(1))
        },
        Field("exit_code", "Exit code of a command") { $0.entry.result?.exitCode },
        Field("input", "Input of the call") { $0.entry.call.input },
        Field("output", "Output of the call", .detail) { $0.entry.result?.content },
    ]
}

/// The arguments of `chat.list`.
struct ListArguments: ActionArguments {
    private(set) var limit = 0
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.limit, .option("limit", "Maximum number of results", in: 1...100_000, default: 20)),
        bind(
            \.filter.model,
            .option("model", "Only conversations with this model", completion: ChatCompletion.usedModels)),
        bind(
            \.filter.provider,
            .option("provider", "Only conversations with this provider", completion: ChatCompletion.usedProviders)),
        bind(\.filter.since, .option("since", "Only conversations since this time")),
        bind(\.filter.until, .option("until", "Only conversations before this time")),
        bind(
            \.filter.isDeleted,
            .flag("deleted", "List deleted conversations that can be restored, instead of the others")),
    ]

    init() {}
}

/// The arguments of `chat.search`.
struct SearchArguments: ActionArguments {
    private(set) var words: [String] = []
    private(set) var limit = 0
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.words, .argument("words", "Words, \"a phrase\", prefix*, -excluded")),
        bind(\.limit, .option("limit", "Maximum number of results", in: 1...1000, default: 20)),
        bind(\.filter.model, .option("model", "Only messages of this model", completion: ChatCompletion.usedModels)),
        bind(\.filter.since, .option("since", "Only messages since this time")),
        bind(\.filter.until, .option("until", "Only messages before this time")),
    ]

    init() {}
}

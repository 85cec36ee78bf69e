import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import StorageKit
import TurnLoop

/// What was said.
struct HistoryActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    private var history: History { services.history }

    var all: [Action] { [list, show, search, rename, fork, delete, restore, export, importing, inspect, rerun] }

    private static let conversation: Parameter<String> = .argument(
        "conversation", "Its id, or how that begins or ends", as: String.self)
    private static let newest: Parameter<String?> = .argument(
        "conversation", "Its id, or how that begins or ends; the newest one if it is left out", as: String?.self)

    /// The conversation that is named, or the newest one.
    private func find(_ prefix: String?) async throws -> Conversation {
        if let prefix { return try await history.find(prefix) }
        guard let newest = try await history.newest() else { throw NoConversation() }
        return newest
    }

    private var list: Action {
        Action(
            "chat.list", "List conversations, the newest first", .reads, taking: ListArguments.self
        ) { context, arguments in
            let filter = arguments.filter
            let isNarrowed =
                [filter.model, filter.provider].contains { $0 != nil } || filter.since != nil || filter.until != nil
            return context.rows(
                try await history.list(filter, limit: arguments.limit).items,
                orSay: isNarrowed
                    ? "no conversation fits"
                    : filter.isDeleted
                        ? "no conversation was deleted" : "no conversation yet; 'martlet chat' begins one")
        }
        .forModels()
    }

    private var show: Action {
        Action("chat.show", "Show what was said in a conversation", .reads, Self.newest) { context, prefix in
            let found = try await find(prefix)
            let entries = try await history.entries(of: found.id)
            // Times are the person's own where one reads now, and told with their zone where a file or a program does.
            for entry in entries {
                let time = context.isWatched ? LocalTime.words(entry.time, withSeconds: false) : entry.time.iso8601
                try await context.emit(entry.event(at: time))
            }
            return ShownConversation(conversation: found, entries: entries)
        }
        .streaming()
    }

    private var search: Action {
        Action(
            "chat.search", "Find words in everything that was said, the newest first", .reads,
            taking: SearchArguments.self
        ) { context, arguments in
            let text = try Self.text(
                of: arguments.words, "words", "chat.search", "is missing: what shall be looked for?")
            return context.rows(
                try await history.search(text, arguments.filter, limit: arguments.limit),
                orSay: "no message has these words")
        }
        .forModels()
    }

    private var rename: Action {
        Action(
            "chat.rename", "Give a conversation another title", .writes, Self.conversation,
            .argument("title", "The title", as: [String].self)
        ) { context, prefix, title in
            let text = try Self.text(of: title, "title", "chat.rename", "is missing: what shall it be called?")
            return try await history.rename(try await history.find(prefix).id, to: text)
        }
    }

    /// The words of an argument as one text, in which something is said.
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
            "chat.fork", "Begin another conversation with what was said in this one", .writes, Self.conversation,
            .option("at", "Only up to this message", as: Int?.self)
        ) { context, prefix, message in
            try await history.fork(
                try await history.find(prefix).id, at: message.map { MessageID(rawValue: Int64($0)) })
        }
    }

    private var delete: Action {
        Action(
            "chat.delete", "Delete a conversation; 'chat restore' has it back for 30 days", .writes, Self.conversation,
            .flag("now", "For good, with every trace of it in the files of this program")
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
            return "Remove the conversation \(PlainText.escape(found.title).quotedForMessage) (\(count)) for good"
        }
        .details(
            "With --now nothing of it is left in the files of this program, those of the embedded gateway included; it also "
                + "takes one that was deleted before. No other program may have these files open then. What was exported, "
                + "saved by 'data backup' or sent to a server stays there, and a disk may keep blocks that no file shows. "
                + "A fork keeps the messages that it shares."
        )
        .example("martlet chat delete 7f3q --now", "For good, at once")
    }

    /// A conversation that may have been deleted already.
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

    /// Removes it for good wherever it is kept here.
    private func erase(_ conversation: Conversation, _ context: ActionContext) async throws {
        try await history.database.requireAlone()
        let elsewhere = try await services.forgetSessions(of: conversation.id, context.registry)
        context.progress("writing the history without it")
        try await history.purge(conversation.id)
        do {
            try await history.database.erase()
        } catch {
            context.notice(
                "the conversation is removed, and traces of it may be left in the files; 'martlet data purge chat.history' "
                    + "takes them out, and with them what was deleted before")
            throw error
        }
        if !elsewhere.isEmpty {
            context.notice("what \(elsewhere.joined(separator: " and ")) has of it stays there; remove it there, too")
        }
        let setAside = try history.database.setAsides
        if !setAside.isEmpty {
            let files = setAside.map(PlainText.escape).joined(separator: ", ")
            context.notice(
                "damaged files that were set aside may have it still: \(files); 'martlet data purge chat.history' removes "
                    + "them, and with them what was deleted before")
        }
    }

    private var restore: Action {
        Action("chat.restore", "Have a deleted conversation back", .writes, Self.conversation) { context, prefix in
            try await history.restore(try await history.find(prefix, isDeleted: true).id)
        }
    }

    private var export: Action {
        Action(
            "chat.export", "Print a conversation as a document", .reads, Self.newest,
            .option("as", "In which form", default: TranscriptFormat.markdown)
        ) { context, prefix, format in
            try await history.transcript(of: try await find(prefix).id).text(as: format)
        }
        .example("martlet chat export 7f3q > talk.md", "As Markdown")
    }

    private var importing: Action {
        Action(
            "chat.import", "Take a conversation in from a document", .writes,
            .argument("file", "Markdown, our JSON, or messages of OpenAI or Anthropic", as: ReadPath.self),
            .option("as", "In which form, when it should not be found out", as: TranscriptFormat?.self)
        ) { context, file, format in
            let text = try context.path(file).read(limit: 256 << 20)
            return try await history.add(try Transcript(parsing: text, as: format))
        }
    }

    private var inspect: Action {
        Action(
            "chat.inspect", "Show the tools that were used in a conversation, with what went in and came out", .reads,
            Self.newest
        ) { context, prefix in
            let found = try await find(prefix)
            let calls = try await history.timeline(of: found.id)
            context.notice(Self.totals(of: found, calls))
            return calls.map(CallRow.init)
        }
    }

    /// What all of a conversation took, in one line.
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

    private var rerun: Action {
        Action(
            "chat.rerun", "Use a tool again as in a conversation, perhaps with another input", .writes,
            Self.conversation,
            .argument("call", "The number of the call, as 'chat inspect' shows it", as: Int.self),
            .option("input", "Another input, as JSON", as: JSON?.self)
        ) { context, prefix, number, input in
            let calls = try await history.timeline(of: try await history.find(prefix).id)
            guard let found = calls.first(where: { $0.id?.rawValue == Int64(number) }) else {
                throw NoSuchCall(number: number, known: calls.compactMap(\.id?.rawValue))
            }
            // A server does its own calls itself, with tools that are not here.
            guard !found.call.isDone else { throw NotOurCall(name: found.call.name) }
            var call = found.call
            if let input { call.input = input }
            let start = context.host.now()
            // All tools are there, and whatever writes is asked about.
            let rules = await RememberedRules(history: history, context: context).rules(
                of: try await history.find(prefix))
            let policy = services.policy(.readOnly, rules: rules, context)
            let tools = try services.tools(.workspace, policy, context)
            let result = try await services.loop(tools, policy, context).run(again: call) { _ in }
            return RepeatedCall(
                row: CallRow(
                    CallEntry(
                        call, result.isError ? .failed : .done, source: found.source, effect: found.effect,
                        result: result, started: start, ended: context.host.now())))
        }
        .details("Nothing of the conversation changes. What a rule or nobody allows is not done here either.")
        .example("martlet chat rerun 7f3q 12 --input '{\"path\": \"README.md\"}'", "With another input")
    }
}

/// A conversation with all that was said.
struct ShownConversation: Record {
    let conversation: Conversation
    let entries: [Entry]

    static let fields: [Field<ShownConversation>] = [
        Field("id", "What it is called by", .name) { $0.conversation.id },
        Field("title", "What it is about") { $0.conversation.title },
        Field("model", "The model") { $0.conversation.setup.model },
        Field("usage", "What all its answers took", .detail) { $0.conversation.usage },
        Field("messages", "What was said") { shown in JSON.array(shown.entries.map { .object($0.fields) }) },
    ]
}

extension Entry {
    /// As a transcript shows it and a program reads it.
    ///
    /// - Parameter words: when that was, in words.
    func event(at words: String) -> ActionEvent {
        ActionEvent("message", fields, text: transcript(at: words), format: .markdown)
    }

    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "id": id.json, "role": message.role.json, "text": .string(message.text), "time": time.json,
            "state": .string(state.word),
        ]
        fields["model"] = model.map { .string($0) }
        if case .failed(_, let reason) = state { fields["error"] = .string(reason) }
        return fields
    }

    private func transcript(at words: String) -> String {
        var lines = ["**\(message.role.rawValue)** · \(words)", ""]
        if !message.text.isEmpty { lines += [message.text, ""] }
        for part in message.parts {
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
}

/// There is no newest conversation.
private struct NoConversation: Failure {
    var code: String { "history.not-found" }
    var exit: ExitCode { .usage }
    var message: String { "there is no conversation yet; 'martlet chat' begins one" }
}

/// A call that the server did itself.
private struct NotOurCall: Failure {
    let name: String

    var code: String { "chat.call-of-server" }
    var exit: ExitCode { .usage }
    var message: String {
        "\(PlainText.escape(name)) was used by the server itself, with tools that are not here; ask the server to use it again"
    }
}

/// A call that was done again. One that failed is worth printing and still means that something is wrong.
struct RepeatedCall: OutputValue {
    let row: CallRow

    static var schema: Schema { CallRow.schema }
    var json: JSON { row.json }
    var exit: ExitCode { row.entry.result?.isError == true ? .toolFailed : .done }
}

/// A number that no call of a conversation has.
private struct NoSuchCall: Failure {
    let number: Int
    let known: [Int64]

    var code: String { "chat.call-unknown" }
    var exit: ExitCode { .usage }
    var message: String {
        "there is no call \(number) in this conversation; "
            + (known.isEmpty ? "no tool was used in it" : "it has \(known.map(String.init).joined(separator: ", "))")
    }
}

/// A tool call with everything that is known of it.
struct CallRow: Record {
    let entry: CallEntry

    init(_ entry: CallEntry) {
        self.entry = entry
    }

    static let fields: [Field<CallRow>] = [
        Field("call", "Its number", .name) { $0.entry.id.map { Int($0.rawValue) } },
        Field("tool", "Which tool") { PlainText.escape($0.entry.call.name) },
        Field("state", "How it went", .state) { $0.entry.state },
        Field("source", "Who offers it") { $0.entry.source },
        Field("started", "When it began") { $0.entry.started },
        Field("duration_ms", "How long it took") { row -> Int? in
            guard let start = row.entry.started, let end = row.entry.ended else { return nil }
            return Int((end - start) / .milliseconds(1))
        },
        Field("exit_code", "Of a command") { $0.entry.result?.exitCode },
        Field("input", "What went in") { $0.entry.call.input },
        Field("output", "What came out", .detail) { $0.entry.result?.content },
    ]
}

/// What `chat.list` takes.
struct ListArguments: ActionArguments {
    private(set) var limit = 0
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.limit, .option("limit", "At most so many", in: 1...100_000, default: 20)),
        bind(\.filter.model, .option("model", "Only with this model")),
        bind(\.filter.provider, .option("provider", "Only with this provider")),
        bind(\.filter.since, .option("since", "Only those since then")),
        bind(\.filter.until, .option("until", "Only those before then")),
        bind(\.filter.isDeleted, .flag("deleted", "Those that were deleted and can be had back")),
    ]

    init() {}
}

/// What `chat.search` takes.
struct SearchArguments: ActionArguments {
    private(set) var words: [String] = []
    private(set) var limit = 0
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.words, .argument("words", "Words, \"a phrase\", a beginning*, -without")),
        bind(\.limit, .option("limit", "At most so many", in: 1...1000, default: 20)),
        bind(\.filter.model, .option("model", "Only with this model")),
        bind(\.filter.since, .option("since", "Only since then")),
        bind(\.filter.until, .option("until", "Only before then")),
    ]

    init() {}
}

import Capabilities
import ChatHistory
import JSON
import Registry
import Screens
import TurnLoop

/// The screens of a conversation: what was said, the tool calls, what it took, and a place to write the next message.
///
/// What a turn of this program writes is seen at once. What another process stores is seen when the screen looks again.
/// Each time it reads only what may have changed.
struct ConversationScreen {
    let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    /// How many of the newest messages are read at first. A message has several entries, of which a feed keeps 10,000.
    private static let mostMessages = 4_000
    /// How many of the newest tool calls are listed.
    private static let mostCalls = 100
    /// When to look again while another process may be writing an answer, and otherwise.
    private static let (soon, later) = (Duration.milliseconds(500), Duration.seconds(2))
    /// When to look again while this program writes an answer, and how often the answer is shown at most.
    private static let (tick, frame) = (Duration.seconds(1), Duration.milliseconds(33))

    /// Where messages are written: `@` names files that go along, and `!` begins a command.
    static func composer(_ arguments: JSONObject) -> Composer {
        Composer(
            "chat.send", "message", files: "file", command: Composer.Target("chat.run", "command"),
            arguments: arguments, hint: "Write a message")
    }

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("chat.conversation", "Conversation", .detail, HistoryActions.newest) { screen, prefix in
                // A conversation that begins later does not take the place of the one that is shown.
                try await follow(try await HistoryActions(services).find(prefix).id, on: screen)
            }
            .details(
                "A call that a program was running when it ended is shown as interrupted once the conversation goes on."
            )
            .showingConversations())
    }

    /// The screen that begins a conversation with its first message, and then is the screen of that conversation.
    func addNew(to registry: inout RegistryBuilder) {
        registry.add(
            Screen(
                "chat.new", "New conversation", .tab("Sessions"),
                .option(
                    "model", "The model, such as openai/gpt-5, or the name of a server", as: String?.self,
                    completion: ChatCompletion.models)
            ) { screen, model in
                // The conversation gets this id, so that it is not mistaken for one that begins elsewhere. The first
                // message may change the settings, after which this begins again.
                let id = screen.kept {
                    var random = SystemRandomNumberGenerator()
                    return ConversationID(at: screen.context.host.now(), using: &random)
                }
                let live = services.live.conversation(id)
                while true {
                    let seen = live.signal.count
                    if try await services.history.existing(id) != nil { break }
                    try await screen.show(beginning(id, model))
                    try await screen.change(or: live.signal, beyond: seen)
                }
                try await follow(id, on: screen)
            }
            .details("Each time it is opened it begins another conversation."))
    }

    private func beginning(_ id: ConversationID, _ model: String?) -> Block {
        var arguments: JSONObject = ["session-id": .string(id.rawValue)]
        if let model { arguments["model"] = .string(model) }
        var text = "The first message begins the conversation."
        if let model = model ?? services.settings.model { text += " \(model) will answer." }
        return .stack(
            [
                Block(.text(RichText(text, .mutedForeground)), id: "about"),
                Block(.composer(Self.composer(arguments))),
            ], id: "conversation", title: "New conversation")
    }

    /// Shows a conversation for as long as the screen is open.
    private func follow(_ id: ConversationID, on screen: ScreenContext) async throws {
        let live = services.live.conversation(id)
        let host = screen.context.host
        var reader = Reader(id, in: screen.context.registry)
        var cause = ScreenChange.outdated
        while true {
            let (seen, now) = (live.signal.count, host.now())
            // Before the history, which has all of it by then.
            let snapshot = live.snapshot
            if cause != .raised || !reader.grow(snapshot, at: now) {
                try await reader.read(services.history, snapshot, at: now)
                try await screen.show(reader.block(at: now))
            }
            // What comes in the meantime is shown together.
            if cause == .raised { try await host.clock.sleep(for: Self.frame) }
            cause = try await screen.change(or: live.signal, beyond: seen, orAfter: reader.pause(at: now))
        }
    }

    /// What was read of a conversation so far.
    private struct Reader {
        private let id: ConversationID
        /// What other features offer for a conversation.
        private let others: [Link]
        private var transcript = TranscriptFeed()
        private var calls: [CallEntry] = []
        /// When the person sent the newest message.
        private var asked: Timestamp?
        /// How full the context of the model was with the newest answer; nil if that is not known.
        private var context: ContextFill?
        /// What was read last, with the messages that may still change.
        private var news: ConversationNews?
        private var live = LiveConversation.Snapshot()
        private var isRead = Timestamp(microseconds: 0)
        /// Whether a picture was sent.
        private var hasPicture = false

        init(_ id: ConversationID, in registry: Registry) {
            self.id = id
            others = registry.present([
                .screen("trace.traces", "Traces", key: "w", ["about": .value(.string(id.rawValue))])
            ])
        }

        /// Shows more of the answers that grow.
        ///
        /// - Returns: false if something else has changed, or if it is time to read all of that again.
        mutating func grow(_ snapshot: LiveConversation.Snapshot, at now: Timestamp) -> Bool {
            let age = now - isRead
            guard let news, snapshot.stored == live.stored, age >= .zero, age < tick else { return false }
            live = snapshot
            return transcript.take(
                news.growing(snapshot), outputs: snapshot.outputs, running: snapshot.command)
        }

        /// Reads what is new, and adds it to what was read before.
        mutating func read(
            _ history: History, _ snapshot: LiveConversation.Snapshot, at now: Timestamp
        ) async throws {
            // The calls from the first on that may still change.
            let call = calls.first { !$0.state.isEnded }?.id ?? calls.last?.id
            var news = try await history.news(
                of: id, from: transcript.message, call, limit: mostMessages, mostCalls: mostCalls)
            keep(news.calls)
            news.calls = calls
            if !transcript.take(news.growing(snapshot), outputs: snapshot.outputs, running: snapshot.command) {
                news = try await history.news(of: id, limit: mostMessages, mostCalls: mostCalls)
                (transcript, calls, asked, context) = (TranscriptFeed(), news.calls, nil, nil)
                _ = transcript.take(
                    news.growing(snapshot), outputs: snapshot.outputs, running: snapshot.command)
            }
            hasPicture = hasPicture || news.entries.contains { !$0.message.pictures.isEmpty }
            if let question = news.entries.last(where: { $0.message.role == .user }) { asked = question.time }
            if let answer = news.entries.last(where: { $0.usage.inputTokens != nil }) { context = ContextFill(answer) }
            (live, isRead) = (snapshot, now)
            // As if it had been read from there on.
            if let first = transcript.message { news.entries.removeAll { $0.id < first } }
            news.isContinued = true
            self.news = news
        }

        private mutating func keep(_ new: [CallEntry]) {
            if let first = new.first?.id?.rawValue { calls.removeAll { ($0.id?.rawValue ?? 0) >= first } }
            calls = (calls + new).suffix(mostCalls)
        }

        /// Whether an answer is being written, as far as that can be seen.
        private func isGrowing(at now: Timestamp) -> Bool {
            if live.isAnswering { return true }
            guard let news, let newest = news.entries.last else { return false }
            if newest.state == .streaming { return true }
            // Nothing answers a command of the person.
            if PersonCommand(newest.message) != nil { return false }
            // Before the first word of an answer, and while tools run, nothing says whether their process still works.
            let isAnswered = newest.message.role == .assistant && newest.message.calls.allSatisfy(\.isDone)
            return !isAnswered && now - news.conversation.updated < .seconds(60)
        }

        /// When to look again.
        func pause(at now: Timestamp) -> Duration {
            live.isAnswering || live.command != nil ? tick : isGrowing(at: now) ? soon : later
        }

        // MARK: What is shown

        func block(at now: Timestamp) -> Block {
            guard let news else { return Block(.placeholder(Placeholder(.loading, "Loading …"))) }
            let conversation = news.conversation
            let argument: [String: Link.Argument] = ["conversation": .value(.string(id.rawValue))]
            var blocks = [Block(.transcript(Screens.Transcript(transcript.feed)))]
            if !calls.isEmpty {
                blocks.append(
                    Block(
                        .timeline(Timeline(calls.map { $0.step(isOver: isOver($0)) })), id: "calls",
                        title: "Tool calls", links: [.screen("chat.tools", "Inspect", key: "t", argument)]))
            }
            let telemetry = Telemetry(
                conversation, answer: answerTokens, context: context, elapsed: elapsed(now), state: state(now))
            blocks.append(Block(.values(Values(telemetry))))
            blocks.append(
                Block(.composer(ConversationScreen.composer(["conversation": .string(id.rawValue)]))))
            var links: [Link] = [
                .action("chat.rename", "Rename", key: "r", argument),
                .action("chat.use", "Other model", key: "o", argument),
                .action("chat.fork", "Fork", key: "f", argument),
                .action("chat.export", "Export", key: "e", argument),
                .action("chat.delete", "Delete", key: "d", argument),
                .screen("chat.tools", "Tool calls", key: "t", argument),
                .screen("chat.new", "New", key: "n", model(of: conversation)),
            ]
            links += others
            if hasPicture { links.append(.action("chat.picture", "Show picture", key: "i", argument)) }
            if asked != nil, !isGrowing(at: now) {
                links.insert(.action("chat.retry", "Retry", key: "a", argument), at: 0)
            }
            // The first message names it, and a command may come before that.
            let title = conversation.title.isEmpty ? "New conversation" : conversation.title
            return Block(.stack(Stack(blocks)), id: "conversation", title: title, links: links)
        }

        /// The model of a conversation as an argument, if one was chosen.
        private func model(of conversation: Conversation) -> [String: Link.Argument] {
            guard let provider = conversation.setup.provider else { return [:] }
            let model = conversation.setup.model.flatMap { $0.isEmpty ? nil : "\(provider)/\($0)" } ?? provider
            return ["model": .value(.string(model))]
        }

        /// Whether a call that has no result will not get one any more: the conversation went on without it.
        private func isOver(_ call: CallEntry) -> Bool {
            let last = news?.entries.last { $0.message.role != .tool }
            return last?.message.calls.contains { $0.id == call.call.id && $0.name == call.call.name } != true
        }

        /// The tokens of the answer that is being written, as the server or an estimate counts them.
        private var answerTokens: Int? {
            guard let answer = news?.growing(live).entries.last, answer.state == .streaming else { return nil }
            if let count = live.answers[answer.id]?.usage?.outputTokens, count > 0 { return count }
            return answer.message.parts.isEmpty ? 0 : TokenEstimate().tokens(of: answer.message)
        }

        /// The time from the newest question to its answer, or to now.
        private func elapsed(_ now: Timestamp) -> Duration? {
            guard let asked, let news else { return nil }
            let end = isGrowing(at: now) ? now : news.conversation.updated
            return end < asked ? nil : .seconds(((end - asked) / .seconds(1)).rounded())
        }

        private func state(_ now: Timestamp) -> String {
            if news?.conversation.deleted != nil { return "deleted" }
            if calls.contains(where: { $0.state == .waiting && !isOver($0) }) { return "waiting for approval" }
            if live.command != nil { return "running a command" }
            return isGrowing(at: now) ? "answering" : "ready"
        }
    }
}

/// What is known about a conversation besides its messages.
private struct Telemetry: Record {
    let conversation: Conversation
    let answer: Int?
    let context: ContextFill?
    let elapsed: Duration?
    let state: String

    init(
        _ conversation: Conversation, answer: Int?, context: ContextFill?, elapsed: Duration?, state: String
    ) {
        self.conversation = conversation
        self.answer = answer
        self.context = context
        self.elapsed = elapsed
        self.state = state
    }

    static let fields: [Field<Telemetry>] = [
        Field("id", "Id of the conversation", .name) { $0.conversation.id },
        Field("state", "What is happening now", .state) { $0.state },
        Field("model", "The model that answers") { $0.conversation.setup.model },
        Field("provider", "The provider of the model") { $0.conversation.setup.provider },
        Field("messages", "Number of messages") { $0.conversation.messages },
        Field("input_tokens", "Tokens read by the model") { $0.conversation.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.conversation.usage.outputTokens },
        Field("answer_tokens", "Tokens of the answer so far, estimated until its server counts them") { $0.answer },
        Field("context", "How full the context of the model was with the newest answer") { $0.context?.words },
        Field("cost_usd", "Cost in US dollars, as far as it is known") { $0.conversation.usage.cost },
        Field("elapsed", "Time from the newest question to its answer, so far") { $0.elapsed },
        Field("updated", "When it last changed", .minor) { $0.conversation.updated },
    ]
}

/// How much of the context of its model an answer has filled.
private struct ContextFill {
    let words: String

    /// Nil if the server reported no tokens, or if the model is not known.
    init?(_ answer: Entry) {
        guard let provider = answer.provider, let model = answer.model, let read = answer.usage.inputTokens,
            let room = ModelTable.known.description(of: model, provider: provider)?.contextTokens, room > 0
        else { return nil }
        // What servers invent is not too large for it.
        let used = Double(read) + Double(answer.usage.outputTokens ?? 0)
        words = "\(Int(min(100, (used / Double(room) * 100).rounded())))% of \(room) tokens"
    }
}

extension ConversationNews {
    /// The same with more of the answers that grow, unless the history has as much of them.
    fileprivate func growing(_ live: LiveConversation.Snapshot) -> ConversationNews {
        guard !live.answers.isEmpty else { return self }
        var news = self
        for (index, entry) in entries.enumerated() where entry.state == .streaming {
            guard let growth = live.answers[entry.id], growth.parts.size > entry.message.parts.size else { continue }
            news.entries[index].message.parts = growth.parts
        }
        return news
    }
}

extension [Message.Part] {
    /// How much there is: it only gets more while an answer grows.
    fileprivate var size: Int {
        reduce(0) { size, part in
            switch part {
            case .text(let text), .refusal(let text): size + 1 + text.utf8.count
            case .reasoning(let thought): size + 1 + thought.text.utf8.count
            case .call, .malformedCall, .result, .attachment: size + 1
            }
        }
    }
}

extension CallEntry {
    /// - Parameter isOver: whether it will not get a result any more.
    fileprivate func step(isOver: Bool) -> Timeline.Step {
        let output = result?.content.split(whereSeparator: \.isNewline).first.map { String($0.prefix(120)) }
        return Timeline.Step(
            id.map { String($0.rawValue) } ?? call.id, call.name,
            state: isOver && !state.isEnded ? "interrupted" : state.rawValue, start: started,
            duration: started.flatMap { start in
                ended.map { .milliseconds((($0 - start) / .milliseconds(1)).rounded()) }
            },
            exitCode: result?.exitCode, note: output)
    }
}

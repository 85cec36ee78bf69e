import Capabilities
import ChatHistory
import JSON
import Registry
import Screens

/// The screen of a conversation: what was said, the tool calls, what it took, and a place to write the next message.
///
/// What this session or another process stores is seen when the screen looks again. Each time it reads only what may
/// have changed.
struct ConversationScreen {
    let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    /// How many of the newest messages are read at first. A message has several entries, of which a feed keeps 10,000.
    private static let mostMessages = 4_000
    /// How many of the newest tool calls are listed.
    private static let mostCalls = 100
    /// When to look again while an answer is being written, and otherwise.
    private static let (soon, later) = (Duration.milliseconds(500), Duration.seconds(2))

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("chat.conversation", "Conversation", .detail, HistoryActions.newest) { screen, prefix in
                // A conversation that begins later does not take the place of the one that is shown.
                let id = try await HistoryActions(services).find(prefix).id
                var reader = Reader(id)
                var pause = Self.later
                repeat {
                    let news = try await reader.read(services.history)
                    let now = screen.context.host.now()
                    try await screen.show(reader.block(news, at: now))
                    pause = reader.isGrowing(news, at: now) ? Self.soon : Self.later
                } while try await screen.changed(orAfter: pause)
            }
            .details(
                "A call that a program was running when it ended is shown as interrupted once the conversation goes on."
            ))
    }

    /// What was read of a conversation so far.
    private struct Reader {
        private let id: ConversationID
        private var transcript = TranscriptFeed()
        private var calls: [CallEntry] = []
        /// When the person sent the newest message.
        private var asked: Timestamp?

        init(_ id: ConversationID) { self.id = id }

        /// Reads what is new, and adds it to what was read before.
        mutating func read(_ history: History) async throws -> ConversationNews {
            // The calls from the first on that may still change.
            let call = calls.first { !$0.state.isEnded }?.id ?? calls.last?.id
            var news = try await history.news(
                of: id, from: transcript.message, call, limit: mostMessages, mostCalls: mostCalls)
            keep(news.calls)
            news.calls = calls
            if !transcript.take(news) {
                news = try await history.news(of: id, limit: mostMessages, mostCalls: mostCalls)
                (transcript, calls, asked) = (TranscriptFeed(), news.calls, nil)
                _ = transcript.take(news)
            }
            if let question = news.entries.last(where: { $0.message.role == .user }) { asked = question.time }
            return news
        }

        private mutating func keep(_ new: [CallEntry]) {
            if let first = new.first?.id?.rawValue { calls.removeAll { ($0.id?.rawValue ?? 0) >= first } }
            calls = (calls + new).suffix(mostCalls)
        }

        /// Whether an answer is being written, as far as that can be seen.
        func isGrowing(_ news: ConversationNews, at now: Timestamp) -> Bool {
            guard let newest = news.entries.last else { return false }
            if newest.state == .streaming { return true }
            // Before the first word of an answer, and while tools run, nothing says whether their process still works.
            let isAnswered = newest.message.role == .assistant && newest.message.calls.allSatisfy(\.isDone)
            return !isAnswered && now - news.conversation.updated < .seconds(60)
        }

        // MARK: What is shown

        func block(_ news: ConversationNews, at now: Timestamp) -> Block {
            let conversation = news.conversation
            let argument: [String: Link.Argument] = ["conversation": .value(.string(id.rawValue))]
            var blocks = [Block(.transcript(Screens.Transcript(transcript.feed)))]
            if !calls.isEmpty {
                blocks.append(
                    Block(
                        .timeline(Timeline(calls.map { $0.step(isOver: isOver($0, news)) })), id: "calls",
                        title: "Tool calls", links: [.screen("chat.tools", "Inspect", key: "t", argument)]))
            }
            blocks.append(
                Block(.values(Values(Telemetry(conversation, elapsed: elapsed(news, now), state: state(news, now))))))
            blocks.append(
                Block(
                    .composer(
                        Composer(
                            "chat.send", "message", arguments: ["conversation": .string(id.rawValue)],
                            hint: "Write a message"))))
            return Block(
                .stack(Stack(blocks)), id: "conversation", title: conversation.title,
                links: [
                    .action("chat.rename", "Rename", key: "r", argument),
                    .action("chat.fork", "Fork", key: "f", argument),
                    .action("chat.export", "Export", key: "e", argument),
                    .action("chat.delete", "Delete", key: "d", argument),
                    .screen("chat.tools", "Tool calls", key: "t", argument),
                ])
        }

        /// Whether a call that has no result will not get one any more: the conversation went on without it.
        private func isOver(_ call: CallEntry, _ news: ConversationNews) -> Bool {
            let last = news.entries.last { $0.message.role != .tool }
            return last?.message.calls.contains { $0.id == call.call.id && $0.name == call.call.name } != true
        }

        /// The time from the newest question to its answer, or to now.
        private func elapsed(_ news: ConversationNews, _ now: Timestamp) -> Duration? {
            guard let asked else { return nil }
            let end = isGrowing(news, at: now) ? now : news.conversation.updated
            return end < asked ? nil : .seconds(((end - asked) / .seconds(1)).rounded())
        }

        private func state(_ news: ConversationNews, _ now: Timestamp) -> String {
            if news.conversation.deleted != nil { return "deleted" }
            if calls.contains(where: { $0.state == .waiting && !isOver($0, news) }) { return "waiting for approval" }
            return isGrowing(news, at: now) ? "answering" : "ready"
        }
    }
}

/// What is known about a conversation besides its messages.
private struct Telemetry: Record {
    let conversation: Conversation
    let elapsed: Duration?
    let state: String

    init(_ conversation: Conversation, elapsed: Duration?, state: String) {
        self.conversation = conversation
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
        Field("cost_usd", "Cost in US dollars, as far as it is known") { $0.conversation.usage.cost },
        Field("elapsed", "Time from the newest question to its answer, so far") { $0.elapsed },
        Field("updated", "When it last changed", .minor) { $0.conversation.updated },
    ]
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

import Capabilities
import ChatHistory
import JSON
import Screens

/// Keeps the transcript of a conversation up to date: it appends what is new, and replaces the newest entry while that
/// is being written.
///
/// Of calls that run side by side, only the first that has not ended is in the transcript, because a feed can replace
/// only its newest entry. The others follow when it has ended.
struct TranscriptFeed {
    /// The entries.
    let feed = Feed<Screens.Transcript.Entry>()
    /// The first message that may still change; nil before anything was read.
    private(set) var message: MessageID?
    /// The entries of the messages from `message` on, as they are in the feed.
    private var tail: [Screens.Transcript.Entry] = []

    /// Adds what was read from `message` on.
    ///
    /// - Parameters:
    ///   - outputs: what running tools have printed so far, by the id of the call.
    ///   - running: a command of the person that is running.
    /// - Returns: false if it does not continue what is here, so that another transcript has to begin.
    mutating func take(
        _ news: ConversationNews, outputs: [String: String] = [:], running: LiveConversation.Command? = nil
    ) -> Bool {
        guard message == nil || news.isContinued else { return false }
        if message == nil, news.conversation.messages > news.entries.count {
            feed.append(Self.omission(news))
        }
        var parts = Self.parts(of: news.entries, news.calls, outputs)
        if let running { parts.append(Self.part(of: running)) }
        let shown = parts.firstIndex { $0.isPending }.map { parts.prefix(through: $0) } ?? parts[...]
        let entries = shown.map(\.entry)
        let same = zip(entries, tail).prefix { $0 == $1 }.count
        if same < tail.count {
            guard same == tail.count - 1, entries.count > same else { return false }
            feed.replaceLast(with: entries[same])
            feed.append(Array(entries.dropFirst(same + 1)))
        } else {
            feed.append(Array(entries.dropFirst(same)))
        }
        // The results of calls are in the messages after them.
        message = (news.entries.last { $0.message.role != .tool } ?? news.entries.first)?.id
        // Without messages there can only be a command that is running.
        tail = shown.filter { part in message.map { part.message >= $0 } ?? true }.map(\.entry)
        return true
    }

    /// Says that older messages are not shown.
    private static func omission(_ news: ConversationNews) -> Screens.Transcript.Entry {
        let count = news.conversation.messages - news.entries.count
        return Screens.Transcript.Entry(
            "omission", .notice,
            "\(count == 1 ? "1 older message is" : "\(count) older messages are") not shown here; "
                + "'martlet chat show \(news.conversation.id.tag)' shows all")
    }
}

// MARK: The entries of messages

extension TranscriptFeed {
    /// An entry, and the message that it comes from.
    private struct Part {
        let message: MessageID
        let entry: Screens.Transcript.Entry
        /// Whether it is a tool call that has not ended.
        let isPending: Bool
    }

    private static func parts(
        of entries: [Entry], _ calls: [CallEntry], _ outputs: [String: String]
    ) -> [Part] {
        let results = ResultIndex(entries)
        var calls = CallIndex(calls)
        var parts: [Part] = []
        // The time of the next message that is not about results.
        var next: Timestamp?
        // Backwards, because the ids that models give to calls repeat, and the newest calls are known.
        for (number, entry) in entries.enumerated().reversed() {
            defer { if entry.message.role != .tool { next = entry.time } }
            if let command = PersonCommand(entry.message) {
                parts.append(part(of: command, in: entry))
                continue
            }
            let isOpen = entry.state == .streaming
            if let end = end(of: entry) { parts.append(Part(message: entry.id, entry: end, isPending: false)) }
            let pieces = entry.message.parts
            for (index, piece) in pieces.enumerated().reversed() {
                func add(
                    _ author: Screens.Transcript.Author, _ text: String, title: String? = nil, state: String? = nil,
                    isPending: Bool = false
                ) {
                    let isLast = isOpen && index == pieces.count - 1
                    parts.append(
                        Part(
                            message: entry.id,
                            entry: Screens.Transcript.Entry(
                                "\(entry.id).\(index)", author, text, time: entry.time, title: title, state: state,
                                isOpen: isLast || isPending), isPending: isPending))
                }
                switch piece {
                case .text(let text): add(entry.message.role.author, text, title: entry.model)
                case .refusal(let text): add(.model, text, title: entry.model, state: "refused")
                // Sealed reasoning has no text that can be read.
                case .reasoning(let thought): if !thought.text.isEmpty { add(.thought, thought.text) }
                case .attachment(let file): add(.notice, file.name, title: "attachment")
                case .malformedCall(let call):
                    add(.tool, "\(excerpt(call.text))\n\n\(call.reason)", title: call.name, state: "failed")
                case .call(let call):
                    let stored = calls.take(call, from: entry.time, to: next)
                    // The stored result is whole, and is there before the message for the model.
                    let result = stored?.result ?? results.result(of: call, in: entry.id)
                    // Something that follows means that the call is over, even if its process ended before it did.
                    let isLast =
                        (number == entries.count - 1
                            || entries[number...].dropFirst().allSatisfy { $0.message.role == .tool })
                        && pieces[index...].allSatisfy(\.isOfCall)
                    let isPending = isLast && result == nil && (isOpen || !call.isDone)
                    add(
                        .tool, text(of: call, result?.content ?? (isPending ? outputs[call.id] : nil)),
                        title: call.name,
                        state: word(stored?.state, result, isPending: isPending, isDone: call.isDone),
                        isPending: isPending)
                case .result(let result):
                    // Usually it is shown with its call.
                    if results.isAlone(result, in: entry.id) {
                        add(.tool, excerpt(result.content), state: result.isError ? "failed" : "done")
                    }
                }
            }
            if isOpen, pieces.isEmpty {
                let waiting = Screens.Transcript.Entry(
                    "\(entry.id).0", .model, "", time: entry.time, title: entry.model, isOpen: true)
                parts.append(Part(message: entry.id, entry: waiting, isPending: false))
            }
        }
        return parts.reversed()
    }

    /// How an answer ended, if it is not complete.
    private static func end(of entry: Entry) -> Screens.Transcript.Entry? {
        let (state, text): (String, String)
        switch entry.state {
        case .complete, .streaming: return nil
        case .stopped: (state, text) = ("stopped", "The answer was stopped.")
        case .failed(_, let message): (state, text) = ("failed", message)
        case .truncated: (state, text) = ("truncated", "The answer was cut off at the token limit.")
        case .interrupted: (state, text) = ("interrupted", "The program ended before the answer was complete.")
        }
        return Screens.Transcript.Entry("\(entry.id).end", .notice, text, time: entry.time, state: state)
    }

    // MARK: Commands of the person

    /// What a command is shown under, so that nobody takes it for one of the model.
    private static func title(ofCommand command: String) -> String {
        "!\(PlainText.escape(command, limit: 80))"
    }

    private static func part(of command: PersonCommand, in entry: Entry) -> Part {
        let shown = Screens.Transcript.Entry(
            "\(entry.id).0", .tool, excerpt(command.result.content), time: entry.time,
            title: title(ofCommand: command.command), state: command.state)
        return Part(message: entry.id, entry: shown, isPending: false)
    }

    /// It comes after all messages, and gives way to the one that is stored at its end.
    private static func part(of running: LiveConversation.Command) -> Part {
        let shown = Screens.Transcript.Entry(
            "running", .tool, running.output, title: title(ofCommand: running.text), state: "running", isOpen: true)
        return Part(message: MessageID(rawValue: .max), entry: shown, isPending: true)
    }

    // MARK: Calls

    /// The longest text of an input or of an output.
    private static let longest = 4_000

    private static func text(of call: ToolCall, _ output: String?) -> String {
        var texts: [String] = []
        if let input = call.input.object, !input.isEmpty { texts.append(excerpt(call.input.text())) }
        if let output, !output.isEmpty { texts.append(excerpt(output)) }
        return texts.joined(separator: "\n\n")
    }

    private static func excerpt(_ text: String) -> String {
        guard text.utf8.count > longest else { return text }
        let cut = text[..<text.utf8.index(text.startIndex, offsetBy: longest)]
        return "\(cut)…\n(\(ByteCount(text.utf8.count - longest).words) more; 'martlet chat inspect' shows all)"
    }

    private static func word(
        _ state: CallEntry.State?, _ result: ToolResult?, isPending: Bool, isDone: Bool
    ) -> String {
        if let state, isPending || state.isEnded { return state.rawValue }
        if let result { return result.isError ? "failed" : "done" }
        // Not every server reports results of the tools that it runs.
        return isPending ? (isDone ? "running" : "waiting") : isDone ? "done" : "interrupted"
    }
}

/// The results of calls by the message with the call.
private struct ResultIndex {
    private var results: [MessageID: [String: ToolResult]] = [:]
    /// The message with the calls that the results in a message answer.
    private var origins: [MessageID: MessageID] = [:]
    private var asked: [MessageID: Set<String>] = [:]

    init(_ entries: [Entry]) {
        var origin: MessageID?
        for entry in entries {
            if entry.message.role != .tool { origin = entry.id }
            guard let origin else { continue }
            origins[entry.id] = origin
            for part in entry.message.parts {
                switch part {
                case .result(let result): results[origin, default: [:]][result.call] = result
                case .call(let call): asked[origin, default: []].insert(call.id)
                case .malformedCall(let call): asked[origin, default: []].insert(call.id)
                case .text, .reasoning, .refusal, .attachment: break
                }
            }
        }
    }

    func result(of call: ToolCall, in message: MessageID) -> ToolResult? { results[message]?[call.id] }

    /// Whether the call of a result is not known.
    func isAlone(_ result: ToolResult, in message: MessageID) -> Bool {
        origins[message].flatMap { asked[$0] }?.contains(result.call) != true
    }
}

/// Stored calls, each for one call in a message.
private struct CallIndex {
    private var calls: [String: [CallEntry]] = [:]

    init(_ calls: [CallEntry]) { self.calls = Dictionary(grouping: calls, by: \.call.id) }

    /// The newest stored call that is this one and was not taken yet. The ids that models give to calls repeat, so that
    /// it has to be the same call, between the message that asks for it and the next one.
    mutating func take(_ call: ToolCall, from start: Timestamp, to end: Timestamp?) -> CallEntry? {
        let index = calls[call.id]?.lastIndex { stored in
            guard stored.call.name == call.name, stored.call.input == call.input else { return false }
            // A call that waits for approval has no time yet.
            guard let time = stored.started ?? stored.ended else { return true }
            return time >= start && end.map { time <= $0 } != false
        }
        return index.flatMap { calls[call.id]?.remove(at: $0) }
    }
}

extension CallEntry.State {
    /// Whether the call has ended, or will never run.
    var isEnded: Bool {
        switch self {
        case .waiting, .approved, .running: false
        case .denied, .done, .failed: true
        }
    }
}

extension Message.Role {
    fileprivate var author: Screens.Transcript.Author {
        switch self {
        case .user: .person
        case .assistant: .model
        case .tool: .tool
        case .system: .notice
        }
    }
}

extension Message.Part {
    /// Whether it is a call or the result of one.
    fileprivate var isOfCall: Bool {
        switch self {
        case .call, .malformedCall, .result: true
        case .text, .reasoning, .refusal, .attachment: false
        }
    }
}

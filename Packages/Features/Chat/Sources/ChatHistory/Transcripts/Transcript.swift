public import Capabilities
import JSON
import ModelKit
import StorageKit

/// A conversation outside of the history, to be exported or imported.
public struct Transcript: Sendable, Hashable {
    /// The title; nil if the document has none.
    public var title: String?
    /// The provider, the model and the system prompt. An import takes over neither options nor tool rules.
    public var setup: ConversationSetup
    /// When the conversation was started; nil if the document does not say.
    public var created: Timestamp?
    /// When the conversation last changed; nil if the document does not say.
    public var updated: Timestamp?
    /// All messages, each after its predecessor.
    public internal(set) var items: [Item]
    /// The index of the newest message.
    public private(set) var head: Int?
    /// The tool calls with their whole results, in order.
    public var calls: [CallEntry]

    /// A message of a transcript.
    public struct Item: Sendable, Hashable {
        /// The index of the message before it; nil for the first one.
        public let parent: Int?
        /// The content.
        public var message: Message
        /// Whether it is complete, and why not.
        public let state: Entry.State
        /// The provider, for an answer.
        public let provider: String?
        /// The model, for an answer.
        public let model: String?
        /// When it was sent; nil if the document does not say.
        public let time: Timestamp?
        /// What the server reported at the start of an answer.
        public let start: ChatStart?
        /// Why the model stopped, for an answer whose end was reported.
        public let finish: ChatAnswer.Finish?
        /// The usage of an answer; nil if none was reported.
        public let usage: Usage?

        init(
            parent: Int?, _ message: Message, state: Entry.State = .complete, provider: String? = nil,
            model: String? = nil, time: Timestamp? = nil, start: ChatStart? = nil, finish: ChatAnswer.Finish? = nil,
            usage: Usage? = nil
        ) {
            self.parent = parent
            self.message = message
            self.state = state
            self.provider = provider
            self.model = model
            self.time = time
            self.start = start
            self.finish = finish
            self.usage = usage
        }
    }

    /// A sequence of messages.
    public init(title: String? = nil, setup: ConversationSetup = ConversationSetup(), messages: [Message]) {
        let items = messages.enumerated().map { Item(parent: $0.offset == 0 ? nil : $0.offset - 1, $0.element) }
        self.init(title: title, setup: setup, items: items, head: items.indices.last)
    }

    init(
        title: String?, setup: ConversationSetup, created: Timestamp? = nil, updated: Timestamp? = nil, items: [Item],
        head: Int?, calls: [CallEntry] = []
    ) {
        self.title = title
        self.setup = setup
        self.created = created
        self.updated = updated
        self.items = items
        self.head = head
        self.calls = calls
    }

    /// Entries in the order of their ids, so that each message comes after its predecessor.
    init(_ conversation: Conversation, _ entries: [Entry], calls: [CallEntry]) {
        var places: [MessageID: Int] = [:]
        for (place, entry) in entries.enumerated() { places[entry.id] = place }
        let items = entries.map { entry in
            Item(
                parent: entry.parent.flatMap { places[$0] }, entry.message, state: entry.state,
                provider: entry.provider, model: entry.model, time: entry.time, start: entry.start,
                finish: entry.finish, usage: entry.usage == Usage() ? nil : entry.usage)
        }
        self.init(
            title: conversation.title, setup: conversation.setup, created: conversation.created,
            updated: conversation.updated, items: items, head: conversation.head.flatMap { places[$0] }, calls: calls)
    }

    /// The messages on the path to the newest one.
    public var path: [Item] {
        var path: [Item] = []
        var next = head
        while let place = next {
            path.append(items[place])
            next = items[place].parent
        }
        return path.reversed()
    }
}

/// The format of a transcript.
public enum TranscriptFormat: String, Choice, Hashable {
    /// For reading. An import has the roles, the texts and the tool calls; attachments are only named.
    case markdown
    /// Everything, to be imported elsewhere without loss.
    case json
    /// The messages of OpenAI's Chat Completions.
    case openai
    /// The messages of Anthropic.
    case anthropic
}

extension Transcript {
    /// The whole text of a file.
    public func text(as format: TranscriptFormat) -> String {
        switch format {
        case .markdown: markdown
        case .json: json.text(.pretty) + "\n"
        case .openai: openAI.text(.pretty) + "\n"
        case .anthropic: anthropic.text(.pretty) + "\n"
        }
    }

    /// Reads a file. Without a format it is detected.
    ///
    /// Throws `HistoryError.invalid`, which names the place of the problem, such as `messages.3.role`.
    public init(parsing bytes: [UInt8], as format: TranscriptFormat? = nil) throws(HistoryError) {
        let isJSON = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 == 0x7B || $0 == 0x5B } ?? false
        if format == .markdown || format == nil && !isJSON {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw HistoryError(.invalid, "the document is not valid UTF-8 text; save it as UTF-8 and try again")
            }
            self = try Transcript(markdown: text)
            return
        }
        let json: JSON
        do {
            json = try JSON(parsing: bytes, reading: .deep)
        } catch {
            throw HistoryError(.invalid, "the document is not valid JSON: \(PlainText.escape(error.description))")
        }
        let format = format ?? Self.format(of: json)
        do throws(ValueError) {
            switch format {
            case .openai: self = try Transcript(openAI: json)
            case .anthropic: self = try Transcript(anthropic: json)
            default: self = try Transcript(json: json)
            }
        } catch {
            throw HistoryError(
                .invalid,
                "the document is not a conversation in the format '\(format.rawValue)': "
                    + PlainText.escape(error.description))
        }
    }

    private static func format(of json: JSON) -> TranscriptFormat {
        if json["martlet"] != nil { return .json }
        let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"]
        let hasBlocks = (json["messages"]?.array ?? json.array ?? []).contains { message in
            (message["content"]?.array ?? []).contains { blocks.contains($0["type"]?.string ?? "") }
        }
        return json["system"] != nil || hasBlocks ? .anthropic : .openai
    }
}

extension History {
    /// A conversation with all its messages and branches, to be exported.
    public func transcript(of id: ConversationID) async throws -> Transcript {
        try await database.read { [drafts] connection in
            let stored = try connection.conversation(id)
            var entries: [MessageID: Entry] = [:]
            if let head = stored.conversation.head {
                for entry in try connection.path(to: head, drafts) { entries[entry.id] = entry }
            }
            for entry in try connection.entries(drafts, "WHERE m.conversation = ?", stored.row) {
                // The path to it may lead through messages of other conversations.
                for entry in try entries[entry.id] == nil ? connection.path(to: entry.id, drafts) : [] {
                    entries[entry.id] = entry
                }
            }
            return Transcript(
                stored.conversation, entries.values.sorted { $0.id < $1.id },
                calls: try connection.timeline(of: stored.row))
        }
    }

    /// Imports a conversation as a new one. Its options and tool rules are not taken over, because the user has not
    /// chosen them. Times in the future are not taken over either, because the conversation would stay the newest.
    @discardableResult
    public func add(_ transcript: Transcript) async throws -> Conversation {
        let (now, transcript) = (now(), kept(transcript))
        return try await database.write { connection in
            let created = min(now, transcript.created ?? transcript.items.compactMap(\.time).min() ?? now)
            let updated = min(now, transcript.updated ?? transcript.items.compactMap(\.time).max() ?? now)
            let first = transcript.items.first { $0.message.role == .user }?.message
            let title = Line.cut(transcript.title ?? "", 200)
            var setup = transcript.setup
            (setup.options, setup.tools) = ([:], [:])
            let (row, id) = try connection.insert(
                setup, title: title.isEmpty ? first.map(Line.title) ?? "" : title, created: created,
                updated: updated)
            let messages = try connection.insert(transcript.items, into: row, at: created, until: now)
            if let head = transcript.head { try connection.setHead(messages[head], of: row) }
            let usage = transcript.items.reduce(Usage()) { $0.adding($1.usage ?? Usage()) }
            try connection.run(
                "UPDATE conversations SET usage = ? WHERE id = ?", EntryCoder.json(usage).text(), row)
            for call in transcript.calls { _ = try connection.note(call, in: row, at: call.started ?? created) }
            return try connection.conversation(id).conversation
        }
    }
}

extension History {
    private func kept(_ transcript: Transcript) -> Transcript {
        var transcript = transcript
        transcript.title = transcript.title.map { kept($0) }
        transcript.setup = kept(transcript.setup)
        // The user has not chosen these either, so they are redacted like all other texts.
        transcript.setup.provider = transcript.setup.provider.map { kept($0) }
        transcript.setup.model = transcript.setup.model.map { kept($0) }
        transcript.setup.server = transcript.setup.server.map { kept($0) }
        transcript.setup.deployment = transcript.setup.deployment.map { kept($0) }
        transcript.items = transcript.items.map { kept($0) }
        transcript.calls = transcript.calls.map { kept($0) }
        return transcript
    }

    private func kept(_ item: Transcript.Item) -> Transcript.Item {
        var state = item.state
        if case .failed(let code, let message) = state { state = .failed(code: kept(code), message: kept(message)) }
        var start = item.start
        start?.id = item.start?.id.map { kept($0) }
        start?.model = item.start?.model.map { kept($0) }
        return Transcript.Item(
            parent: item.parent, kept(item.message), state: state, provider: item.provider.map { kept($0) },
            model: item.model.map { kept($0) }, time: item.time, start: start,
            finish: item.finish.map { ChatAnswer.Finish(word: kept($0.word)) }, usage: item.usage)
    }
}

extension Connection {
    /// The ids in the order of the items.
    fileprivate func insert(
        _ items: [Transcript.Item], into row: Int64, at time: Timestamp, until now: Timestamp
    ) throws -> [MessageID] {
        var (ids, positions): ([MessageID], [Int]) = ([], [])
        for item in items {
            // A session belongs to its original conversation, and a document could name any session.
            let start = item.start.map { start in
                var start = start
                (start.session, start.project) = (nil, nil)
                return start
            }
            let new = NewEntry(
                message: item.message, state: item.state == .streaming ? .interrupted : item.state,
                provider: item.provider, model: item.model, time: min(now, item.time ?? time), start: start,
                finish: item.finish, usage: item.usage)
            let position = item.parent.map { positions[$0] + 1 } ?? 0
            // The conversation is the first of its tree, so the tree has its number.
            ids.append(
                try insert(new, into: row, tree: row, after: item.parent.map { ids[$0] }, position: position))
            positions.append(position)
        }
        return ids
    }
}

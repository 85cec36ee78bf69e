public import Capabilities

/// A conversation outside the history, on its way to or from a file.
public struct Transcript: Sendable, Hashable {
    public var title: String?
    public var setup: ConversationSetup
    public var created: Timestamp?
    public var updated: Timestamp?
    /// All messages, each after the one that it follows.
    public internal(set) var items: [Item]
    /// The place of the newest message among the items.
    public private(set) var head: Int?
    public var calls: [CallEntry]

    /// A message of a transcript.
    public struct Item: Sendable, Hashable {
        /// The place of the message before it among the items; nil at the beginning.
        public let parent: Int?
        public var message: Message
        public let state: Entry.State
        public let provider: String?
        public let model: String?
        public let time: Timestamp?
        public let start: ChatStart?
        public let finish: ChatAnswer.Finish?
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

    /// Messages that follow each other.
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

    /// Entries in the order of their ids, in which no message comes before the one that it follows.
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

    /// The messages on the way to the newest one.
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

public import Capabilities
public import JSON

/// Lines that grow.
public struct Log: BlockContent, Hashable {
    static let kind = "log"
    /// The lines.
    public let feed: Feed<Line>

    /// Shows the lines of a feed.
    public init(_ feed: Feed<Line>) { self.feed = feed }

    /// A line of a log.
    public struct Line: FeedEntry, Record {
        /// When it was written; nil if that is not known.
        public let time: Timestamp?
        /// Its level or state in a word, such as `error`; nil for none.
        public let state: String?
        /// The text.
        public let text: String

        /// By default a line has only a text.
        public init(_ text: String, time: Timestamp? = nil, state: String? = nil) {
            self.text = text
            self.time = time
            self.state = state
        }

        public var size: Int { text.utf8.count + 16 }

        public static let fields: [Field<Line>] = [
            Field("time", "When it was written") { $0.time },
            Field("state", "Its level or state in a word") { $0.state },
            Field("text", "The text") { $0.text },
        ]
    }

    public static let fields: [Field<Log>] = [
        Field("start", "How many older lines were dropped") { $0.feed.start },
        Field("end", "The position after the newest line") { $0.feed.end },
        Field("lines", "The lines that are there, the oldest first") { Array($0.feed.entries(from: 0).entries) },
    ]

    // Read at once, because the feed may grow meanwhile.
    public var json: JSON { feed.json("lines") }

    // The feed limits itself.
    var size: BlockSize { BlockSize() }
}

/// A conversation that grows.
public struct Transcript: BlockContent, Hashable {
    static let kind = "transcript"
    /// What was said and done.
    public let feed: Feed<Entry>

    /// Shows the entries of a feed.
    public init(_ feed: Feed<Entry>) { self.feed = feed }

    /// Who or what an entry is from.
    public enum Author: String, Choice {
        /// In this order: the person, the model, its thoughts, a tool, the program.
        case person, model, thought, tool, notice
    }

    /// A part of a conversation.
    public struct Entry: FeedEntry, Record {
        /// The id, unique in the transcript.
        public let id: String
        /// Who or what it is from.
        public let author: Author
        /// When it began; nil if that is not known.
        public let time: Timestamp?
        /// What it is about in a few words, such as the name of a tool; nil for none.
        public let title: String?
        /// Its state in a word, such as `running`; nil for none.
        public let state: String?
        /// What was said, as Markdown for the person and the model, as plain text otherwise.
        public let text: String
        /// Whether more of it will come.
        public let isOpen: Bool

        /// By default the entry is complete.
        public init(
            _ id: String, _ author: Author, _ text: String, time: Timestamp? = nil, title: String? = nil,
            state: String? = nil, isOpen: Bool = false
        ) {
            self.id = id
            self.author = author
            self.text = text
            self.time = time
            self.title = title
            self.state = state
            self.isOpen = isOpen
        }

        public var size: Int { text.utf8.count + 64 }

        public static let fields: [Field<Entry>] = [
            Field("id", "The id, unique in the transcript") { $0.id },
            Field("author", "Who or what it is from") { $0.author },
            Field("time", "When it began") { $0.time },
            Field("title", "What it is about in a few words") { $0.title },
            Field("state", "Its state in a word") { $0.state },
            Field("text", "What was said, as Markdown for the person and the model, as plain text otherwise") {
                $0.text
            },
            Field("open", "Whether more of it will come") { $0.isOpen },
        ]
    }

    public static let fields: [Field<Transcript>] = [
        Field("start", "How many older entries were dropped") { $0.feed.start },
        Field("end", "The position after the newest entry") { $0.feed.end },
        Field("entries", "The entries that are there, the oldest first") { Array($0.feed.entries(from: 0).entries) },
    ]

    public var json: JSON { feed.json("entries") }

    var size: BlockSize { BlockSize() }
}

extension Feed where Entry: Record {
    /// The entries that are there, and their positions.
    fileprivate func json(_ name: String) -> JSON {
        let (start, entries) = entries(from: 0)
        return .object(["start": .int(start), "end": .int(start + entries.count), name: Array(entries).json])
    }
}

public import Capabilities
import JSON

/// Steps with their states and durations.
public struct Timeline: BlockContent, Hashable {
    static let kind = "timeline"

    /// A step.
    public struct Step: Record, Hashable {
        /// The id, unique in the timeline.
        public let id: String
        /// Steps of the same group are shown side by side; nil for a step by itself.
        public let group: String?
        /// What is done.
        public let title: String
        /// The state in a word: `waiting`, `running`, `ok`, `failed`, …
        public let state: String
        /// When it began; nil if it has not.
        public let start: Timestamp?
        /// How long it took; nil if it has not ended.
        public let duration: Duration?
        /// The exit code of a command; nil for other steps.
        public let exitCode: Int?
        /// The last output or the failure, in one line; nil for none.
        public let note: String?

        /// By default a step is by itself and has not begun.
        public init(
            _ id: String, _ title: String, state: String, group: String? = nil, start: Timestamp? = nil,
            duration: Duration? = nil, exitCode: Int? = nil, note: String? = nil
        ) {
            self.id = id
            self.group = group
            self.title = title
            self.state = state
            self.start = start
            self.duration = duration
            self.exitCode = exitCode
            self.note = note
        }

        public static let fields: [Field<Step>] = [
            Field("id", "The id, unique in the timeline") { $0.id },
            Field("title", "What is done", .name) { $0.title },
            Field("state", "The state in a word", .state) { $0.state },
            Field("duration", "How long it took") { $0.duration },
            Field("exit_code", "The exit code of a command") { $0.exitCode },
            Field("start", "When it began", .minor) { $0.start },
            Field("group", "Steps of the same group are shown side by side", .detail) { $0.group },
            Field("note", "The last output or the failure, in one line") { $0.note },
        ]

        fileprivate var textSize: Int {
            [id, title, state, group ?? "", note ?? ""].reduce(0) { $0 + $1.utf8.count }
        }
    }

    /// The steps in order.
    public let steps: [Step]
    /// What can be done with a step. Its id is the member `id` of the row.
    public let rowLinks: [Link]

    /// By default nothing can be done with the steps.
    public init(_ steps: [Step], links rowLinks: [Link] = []) {
        self.steps = steps
        self.rowLinks = rowLinks
    }

    public static let fields: [Field<Timeline>] = [
        Field("steps", "The steps in order") { $0.steps },
        Field("row_links", "What can be done with a step") { $0.rowLinks },
    ]

    var size: BlockSize {
        BlockSize(nodes: steps.count, bytes: steps.reduce(rowLinks.textSize) { $0 + $1.textSize })
    }
}

/// Spans over time, each below the span that it belongs to.
public struct Waterfall: BlockContent, Hashable {
    static let kind = "waterfall"

    /// A span of time in which something was done.
    public struct Bar: Record, Hashable {
        /// The id, unique in the waterfall.
        public let id: String
        /// The id of the span that it belongs to; nil for a topmost one.
        public let parent: String?
        /// What was done.
        public let title: String
        /// The state in a word.
        public let state: String
        /// When it began.
        public let start: Timestamp
        /// How long it took so far.
        public let duration: Duration

        /// By default it is a topmost one.
        public init(
            _ id: String, _ title: String, state: String, start: Timestamp, duration: Duration, parent: String? = nil
        ) {
            self.id = id
            self.parent = parent
            self.title = title
            self.state = state
            self.start = start
            self.duration = duration
        }

        public static let fields: [Field<Bar>] = [
            Field("id", "The id, unique in the waterfall") { $0.id },
            Field("parent", "The id of the span that it belongs to", .detail) { $0.parent },
            Field("title", "What was done", .name) { $0.title },
            Field("state", "The state in a word", .state) { $0.state },
            Field("start", "When it began") { $0.start },
            Field("duration", "How long it took so far") { $0.duration },
        ]

        fileprivate var textSize: Int { [id, title, state, parent ?? ""].reduce(0) { $0 + $1.utf8.count } }
    }

    /// The spans, each after the one that it belongs to.
    public let bars: [Bar]

    /// Spans, each after the one that it belongs to.
    public init(_ bars: [Bar]) { self.bars = bars }

    public static let fields: [Field<Waterfall>] = [
        Field("bars", "The spans, each after the one that it belongs to") { $0.bars }
    ]

    var size: BlockSize { BlockSize(nodes: bars.count, bytes: bars.reduce(0) { $0 + $1.textSize }) }
}

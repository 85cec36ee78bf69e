public import JSON

/// A finished piece of work as plain values: what it was, when it ran, and how it ended. It is what is written, exported and
/// read again.
public struct TraceSpan: Sendable {
    /// The kind of work, such as `gateway.turn`.
    public let name: String
    /// The feature that did the work.
    public let feature: String
    /// The trace that it belongs to, and its own id.
    public let context: TraceContext
    /// The span around it; nil for the first span of a trace.
    public let parent: SpanID?
    /// Whether the span around it is one of another program.
    public var isParentRemote = false
    /// When the work began.
    public let start: Timestamp
    /// How long it took.
    public let duration: Duration
    /// Which side of an exchange it is.
    public var kind = SpanRecord.Kind.internal
    /// Facts about the work, already without secrets.
    public let attributes: JSONObject
    /// What happened in it, in order.
    public var events: [Event] = []
    /// Spans that it has to do with besides the one around it, such as those of the messages that it handles together.
    public var links: [Link] = []
    /// How many attributes, events and links were left out.
    public var dropped = 0
    /// The code of the error that ended it, if any.
    public let failure: String?

    /// When the work returned or threw.
    public var end: Timestamp { start + duration }

    /// Something that happened during the work.
    public struct Event: Sendable {
        /// What happened.
        public let name: String
        /// When it happened.
        public let time: Timestamp
        /// Facts about it.
        public let attributes: JSONObject

        /// Something that happened.
        public init(name: String, time: Timestamp, attributes: JSONObject = [:]) {
            (self.name, self.time, self.attributes) = (name, time, attributes)
        }
    }

    /// Another span that the work has to do with.
    public struct Link: Sendable {
        /// That span.
        public let context: TraceContext
        /// Facts about the connection.
        public let attributes: JSONObject

        /// A connection to another span.
        public init(to context: TraceContext, attributes: JSONObject = [:]) {
            (self.context, self.attributes) = (context, attributes)
        }
    }

    /// By default the work succeeded and has no attributes.
    public init(
        name: String, feature: String, context: TraceContext, parent: SpanID?, start: Timestamp, duration: Duration,
        attributes: JSONObject = [:], failure: String? = nil
    ) {
        (self.name, self.feature, self.context, self.parent) = (name, feature, context, parent)
        (self.start, self.duration, self.attributes, self.failure) = (start, duration, attributes, failure)
    }
}

public import JSON

/// A piece of work that has ended: what it was, when, and how it went.
public struct TraceSpan: Sendable {
    public let name: String
    /// The feature whose work it was.
    public let feature: String
    public let context: TraceContext
    public let parent: SpanID?
    public let start: Timestamp
    public let end: Timestamp
    public let attributes: JSONObject
    /// The code of the error that ended it, if one did.
    public let failure: String?

    public init(
        name: String, feature: String, context: TraceContext, parent: SpanID?, start: Timestamp, end: Timestamp,
        attributes: JSONObject = [:], failure: String? = nil
    ) {
        self.name = name
        self.feature = feature
        self.context = context
        self.parent = parent
        self.start = start
        self.end = end
        self.attributes = attributes
        self.failure = failure
    }
}

/// Takes the spans that have ended. It must not wait: it is called where the work is done.
public protocol SpanSink: AnyObject, Sendable {
    func record(_ span: TraceSpan)
}

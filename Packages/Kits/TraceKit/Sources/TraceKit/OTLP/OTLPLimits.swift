/// What is taken of one request. A span is shortened by what is too much of its parts; spans that are too many are rejected.
public struct OTLPLimits: Sendable {
    /// Spans, entries or data points of a request.
    public var spans = 100_000
    /// Attributes, their parts, events and links of a request together.
    public var values = 1_000_000
    /// Attributes of a span, of an event, of a link, of a scope or of a resource.
    public var attributes = 128
    /// Events of a span, and links.
    public var events = 128
    /// Arrays and lists in each other.
    public var depth = 12
    /// Bytes of a text; a longer one ends with an ellipsis.
    public var text = 64 << 10
    /// Bytes of a name or a key; a longer one ends with an ellipsis.
    public var name = 1 << 10

    /// The usual limits.
    public init() {}
}

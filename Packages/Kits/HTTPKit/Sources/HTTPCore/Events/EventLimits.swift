/// How large the parts of an event stream may be. What is larger ends the stream with an error and is never cut.
public struct EventLimits: Sendable, Hashable {
    /// The bytes of one line without its end.
    public var line: Int
    /// The bytes of the data of one event. Each of its lines takes at least one, so this bounds their number too.
    public var event: Int
    /// The bytes of an id, and of a type.
    public var name: Int

    public init(line: Int = 16 << 20, event: Int = 16 << 20, name: Int = 1024) {
        self.line = line
        self.event = event
        self.name = name
    }
}

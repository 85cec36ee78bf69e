/// One event of a `text/event-stream`.
public struct ServerSentEvent: Sendable, Hashable {
    /// The server's event name, or `message`.
    public var type: String
    /// The data as it came, several lines joined by a line feed; not necessarily UTF-8.
    ///
    /// It is a part of the bytes that were received together and is not copied out of them: read `data.span` or `text`,
    /// and keep `Array(data)` where an event outlives the stream, so that not all of those bytes are kept with it.
    public var data: ArraySlice<UInt8>
    /// The last id that the server set, on this event or an earlier one; empty if it set none.
    public var lastEventID: String

    /// An event with these bytes as its data, which are not copied.
    public init(type: String = Self.defaultType, data: ArraySlice<UInt8>, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }

    /// An event with these bytes as its data.
    public init(type: String = Self.defaultType, data: [UInt8], lastEventID: String = "") {
        self.init(type: type, data: data[...], lastEventID: lastEventID)
    }

    /// An event with the UTF-8 of this text as its data.
    public init(type: String = Self.defaultType, text: String, lastEventID: String = "") {
        self.init(type: type, data: Array(text.utf8)[...], lastEventID: lastEventID)
    }

    /// The type of an event without a name.
    public static let defaultType = "message"

    /// The data as text; invalid UTF-8 is replaced by U+FFFD. Computed on each access, so that a JSON parser, which
    /// needs only the bytes, does not pay for it.
    public var text: String { String(decoding: data, as: UTF8.self) }

    /// The event as it is sent, with its id if it has one. Throws `invalid` as `EventWriter.event` does.
    public func encoded() throws(HTTPError) -> [UInt8] {
        var writer = EventWriter()
        try writer.event(data, type: type, id: lastEventID.isEmpty ? nil : lastEventID)
        return writer.take()
    }
}

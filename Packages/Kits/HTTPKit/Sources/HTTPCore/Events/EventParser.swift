/// Reads a `text/event-stream` (WHATWG HTML, "Server-sent events") from bytes that come in chunks cut anywhere.
///
/// It knows lines that end with LF, CR or CRLF, drops a byte order mark at the very start, and ends an event as soon as
/// its empty line is there, without waiting for the byte after a CR. What the stream leaves unfinished is no event.
///
///     var parser = EventParser()
///     parser.feed(chunk)
///     while let event = try parser.next() { print(event.text) }
public struct EventParser: Sendable {
    /// The bytes that were fed, and how far they have been read.
    private var chunk: [UInt8] = []
    private var position = 0
    private var reader: EventReader
    private var restCount = 0

    /// - Parameters:
    ///   - lastEventID: The id that the stream before this one ended with.
    ///   - readsErrorField: Whether a line `error: …`, which old llama.cpp servers send and the standard ignores, is read
    ///     as the data of an event of type `error`.
    public init(limits: EventLimits = EventLimits(), lastEventID: String = "", readsErrorField: Bool = false) {
        reader = EventReader(limits: limits, lastEventID: lastEventID, readsErrorField: readsErrorField)
    }

    /// The id of the last event that ended, for `Last-Event-ID` when the stream is opened again.
    public var lastEventID: String { reader.lastEventID }
    /// How long to wait before the stream is opened again, if the server said so.
    public var retry: Duration? { reader.retry }
    /// Whether a line began like a tag. The standard has readers pass over such lines; a proxy that fails in the midst of a
    /// stream writes its page there.
    public var hasMarkup: Bool { reader.hasMarkup }

    /// Takes the next bytes of the stream, which follow those that are still to be read.
    public mutating func feed(_ bytes: [UInt8]) {
        if position == chunk.count {
            chunk = bytes
        } else {
            chunk = Array(chunk[position...])
            chunk.append(contentsOf: bytes)
        }
        position = 0
        reader.beginChunk()
    }

    /// The next event that has ended, or nil when more bytes are needed. Throws `tooLarge` beyond a limit, and then ever
    /// after.
    public mutating func next() throws(HTTPError) -> ServerSentEvent? {
        guard position < chunk.count || reader.failure != nil else { return nil }
        let found = unsafe chunk.withUnsafeBytes { unsafe reader.readEvent($0, &position) }
        switch found {
        case .inChunk(let range):
            return reader.event(chunk[range])
        case .apart(let data):
            return reader.event(data[...])
        case .none:
            (chunk, position) = ([], 0)
            if let failure = reader.failure { throw failure }
            return nil
        }
    }

    /// Adds all events that have ended. At a failure it stops, and `next` throws that when it is called.
    public mutating func readRest(into events: inout [ServerSentEvent]) {
        // As many as there were in the chunk before, which saves making room again and again.
        events.reserveCapacity(events.count + restCount)
        let before = events.count
        while position < chunk.count {
            let found = unsafe chunk.withUnsafeBytes { unsafe reader.readEvent($0, &position) }
            switch found {
            case .inChunk(let range): events.append(reader.event(chunk[range]))
            case .apart(let data): events.append(reader.event(data[...]))
            case .none: (chunk, position) = ([], 0)
            }
        }
        restCount = events.count - before
    }

    /// The events that end in these bytes.
    public mutating func read(_ bytes: [UInt8]) throws(HTTPError) -> [ServerSentEvent] {
        feed(bytes)
        var events: [ServerSentEvent] = []
        readRest(into: &events)
        if let failure = reader.failure { throw failure }
        return events
    }
}

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

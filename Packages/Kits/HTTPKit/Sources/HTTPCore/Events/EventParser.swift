/// Parses a `text/event-stream` (WHATWG HTML, "Server-sent events") from chunks split anywhere.
///
/// Lines may end with LF, CR or CRLF. A byte order mark at the very start is dropped. An event ends with its empty
/// line, without waiting for the byte after a CR. An event that the stream leaves unfinished is dropped.
///
///     var parser = EventParser()
///     parser.feed(chunk)
///     while let event = try parser.next() { print(event.text) }
public struct EventParser: Sendable {
    /// The current chunk and the read position.
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

    /// The id of the last complete event, for `Last-Event-ID` when the stream is reopened.
    public var lastEventID: String { reader.lastEventID }
    /// The server's wait before the stream is reopened, if it sent one.
    public var retry: Duration? { reader.retry }
    /// Whether a line began like a tag. The specification ignores such lines, but a proxy that fails within a stream
    /// writes its error page there.
    public var hasMarkup: Bool { reader.hasMarkup }

    /// Adds the next bytes of the stream after the unread ones.
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

    /// The next complete event, or nil when more bytes are needed. Throws `tooLarge` beyond a limit, and on every later
    /// call.
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

    /// Appends all complete events. It stops at a failure, which `next` then throws.
    public mutating func readRest(into events: inout [ServerSentEvent]) {
        // The previous chunk's count, which saves reallocations.
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

/// The size limits of an event stream. Exceeding a limit ends the stream with an error; data is never truncated.
public struct EventLimits: Sendable, Hashable {
    /// The bytes of one line without its end.
    public var line: Int
    /// The bytes of the data of one event. Each of its lines takes at least one, so this bounds their number too.
    public var event: Int
    /// The bytes of an id, and of a type.
    public var name: Int

    /// Limits in bytes; by default 16 MiB for a line and an event, and 1 KiB for an id or a type.
    public init(line: Int = 16 << 20, event: Int = 16 << 20, name: Int = 1024) {
        self.line = line
        self.event = event
        self.name = name
    }
}

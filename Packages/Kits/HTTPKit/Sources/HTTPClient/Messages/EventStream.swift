public import HTTPCore

extension HTTPExchange {
    /// The body as events.
    ///
    ///     let exchange = try await client.open(request).requireSuccess()
    ///     for try await event in exchange.events() { print(event.text) }
    ///
    /// - Parameters:
    ///   - lastEventID: The id that the stream before this one ended with.
    ///   - readsErrorField: Whether an `error:` line, as old llama.cpp servers send it, is an event of type `error`.
    public func events(
        limits: EventLimits = EventLimits(), lastEventID: String = "", readsErrorField: Bool = false
    ) -> EventStream {
        let parser = EventParser(limits: limits, lastEventID: lastEventID, readsErrorField: readsErrorField)
        return EventStream(body: body, parser: parser)
    }
}

/// The events of an answer. The server is made to wait for as long as nobody asks for one.
///
/// It ends where the answer ends; what a protocol wants at the end, such as `[DONE]`, its reader looks for. Throws
/// `HTTPError`, `tooLarge` beyond a limit, and `CancellationError` when the task is cancelled, which ends the request.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent

    let body: HTTPBodyStream
    let parser: EventParser

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body.makeAsyncIterator(), parser: parser)
    }

    /// Hands out the events that came together one by one, without waiting.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var body: HTTPBodyStream.AsyncIterator
        private var parser: EventParser

        init(body: HTTPBodyStream.AsyncIterator, parser: EventParser) {
            self.body = body
            self.parser = parser
        }

        /// The id of the last event that ended.
        public var lastEventID: String { parser.lastEventID }
        /// What the server wants as the time before the next connection.
        public var retry: Duration? { parser.retry }
        /// Whether a web page came in the midst of the stream.
        public var hasMarkup: Bool { parser.hasMarkup }

        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            while true {
                if let event = try parser.next() { return event }
                guard let bytes = try await body.next(isolation: actor) else { return nil }
                parser.feed(bytes)
            }
        }

        /// All events that are there, at least one; nil at the end. Those before a failure are handed out before it is
        /// thrown.
        mutating func nextBatch(isolation actor: isolated (any Actor)?) async throws -> [ServerSentEvent]? {
            guard let first = try await next(isolation: actor) else { return nil }
            var events = [first]
            parser.readRest(into: &events)
            return events
        }
    }
}

extension EventStream {
    /// The same events, all that came together at once, for readers who pass many on: a replay, an import, a gateway.
    public var batches: EventBatches { EventBatches(stream: self) }
}

/// The events of an answer in groups as they came, none of them empty.
public struct EventBatches: AsyncSequence, Sendable {
    public typealias Element = [ServerSentEvent]

    let stream: EventStream

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: stream.makeAsyncIterator())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: EventStream.AsyncIterator

        /// Whether a web page came in the midst of the stream.
        public var hasMarkup: Bool { events.hasMarkup }

        public mutating func next() async throws -> [ServerSentEvent]? {
            try await events.nextBatch(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [ServerSentEvent]? {
            try await events.nextBatch(isolation: actor)
        }
    }
}

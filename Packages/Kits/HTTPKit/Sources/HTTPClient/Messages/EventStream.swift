public import HTTPCore

/// The events of a response. The server is paused while no event is requested.
///
/// The sequence ends with the response; protocol markers such as `[DONE]` are left to the reader. Throws `HTTPError`,
/// with `tooLarge` beyond a limit, and `CancellationError` when the task is cancelled, which ends the request.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent

    let body: HTTPBodyStream
    let parser: EventParser
    /// Where it comes from.
    let url: HTTPURL

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body.makeAsyncIterator(), parser: parser, span: StreamSpan(of: url))
    }

    /// Returns events that arrived together one by one, without waiting.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var body: HTTPBodyStream.AsyncIterator
        private var parser: EventParser
        private let span: StreamSpan?

        init(body: HTTPBodyStream.AsyncIterator, parser: EventParser, span: StreamSpan?) {
            self.body = body
            self.parser = parser
            self.span = span
        }

        /// The id of the last complete event.
        public var lastEventID: String { parser.lastEventID }
        /// The time the server wants before the next connection.
        public var retry: Duration? { parser.retry }
        /// Whether a web page appeared within the stream.
        public var hasMarkup: Bool { parser.hasMarkup }

        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            do {
                while true {
                    if let event = try parser.next() {
                        span?.count(1)
                        return event
                    }
                    guard let bytes = try await body.next(isolation: actor) else { return nil }
                    parser.feed(bytes)
                }
            } catch {
                span?.fail(error)
                throw error
            }
        }

        /// All available events, at least one; nil at the end. Events before a failure are returned before it is
        /// thrown.
        mutating func nextBatch(isolation actor: isolated (any Actor)?) async throws -> [ServerSentEvent]? {
            guard let first = try await next(isolation: actor) else { return nil }
            var events = [first]
            parser.readRest(into: &events)
            span?.count(events.count - 1)
            return events
        }
    }
}

extension EventStream {
    /// The same events in groups that arrived together, for readers that pass many on: a replay, an import, a gateway.
    public var batches: EventBatches { EventBatches(stream: self) }
}

/// The events of a response in non-empty groups, as they arrived.
public struct EventBatches: AsyncSequence, Sendable {
    public typealias Element = [ServerSentEvent]

    let stream: EventStream

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: stream.makeAsyncIterator())
    }

    /// Returns the events that arrived together, and waits only when there are none.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: EventStream.AsyncIterator

        /// Whether a web page appeared within the stream.
        public var hasMarkup: Bool { events.hasMarkup }

        public mutating func next() async throws -> [ServerSentEvent]? {
            try await events.nextBatch(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [ServerSentEvent]? {
            try await events.nextBatch(isolation: actor)
        }
    }
}

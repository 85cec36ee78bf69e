public import HTTPCore

/// A stream of events that comes back by itself after the connection was lost: for GET requests only, whose server can
/// go on where it stopped. An answer to a POST is read with `HTTPExchange.events` instead, and a break is its error.
///
///     let source = EventSource(client, HTTPRequest(.get, url))
///     for try await event in source { print(event.lastEventID, event.text) }
///
/// It sends `Last-Event-ID`, waits as long as the server's `retry` says, longer after each failure in a row, and ends
/// when the server answers 204. Any other status, and any other type of answer, is an error and final; so are a refused
/// certificate, an event beyond the limits, and more failures in a row than `attempts`.
public struct EventSource: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent

    private let client: HTTPClient
    private let request: HTTPRequest
    public var limits = EventLimits()
    /// The id to begin after, as an earlier source ended with it.
    public var lastEventID = ""
    /// How many times in a row no stream is got before the error is thrown; one that ends at once and without an event
    /// counts as none.
    public var attempts = Int.max
    /// The wait after a connection was lost, until the server names another.
    public var wait = Duration.seconds(3)
    /// No wait is longer, whatever the server names and however often it failed.
    public var longestWait = Duration.seconds(60)
    /// Told what goes on, for a person who waits; it must not take time.
    public var onChange: (@Sendable (Change) -> Void)?

    /// What a source does.
    public enum Change: Sendable {
        /// The server answered and events follow.
        case opened
        /// The stream ended or could not be opened, and is opened again after that time; with the reason, if it was
        /// not a proper end.
        case waits(Duration, HTTPError?)
    }

    /// A source that opens nothing until the first event is asked for.
    public init(_ client: HTTPClient, _ request: HTTPRequest) {
        self.client = client
        self.request = request
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: self)
    }

    /// One reader of a source, with a connection of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var stream: EventStream.AsyncIterator?
        private var failures = 0
        /// Whether the present stream has brought an event.
        private var isProven = false
        /// How long the present stream has been open.
        private var age: @Sendable () -> Duration = { .zero }
        private var isOver = false
        private var retry: Duration

        /// What the next connection will name as the last event.
        public private(set) var lastEventID: String

        init(source: EventSource) {
            self.source = source
            lastEventID = source.lastEventID
            retry = source.wait
        }

        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            while !isOver {
                do {
                    if stream == nil { try await open(isolation: actor) }
                    if let event = try await stream?.next(isolation: actor) {
                        lastEventID = event.lastEventID
                        isProven = true
                        return event
                    }
                    // Closed for good by 204, or at its end.
                    if stream != nil { try await pause(after: nil, isolation: actor) }
                } catch let error as HTTPError where error.mayPass {
                    try await pause(after: error, isolation: actor)
                } catch {
                    isOver = true
                    stream = nil
                    throw error
                }
            }
            return nil
        }

        private mutating func open(isolation actor: isolated (any Actor)?) async throws {
            let exchange = try await source.client.open(source.request(after: lastEventID))
            guard exchange.status != .noContent else {
                isOver = true
                return
            }
            try EventSource.check(exchange)
            isProven = false
            age = EventSource.stopwatch(source.client.configuration.clock)
            stream = exchange.events(limits: source.limits, lastEventID: lastEventID).makeAsyncIterator()
            source.onChange?(.opened)
        }

        private mutating func pause(
            after error: HTTPError?, isolation actor: isolated (any Actor)?
        ) async throws {
            if let stream {
                // An id counts also when it came without data, so the stream knows better than the last event.
                lastEventID = stream.lastEventID
                retry = stream.retry ?? retry
            }
            // A server may have nothing to say for a while; one that opens streams only to end them is of no use.
            let wasOfUse = stream != nil && (isProven || age() >= .seconds(5))
            failures = wasOfUse ? 0 : failures + 1
            if failures > 0, failures >= source.attempts {
                isOver = true
                throw error ?? source.useless
            }
            stream = nil
            // Not at once, even if the server says so: one that ends each stream immediately would keep both busy.
            var time = Swift.max(retry, .milliseconds(100))
            for _ in 1..<Swift.max(failures, 1) where time < source.longestWait { time = time * 2 }
            time = Swift.min(time, source.longestWait)
            source.onChange?(.waits(time, error))
            try await source.client.configuration.clock.sleep(for: time)
        }
    }
}

extension EventSource {
    fileprivate func request(after lastEventID: String) throws(HTTPError) -> HTTPRequest {
        guard request.method == .get else {
            throw HTTPError(
                .invalid, "only a GET can reconnect automatically; read the events of a \(request.method) once",
                mayHaveBeenSent: false, server: request.url.server)
        }
        var request = request
        request.headers["Accept"] = "text/event-stream"
        request.headers["Cache-Control"] = "no-store"
        request.headers["Last-Event-ID"] = lastEventID.isEmpty ? nil : lastEventID
        // The waits between the tries are decided here, once.
        request.retry = .none
        return request
    }

    /// The time since now by a clock, whatever its instants are.
    fileprivate static func stopwatch<Time: Clock<Duration> & Sendable>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    fileprivate var useless: HTTPError {
        HTTPError(
            .cut, "\(request.url.server) keeps ending its event streams before the first event", status: .ok,
            server: request.url.server)
    }

    fileprivate static func check(_ exchange: HTTPExchange) throws(HTTPError) {
        let server = exchange.url.server
        guard exchange.status == .ok else {
            throw HTTPError(
                .status, "\(server) answered \(exchange.status) where events were expected", status: exchange.status,
                server: server)
        }
        let type = exchange.headers["Content-Type"] ?? ""
        let name = type.prefix { $0 != ";" }.trimmingSpaces
        guard HTTPHeaders.isSame(name, "text/event-stream") else {
            throw HTTPError(
                .badAnswer,
                "\(server) answered with \(name.isEmpty ? "no type" : "the type \(name.prefix(80))") where events were "
                    + "expected; check the address", status: .ok, server: server)
        }
    }

}

extension HTTPError {
    /// Whether a failure may pass by itself: the way to the server, and not what the server is or says.
    var mayPass: Bool {
        let kinds: [Kind] = [
            .nameNotFound, .refused, .unreachable, .reset, .cut, .connectTimedOut, .firstByteTimedOut, .idleTimedOut,
            .totalTimedOut, .proxy,
        ]
        return kinds.contains(kind)
    }
}

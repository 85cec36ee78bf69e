import Capabilities
public import HTTPCore

/// An event stream that reconnects after the connection is lost. It supports only GET requests whose server can resume.
/// Read the response to a POST with `HTTPExchange.events` instead; there a lost connection is an error.
///
///     let source = EventSource(client, HTTPRequest(.get, url))
///     for try await event in source { print(event.lastEventID, event.text) }
///
/// It sends `Last-Event-ID`, waits for the server's `retry` time, longer after each consecutive failure, and ends when
/// the server responds with 204. Any other status or content type is a final error; so are a refused certificate, an
/// event beyond the limits, and more consecutive failures than `attempts`.
public struct EventSource: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent

    private let client: HTTPClient
    private let request: HTTPRequest
    /// The size limits of an event; one that exceeds them is a final error.
    public var limits = EventLimits()
    /// The id to resume after, usually the last one of an earlier source.
    public var lastEventID = ""
    /// The number of consecutive failures before the error is thrown. A stream that ends at once without an event
    /// counts as a failure.
    public var attempts = Int.max
    /// The wait after a lost connection, until the server sends another value.
    public var wait = Duration.seconds(3)
    /// The maximum wait, whatever the server sends and however many attempts failed.
    public var longestWait = Duration.seconds(60)
    /// Called on each change, to inform a person; it must return quickly.
    public var onChange: (@Sendable (Change) -> Void)?

    /// What a source does.
    public enum Change: Sendable {
        /// The server responded and events follow.
        case opened
        /// The stream ended or could not be opened, and is reopened after this time. The error is nil after a normal
        /// end.
        case waits(Duration, HTTPError?)
    }

    /// Creates a source that connects when the first event is requested.
    public init(_ client: HTTPClient, _ request: HTTPRequest) {
        self.client = client
        self.request = request
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: self)
    }

    /// One reader of a source, with a separate connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var stream: EventStream.AsyncIterator?
        private var failures = 0
        /// Whether the current stream has brought an event.
        private var isProven = false
        /// How long the current stream has been open.
        private var age: Stopwatch?
        private var isOver = false
        private var retry: Duration

        /// The last event id that the next connection will send.
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
                    // Closed for good by 204, or reached its end.
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
            age = Stopwatch(source.client.configuration.clock)
            stream = exchange.events(limits: source.limits, lastEventID: lastEventID).makeAsyncIterator()
            source.onChange?(.opened)
        }

        private mutating func pause(
            after error: HTTPError?, isolation actor: isolated (any Actor)?
        ) async throws {
            if let stream {
                // An id counts even without data, so the stream's value is newer than the last event's.
                lastEventID = stream.lastEventID
                retry = stream.retry ?? retry
            }
            // A server may be silent for a while, but a stream that only opens and ends counts as a failure.
            let wasOfUse = stream != nil && (isProven || (age?.time() ?? .zero) >= .seconds(5))
            failures = wasOfUse ? 0 : failures + 1
            if failures > 0, failures >= source.attempts {
                isOver = true
                throw error ?? source.useless
            }
            stream = nil
            // Never at once, even if the server asks for it: ending and reopening streams would keep both sides busy.
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
        // Retries are decided here only.
        request.retry = .none
        return request
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
    /// Whether the failure may be temporary: it concerns the way to the server, not its response.
    var mayPass: Bool {
        let kinds: [Kind] = [
            .nameNotFound, .refused, .unreachable, .reset, .cut, .connectTimedOut, .firstByteTimedOut, .idleTimedOut,
            .totalTimedOut, .proxy,
        ]
        return kinds.contains(kind)
    }
}

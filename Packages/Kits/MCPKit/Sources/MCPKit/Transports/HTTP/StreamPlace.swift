import HTTPClient
import HTTPCore

/// How far a stream of events was read, over as many connections as it takes.
struct StreamPlace {
    private(set) var lastEventID = ""
    /// How often in a row it could not be opened, or brought nothing.
    private(set) var failures = 0
    private var retry: Duration
    private let longest: Duration

    /// Not sooner, even if the server wants it: ending and reopening a stream would keep both sides busy.
    private static let shortest = Duration.milliseconds(20)

    init(_ limits: MCPHTTPLimits) {
        retry = limits.wait
        longest = limits.longestWait
    }

    /// Reads messages until `take` has what it waits for, or the connection ends.
    ///
    /// - Returns: whether `take` has what it waits for.
    mutating func read(
        _ exchange: HTTPExchange, by caller: HTTPCaller, _ take: ([UInt8]) throws -> Bool
    ) async throws -> Bool {
        var events = caller.events(of: exchange, after: lastEventID).makeAsyncIterator()
        failures += 1
        defer {
            lastEventID = events.lastEventID
            retry = events.retry ?? retry
        }
        while let event = try await events.next() {
            failures = 0
            // An event without data only says from where the stream can be resumed.
            guard event.type == ServerSentEvent.defaultType, !event.data.isEmpty else { continue }
            if try take(Array(event.data)) { return true }
        }
        return false
    }

    /// It could not be opened.
    mutating func fail() { failures += 1 }

    /// How long to wait before it is opened again: what the server wants, and longer after each failure.
    var pause: Duration {
        var pause = max(retry, Self.shortest)
        for _ in 1..<max(failures, 1) where pause < longest { pause = pause * 2 }
        return min(pause, longest)
    }
}

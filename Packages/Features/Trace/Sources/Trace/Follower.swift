import Capabilities
import Registry
import TraceStore

/// Passes on what comes to the database, of all processes, until its task is cancelled.
struct Follower {
    private let store: TraceStore
    /// The spans of this process that are not written yet.
    private let spool: SpanSpool

    /// How often it looks.
    private static let pause = Duration.seconds(1)

    init(_ store: TraceStore, _ spool: SpanSpool) {
        (self.store, self.spool) = (store, spool)
    }

    /// - Parameter place: what came up to it is not passed on.
    func run(
        in context: ActionContext, from place: TracePlace, _ body: (TraceArrivals) async throws -> Void
    ) async throws {
        var place = place
        while true {
            spool.flush()
            let news = try await store.arrivals(since: place)
            if news.end == place { try await context.host.clock.sleep(for: Self.pause) } else { try await body(news) }
            place = news.end
        }
    }
}

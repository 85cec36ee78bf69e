import Synchronization

/// The time of a replay: what waits for a moment finds itself in it. Nothing that a recording waited for is still to come.
final class ReplayClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let base = ContinuousClock()
    /// How far ahead it is.
    private let ahead = Mutex(Duration.zero)

    var now: Instant { base.now + ahead.withLock { $0 } }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        ahead.withLock { $0 = max($0, base.now.duration(to: deadline)) }
    }
}

import Synchronization

/// A clock that moves only when told, or by the length of a sleep.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state: Mutex<(now: Instant, sleeps: Int)>

    /// Allows a number of sleeps and cancels the next one.
    init(sleeps: Int = 0) {
        state = Mutex((Instant(offset: .zero), sleeps))
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try state.withLock {
            guard $0.sleeps > 0 else { throw CancellationError() }
            $0.sleeps -= 1
            $0.now = max($0.now, deadline)
        }
    }
}

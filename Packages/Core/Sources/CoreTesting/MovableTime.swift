public import Capabilities
import Synchronization

/// A time of day that moves only when a test advances it, or by a step each time it is read.
///
///     bench.time = MovableTime()
///     bench.time?.advance(by: .seconds(301))
public final class MovableTime: Sendable {
    private let microseconds = Mutex<Int64>(1_800_000_000_000_000)

    private let step: Duration

    /// - Parameter step: how far it moves each time it is read, so that the newest entry is unambiguous.
    public init(step: Duration = .zero) {
        self.step = step
    }

    public var now: Timestamp {
        advance(by: step)
        return Timestamp(microseconds: microseconds.withLock { $0 })
    }

    /// A function that returns `now`.
    public var read: @Sendable () -> Timestamp { { self.now } }

    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds.withLock { $0 += seconds * 1_000_000 + attoseconds / 1_000_000_000_000 }
    }
}

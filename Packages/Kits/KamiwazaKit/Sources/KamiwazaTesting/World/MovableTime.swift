public import Capabilities
import Synchronization

/// A time of day that stands still until a test moves it.
///
///     let time = MovableTime()
///     setup.now = time.read
///     time.advance(by: .seconds(301))
public final class MovableTime: Sendable {
    private let microseconds = Mutex<Int64>(1_800_000_000_000_000)

    public init() {}

    public var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

    /// The same as a function.
    public var read: @Sendable () -> Timestamp { { self.now } }

    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds.withLock { $0 += seconds * 1_000_000 + attoseconds / 1_000_000_000_000 }
    }
}

import Capabilities
import Synchronization

/// A time of day that a test sets, also backwards.
final class TestTime: Sendable {
    static let start = Timestamp(microseconds: 1_800_000_000_000_000)

    private let moment = Mutex(TestTime.start)

    var now: Timestamp { moment.withLock { $0 } }

    /// The clock for the tested code.
    var clock: @Sendable () -> Timestamp { { self.now } }

    func move(by duration: Duration) {
        moment.withLock { $0 = $0.advanced(by: duration) }
    }
}

extension Timestamp {
    func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(microseconds: microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}

extension Secret {
    var revealed: String { withText { $0 } }
}

import Capabilities
import Synchronization

/// A time of day that advances by a microsecond with every read.
final class Ticks: Sendable {
    private let count = Mutex<Int64>(0)

    func next() -> Timestamp {
        count.withLock { count in
            count += 1
            return Timestamp(microseconds: count)
        }
    }
}

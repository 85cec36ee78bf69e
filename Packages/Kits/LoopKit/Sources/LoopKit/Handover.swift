import Synchronization

/// Hands values to a thread that waits for them without a task, one at a time.
public final class Handover<Value: Sendable>: Sendable {
    private let given = Mutex<Value?>(nil)
    private let bell = Bell()

    /// Nothing is handed over yet.
    public init() {}

    /// Hands over a value. Only when the one before was taken.
    public func give(_ value: Value) {
        given.withLock { $0 = value }
        bell.ring()
    }

    /// Waits for a value, which blocks the thread.
    public func take() -> Value? {
        bell.wait()
        return taken()
    }

    /// Waits for a value, which blocks the thread; nil if none comes in time.
    public func take(within limit: Duration) -> Value? { bell.wait(for: limit) ? taken() : nil }

    private func taken() -> Value? {
        given.withLock { given in
            defer { given = nil }
            return given
        }
    }
}

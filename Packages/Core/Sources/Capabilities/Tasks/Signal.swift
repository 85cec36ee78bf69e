import Synchronization

/// A number that only grows, and that tasks wait for. Several raises before a wait count as one.
public final class Signal: Sendable {
    private struct State {
        var count = 0
        var waiting: [Int: (beyond: Int, promise: Promise<Void>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// A signal that was never raised.
    public init() {}

    /// How often it was raised.
    public var count: Int { state.withLock { $0.count } }

    /// Raises the number, and wakes those who wait for that.
    public func raise() {
        let woken = state.withLock { state in
            state.count += 1
            let woken = state.waiting.filter { $0.value.beyond < state.count }
            for number in woken.keys { state.waiting[number] = nil }
            return woken.values.map(\.promise)
        }
        for promise in woken { promise.settle(()) }
    }

    /// Waits until the number is larger than `count`, and returns it.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    @discardableResult
    public func wait(beyond count: Int) async throws -> Int {
        // Also if it need not wait, or a loop over a signal that is raised all the time would never end.
        try Task.checkCancellation()
        let waiter = state.withLock { state -> (number: Int, promise: Promise<Void>)? in
            guard state.count <= count else { return nil }
            defer { state.next += 1 }
            let promise = Promise<Void>()
            state.waiting[state.next] = (count, promise)
            return (state.next, promise)
        }
        if let waiter {
            defer { state.withLock { _ = $0.waiting.removeValue(forKey: waiter.number) } }
            try await waiter.promise.value()
        }
        return self.count
    }

    /// Waits until the number is larger than `count` or `sleep` ends, and returns the number.
    public func wait(
        beyond count: Int, orUntil sleep: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.wait(beyond: count) }
            group.addTask { try await sleep() }
            defer { group.cancelAll() }
            try await group.next()
        }
        return self.count
    }

    /// The current number of waiters.
    var waiters: Int { state.withLock { $0.waiting.count } }
}

import Synchronization

/// The way of events from a turn to the one that reads them.
///
/// The turn gets only a little ahead, so that a slow reader slows it down. But a turn that has to end waits for nobody:
/// hurried, it leaves behind what is still to be read; abandoned, it throws that away.
final class Feed: Sendable {
    /// So many events may wait before the turn does.
    static let room = 64

    fileprivate struct State {
        var pending: [GatewayEvent] = []
        var reader: CheckedContinuation<Void, Never>?
        var writers: [CheckedContinuation<Void, Never>] = []
        var isHurried = false
        var isAbandoned = false
        var isFinished = false

        var isFull: Bool { pending.count >= Feed.room && !isHurried && !isAbandoned }
        /// Whether a reader would wait in vain, or need not wait.
        var isReady: Bool { !pending.isEmpty || isFinished || isAbandoned }
    }

    private let state = Mutex(State())

    /// Hands over events, and returns when the turn may go on.
    func send(_ events: [GatewayEvent]) async {
        guard post(events) else { return }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if state.isFull { state.writers.append(continuation) }
                return state.isFull
            }
            if !waits { continuation.resume() }
        }
    }

    /// Hands over events without waiting; true when the reader is behind.
    @discardableResult
    func post(_ events: [GatewayEvent]) -> Bool {
        let (reader, isFull) = state.withLock { state in
            guard !events.isEmpty, !state.isAbandoned else { return (CheckedContinuation<Void, Never>?.none, false) }
            state.pending += events
            return (state.reader.take(), state.isFull)
        }
        reader?.resume()
        return isFull
    }

    /// Waits until there is something to read, or there will be no more; also returns when the task is cancelled.
    func ready() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    if state.isReady || Task.isCancelled { return false }
                    state.reader = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
    }

    /// All that waits to be read; for one task at a time. Nil after the last, and when that task is cancelled.
    func next() async -> [GatewayEvent]? {
        await ready()
        if Task.isCancelled { return nil }
        let (events, writers) = state.withLock { state in
            defer { state.pending = [] }
            return (state.pending, state.takeWriters())
        }
        for writer in writers { writer.resume() }
        return events.isEmpty ? nil : events
    }

    /// From now on the turn waits for nobody.
    func hurry() { change { $0.isHurried = true } }

    /// Nobody reads any more.
    func abandon() {
        change {
            $0.isAbandoned = true
            $0.pending = []
        }
    }

    /// There is no more to come.
    func finish() { change { $0.isFinished = true } }

    private func change(_ body: (inout State) -> Void) {
        let (reader, writers) = state.withLock { state in
            body(&state)
            return (state.isReady ? state.reader.take() : nil, state.takeWriters())
        }
        reader?.resume()
        for writer in writers { writer.resume() }
    }
}

extension Feed.State {
    fileprivate mutating func takeWriters() -> [CheckedContinuation<Void, Never>] {
        defer { writers = [] }
        return writers
    }
}

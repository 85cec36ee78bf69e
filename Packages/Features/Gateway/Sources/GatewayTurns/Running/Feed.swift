import Synchronization

/// A queue of events from a turn to its reader.
///
/// The turn can get only a little ahead, so that a slow reader slows it down. A turn that must end does not wait: after
/// `hurry` unread events stay in the queue, and after `abandon` they are discarded.
final class Feed: Sendable {
    /// The number of unread events at which the turn waits.
    static let room = 64

    /// Takes events without waiting; returns false when it has no room for more. An error ends the reading.
    typealias Taker = @Sendable ([GatewayEvent]) throws -> Bool

    fileprivate struct State {
        var pending: [GatewayEvent] = []
        var reader: Reader?
        var writers: [CheckedContinuation<Void, Never>] = []
        var isHurried = false
        /// Whether a reader that waits without a taker should stop waiting.
        var isNudged = false
        var isAbandoned = false
        var isFinished = false

        var isFull: Bool { pending.count >= Feed.room && !isHurried && !isAbandoned }
        /// Whether a reader does not need to wait: there are events, or there will be no more.
        var isReady: Bool { !pending.isEmpty || isFinished || isAbandoned }
    }

    @safe fileprivate struct Reader {
        // Resumed exactly once, by the code that takes the reader out of the state. A checked continuation would
        // allocate an object for each stream.
        private let continuation: UnsafeContinuation<Wake, Never>
        /// Takes events while the reader waits, so that it need not be woken.
        let taker: Taker?

        init(_ continuation: UnsafeContinuation<Wake, Never>, taker: Taker?) {
            unsafe self.continuation = unsafe continuation
            self.taker = taker
        }

        func resume(_ wake: Wake) { unsafe continuation.resume(returning: wake) }
    }

    /// Why a reader is woken.
    fileprivate enum Wake {
        case look
        /// Its taker has no room for more.
        case full
        /// Its taker failed.
        case failed(any Error)
    }

    private let state = Mutex(State())

    // MARK: Writing

    /// Sends events, and returns when the turn may continue.
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

    /// Sends events without waiting; returns true when the queue is full.
    @discardableResult
    func post(_ events: [GatewayEvent]) -> Bool {
        let (reader, wake, isFull) = state.withLock { state in
            guard !events.isEmpty, !state.isAbandoned else { return (Reader?.none, Wake.look, false) }
            guard let taker = state.reader?.taker else {
                state.pending += events
                return (state.reader.take(), .look, state.isFull)
            }
            // Called under the lock, so that events stay in order. The taker does not wait and does not use this feed.
            do {
                if try taker(events) { return (nil, .look, false) }
                return (state.reader.take(), .full, false)
            } catch {
                return (state.reader.take(), .failed(error), false)
            }
        }
        reader?.resume(wake)
        return isFull
    }

    // MARK: Reading

    /// Waits until there are events to read, or there will be no more. Returns false if the task was cancelled or
    /// `nudge` was called before that.
    @discardableResult
    func ready() async -> Bool {
        _ = await wait(nil)
        return state.withLock { state in
            state.isNudged = false
            return state.isReady
        }
    }

    /// Ends the current or the next wait in `ready`.
    func nudge() {
        let reader = state.withLock { state in
            state.isNudged = true
            return state.reader?.taker == nil ? state.reader.take() : nil
        }
        reader?.resume(.look)
    }

    /// Returns all unread events; only one task at a time may call it. Nil after the last event, and when that task is
    /// cancelled.
    func next() async -> [GatewayEvent]? {
        _ = await wait(nil)
        return take()
    }

    /// Passes events to `taker` directly in the sending task, and returns after the last event, or when the reading
    /// task is cancelled. When the taker has no room, `room` waits for some, and the turn can get only a little ahead
    /// meanwhile.
    func forward(to taker: @escaping Taker, room: () async throws -> Void) async throws {
        while true {
            switch await wait(taker) {
            case .look:
                guard let events = take() else { return }
                if !(try taker(events)) { try await room() }
            case .full: try await room()
            case .failed(let error): throw error
            }
        }
    }

    private func wait(_ taker: Taker?) async -> Wake {
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    if state.isReady || Task.isCancelled || taker == nil && state.isNudged { return false }
                    state.reader = unsafe Reader(continuation, taker: taker)
                    return true
                }
                if !waits { unsafe continuation.resume(returning: .look) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(.look)
        }
    }

    private func take() -> [GatewayEvent]? {
        if Task.isCancelled { return nil }
        let (events, writers) = state.withLock { state in
            defer { state.pending = [] }
            return (state.pending, state.takeWriters())
        }
        for writer in writers { writer.resume() }
        return events.isEmpty ? nil : events
    }

    // MARK: The end

    /// From now on the turn does not wait for the reader.
    func hurry() { change { $0.isHurried = true } }

    /// Discards all events, since the reader is gone.
    func abandon() {
        change {
            $0.isAbandoned = true
            $0.pending = []
        }
    }

    /// Marks the last event as sent.
    func finish() { change { $0.isFinished = true } }

    private func change(_ body: (inout State) -> Void) {
        let (reader, writers) = state.withLock { state in
            body(&state)
            return (state.isReady ? state.reader.take() : nil, state.takeWriters())
        }
        reader?.resume(.look)
        for writer in writers { writer.resume() }
    }
}

extension Feed.State {
    fileprivate mutating func takeWriters() -> [CheckedContinuation<Void, Never>] {
        defer { writers = [] }
        return writers
    }
}

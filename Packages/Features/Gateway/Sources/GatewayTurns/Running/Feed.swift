import Synchronization

/// The way of events from a turn to the one that reads them.
///
/// The turn gets only a little ahead, so that a slow reader slows it down. But a turn that has to end waits for nobody:
/// hurried, it leaves behind what is still to be read; abandoned, it throws that away.
final class Feed: Sendable {
    /// So many events may wait before the turn does.
    static let room = 64

    /// Takes events without waiting; false when it has no room for more. What it throws ends the reading.
    typealias Taker = @Sendable ([GatewayEvent]) throws -> Bool

    fileprivate struct State {
        var pending: [GatewayEvent] = []
        var reader: Reader?
        var writers: [CheckedContinuation<Void, Never>] = []
        var isHurried = false
        /// Whether who waits without a taker need not wait any longer.
        var isNudged = false
        var isAbandoned = false
        var isFinished = false

        var isFull: Bool { pending.count >= Feed.room && !isHurried && !isAbandoned }
        /// Whether a reader would wait in vain, or need not wait.
        var isReady: Bool { !pending.isEmpty || isFinished || isAbandoned }
    }

    @safe fileprivate struct Reader {
        // Resumed by whoever takes the reader out of the state, once. A checked one would be an object for each stream.
        private let continuation: UnsafeContinuation<Wake, Never>
        /// Takes what comes while the reader waits, so that nobody has to wake it.
        let taker: Taker?

        init(_ continuation: UnsafeContinuation<Wake, Never>, taker: Taker?) {
            unsafe self.continuation = unsafe continuation
            self.taker = taker
        }

        func resume(_ wake: Wake) { unsafe continuation.resume(returning: wake) }
    }

    /// Why a reader goes on.
    fileprivate enum Wake {
        case look
        /// Its taker has no room for more.
        case full
        /// Its taker cannot go on.
        case failed(any Error)
    }

    private let state = Mutex(State())

    // MARK: Writing

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
        let (reader, wake, isFull) = state.withLock { state in
            guard !events.isEmpty, !state.isAbandoned else { return (Reader?.none, Wake.look, false) }
            guard let taker = state.reader?.taker else {
                state.pending += events
                return (state.reader.take(), .look, state.isFull)
            }
            // Under the lock, so that nothing overtakes. The taker does not wait, and knows nothing of this feed.
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

    /// Waits until there is something to read, or there will be no more. False when the task was cancelled or the feed
    /// nudged before that.
    @discardableResult
    func ready() async -> Bool {
        _ = await wait(nil)
        return state.withLock { state in
            state.isNudged = false
            return state.isReady
        }
    }

    /// Ends a wait in `ready`, or the next one.
    func nudge() {
        let reader = state.withLock { state in
            state.isNudged = true
            return state.reader?.taker == nil ? state.reader.take() : nil
        }
        reader?.resume(.look)
    }

    /// All that waits to be read; for one task at a time. Nil after the last, and when that task is cancelled.
    func next() async -> [GatewayEvent]? {
        _ = await wait(nil)
        return take()
    }

    /// Hands everything to `taker` where it comes into being, and returns after the last event, or when the reading task is
    /// cancelled. Where the taker has no room, `room` waits for some, and the turn gets only a little ahead meanwhile.
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

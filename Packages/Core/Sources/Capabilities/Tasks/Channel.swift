public import Synchronization

/// A queue from tasks that write to one task that reads, in order.
///
/// The writers can get only a little ahead, so that a slow reader slows them down. Writers that must end do not wait:
/// after `hurry` unread elements stay in the queue, and after `abandon` they are discarded.
///
/// Everything is inlinable, so that other packages get code for their own element type. The generic code takes several
/// times as long for each event.
public final class Channel<Element: Sendable>: Sendable {
    /// Takes elements without waiting; returns false when it has no room for more. An error ends the reading.
    public typealias Taker = @Sendable ([Element]) throws -> Bool

    @usableFromInline struct State: Sendable {
        @usableFromInline var pending: [Element] = []
        @usableFromInline var reader: Reader?
        @usableFromInline var writers: [CheckedContinuation<Void, Never>] = []
        @usableFromInline var isHurried = false
        /// Whether a reader that waits in `ready` should stop waiting.
        @usableFromInline var isNudged = false
        @usableFromInline var isAbandoned = false
        @usableFromInline var isFinished = false

        /// Whether a reader does not need to wait: there are elements, or there will be no more.
        @inlinable var isReady: Bool { !pending.isEmpty || isFinished || isAbandoned }

        @inlinable func isFull(_ limit: Int) -> Bool {
            pending.count >= limit && !isHurried && !isAbandoned && !isFinished
        }

        @inlinable mutating func takeWriters() -> [CheckedContinuation<Void, Never>] { exchange(&writers, with: []) }
    }

    @safe @usableFromInline struct Reader: Sendable {
        // Resumed exactly once, by the code that takes the reader out of the state. A checked continuation would
        // allocate an object for each channel.
        @usableFromInline let continuation: UnsafeContinuation<Wake, Never>
        /// Takes elements while the reader waits, so that it need not be woken.
        @usableFromInline let taker: Taker?
        @usableFromInline let heedsNudges: Bool

        @inlinable init(_ continuation: UnsafeContinuation<Wake, Never>, taker: Taker?, heedsNudges: Bool) {
            unsafe self.continuation = unsafe continuation
            self.taker = taker
            self.heedsNudges = heedsNudges
        }

        @inlinable func resume(_ wake: Wake) { unsafe continuation.resume(returning: wake) }
    }

    /// Why a reader is woken.
    @usableFromInline enum Wake: Sendable {
        case look
        /// Its taker has no room for more.
        case full
        /// Its taker failed.
        case failed(any Error)
    }

    @usableFromInline let limit: Int
    @usableFromInline let state = Mutex(State())

    /// An empty channel; `limit` is the number of unread elements at which the writers wait.
    @inlinable public init(limit: Int) {
        self.limit = limit
    }

    // MARK: Writing

    /// Sends elements, and returns when the writer may continue. Elements after the end are discarded. A cancelled task
    /// waits too.
    @inlinable public func send(_ elements: [Element]) async {
        guard post(elements) else { return }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if state.isFull(limit) { state.writers.append(continuation) }
                return state.isFull(limit)
            }
            if !waits { continuation.resume() }
        }
    }

    /// Sends elements without waiting; returns true when the queue is full.
    @discardableResult
    @inlinable public func post(_ elements: [Element]) -> Bool {
        let (reader, wake, isFull) = state.withLock { state in
            guard !elements.isEmpty, !state.isAbandoned, !state.isFinished else {
                return (Reader?.none, Wake.look, false)
            }
            guard let taker = state.reader?.taker else {
                if state.pending.isEmpty { state.pending = elements } else { state.pending += elements }
                return (state.reader.take(), .look, state.isFull(limit))
            }
            // Called under the lock, so that elements stay in order. The taker does not wait and does not use this
            // channel.
            do {
                if try taker(elements) { return (nil, .look, false) }
                return (state.reader.take(), .full, false)
            } catch {
                return (state.reader.take(), .failed(error), false)
            }
        }
        reader?.resume(wake)
        return isFull
    }

    // MARK: Reading

    /// Waits until there are elements to read, or there will be no more. Returns false if the task was cancelled or
    /// `nudge` was called before that.
    @discardableResult
    @inlinable public func ready() async -> Bool {
        _ = await wait(nil, heedsNudges: true)
        return state.withLock { state in
            state.isNudged = false
            return state.isReady
        }
    }

    /// Ends the current or the next wait in `ready`.
    @inlinable public func nudge() {
        let reader = state.withLock { state in
            state.isNudged = true
            return state.reader?.heedsNudges == true ? state.reader.take() : nil
        }
        reader?.resume(.look)
    }

    /// Returns all unread elements; only one task at a time may call it. Nil after the last element, and when that task
    /// is cancelled.
    @inlinable public func next() async -> [Element]? {
        _ = await wait(nil)
        return take()
    }

    /// Passes elements to `taker` directly in the sending task, and returns after the last element, or when the reading
    /// task is cancelled. When the taker has no room, `room` waits for some, and the writers can get only a little ahead
    /// meanwhile. Errors of both are thrown here.
    @inlinable public func forward(to taker: @escaping Taker, room: () async throws -> Void) async throws {
        while true {
            switch await wait(taker) {
            case .look:
                guard let elements = take() else { return }
                if !(try taker(elements)) { try await room() }
            case .full: try await room()
            case .failed(let error): throw error
            }
        }
    }

    @inlinable func wait(_ taker: Taker?, heedsNudges: Bool = false) async -> Wake {
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    if state.isReady || Task.isCancelled || heedsNudges && state.isNudged { return false }
                    state.reader = unsafe Reader(continuation, taker: taker, heedsNudges: heedsNudges)
                    return true
                }
                if !waits { unsafe continuation.resume(returning: .look) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(.look)
        }
    }

    @inlinable func take() -> [Element]? {
        if Task.isCancelled { return nil }
        let (elements, writers) = state.withLock { state in
            (exchange(&state.pending, with: []), state.takeWriters())
        }
        for writer in writers { writer.resume() }
        return elements.isEmpty ? nil : elements
    }

    // MARK: The end

    /// From now on the writers do not wait for the reader.
    @inlinable public func hurry() { change { $0.isHurried = true } }

    /// Discards all elements, since the reader is gone.
    @inlinable public func abandon() {
        change {
            $0.isAbandoned = true
            $0.pending = []
        }
    }

    /// Marks the last element as sent.
    @inlinable public func finish() { change { $0.isFinished = true } }

    @inlinable func change(_ body: (inout State) -> Void) {
        let (reader, writers) = state.withLock { state in
            body(&state)
            return (state.isReady ? state.reader.take() : nil, state.takeWriters())
        }
        reader?.resume(.look)
        for writer in writers { writer.resume() }
    }
}

import HTTPCore
import Synchronization

/// One attempt, shared by the caller's task and the engine's thread.
///
/// The engine adds the head and the bytes; the single reader waits for them and takes everything available at once.
final class Transfer: Sendable {
    /// What the reader waits for.
    enum Want: Sendable {
        case head, bytes, end
    }

    /// What the engine should do after it received bytes.
    enum Verdict {
        case taken, pause, tooLarge
    }

    struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        /// The last large buffer given to the reader. Refilling a warm buffer costs half as much as a new one, so it is
        /// reused once the reader has released it.
        var given: [UInt8] = []
        /// How many bytes may wait for the reader of a stream.
        var ahead: ReadAhead
        var end: Result<Void, HTTPError>?
        /// The engine has paused the server until the bytes are taken.
        var isPaused = false
        var isCancelled = false
        var wasLarge = false
        var waiter: (want: Want, task: Suspension)?

        init(_ delivery: TransferPlan.Delivery) {
            switch delivery {
            case .whole: ahead = ReadAhead(0)
            case .stream(let limit): ahead = ReadAhead(limit)
            }
        }

        func has(_ want: Want) -> Bool {
            if end != nil || isCancelled { return true }
            return switch want {
            case .head: head != nil
            case .bytes: !bytes.isEmpty
            case .end: false
            }
        }

        mutating func takeWaiter() -> Suspension? {
            guard let waiter, has(waiter.want) else { return nil }
            self.waiter = nil
            return waiter.task
        }
    }

    let plan: TransferPlan
    private let engine: Engine
    private let state: Mutex<State>

    init(_ plan: TransferPlan, on engine: Engine) {
        self.plan = plan
        self.engine = engine
        state = Mutex(State(plan.delivery))
    }
}

// MARK: The reader's side.

extension Transfer {
    /// Waits for the head; the body may still be arriving.
    nonisolated(nonsending) func head() async throws -> ResponseHead {
        try await wait(for: .head)
        return try state.withLock { (state) throws(HTTPError) in
            if let head = state.head { return head }
            try state.end?.get()
            throw HTTPError.internalEnd
        }
    }

    /// Waits for bytes and takes all available ones; nil at the end.
    nonisolated(nonsending) func nextBytes() async throws -> [UInt8]? {
        while true {
            if let bytes = try takeBytes() { return bytes.isEmpty ? nil : bytes }
            try await wait(for: .bytes)
        }
    }

    /// Waits for the end and returns the head and the whole body.
    nonisolated(nonsending) func whole() async throws -> (ResponseHead, [UInt8]) {
        try await wait(for: .end)
        return try state.withLock { (state) throws(HTTPError) in
            try state.end?.get()
            guard let head = state.head else { throw HTTPError.internalEnd }
            var bytes: [UInt8] = []
            swap(&bytes, &state.bytes)
            return (head, bytes)
        }
    }

    /// Ends a running attempt and resumes its waiting reader.
    func cancel() {
        let (waiter, mustTell) = state.withLock { state in
            guard !state.isCancelled, state.end == nil else {
                return (Suspension?.none, false)
            }
            state.isCancelled = true
            state.bytes = []
            return (state.takeWaiter(), true)
        }
        waiter?.resume()
        if mustTell { engine.post(.cancel(self)) }
    }

    /// Nil if there are no bytes yet, empty at the end.
    private func takeBytes() throws -> [UInt8]? {
        var bytes: [UInt8] = []
        let wasPaused = try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            guard state.bytes.isEmpty else {
                swap(&bytes, &state.bytes)
                state.wasLarge = bytes.count >= 64 << 10
                swap(&state.bytes, &state.given)
                // Allocates a new buffer of that size if the reader still holds the last one.
                state.bytes.removeAll(keepingCapacity: state.wasLarge)
                if state.wasLarge { state.given = bytes }
                defer { state.isPaused = false }
                if !state.isPaused { state.ahead.taken(bytes.count) }
                return state.isPaused
            }
            return false
        }
        if wasPaused { engine.post(.resume(self)) }
        if !bytes.isEmpty { return bytes }
        return try state.withLock { (state) throws(HTTPError) -> [UInt8]? in
            guard state.bytes.isEmpty, let end = state.end else { return nil }
            try end.get()
            return []
        }
    }

    private nonisolated(nonsending) func wait(for want: Want) async throws {
        if Task.isCancelled { cancel() }
        if !state.withLock({ $0.has(want) }) {
            let isFree = await withTaskCancellationHandler {
                await suspend(for: want)
            } onCancel: {
                cancel()
            }
            guard isFree else {
                throw HTTPError(
                    .invalid, "two tasks read the same response; only one can read at a time", mayHaveBeenSent: true)
            }
        }
        if state.withLock(\.isCancelled) { throw CancellationError() }
    }

    /// False if another task already waits.
    private nonisolated(nonsending) func suspend(for want: Want) async -> Bool {
        var isFree = true
        await Suspension.wait { task in
            state.withLock { state in
                if state.waiter != nil { isFree = false }
                if !isFree || state.has(want) { return false }
                state.waiter = (want, task)
                return true
            }
        }
        return isFree
    }
}

// MARK: The engine's side.

extension Transfer {
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Receives the head. The engine wakes the reader when it has taken what came with it, so that a small response wakes
    /// it once.
    func receive(_ head: ResponseHead) {
        state.withLock { $0.head = head }
    }

    /// Receives body bytes; `expected` is the announced number of bytes still to come.
    ///
    /// A waiting reader is woken at once only when there is a lot of data; otherwise the engine wakes it as soon as no
    /// more arrives.
    func receive(_ new: UnsafeRawBufferPointer, expected: Int?) -> Verdict {
        let (verdict, waiter) = state.withLock { state -> (Verdict, Suspension?) in
            switch plan.delivery {
            case .whole(let limit):
                guard new.count <= limit - state.bytes.count else { return (.tooLarge, nil) }
                // The announced length alone does not justify allocating that much memory at once.
                if state.bytes.isEmpty { state.bytes.reserveCapacity(min(max(expected ?? 0, new.count), 1 << 20)) }
                unsafe state.bytes.append(contentsOf: new)
                return (.taken, nil)
            case .stream:
                let limit = state.ahead.size
                guard state.bytes.isEmpty || state.bytes.count + new.count <= limit else {
                    state.isPaused = true
                    return (.pause, state.takeWaiter())
                }
                if state.bytes.isEmpty, state.wasLarge || expected ?? 0 > new.count {
                    state.bytes.reserveCapacity(max(new.count, min(limit, expected ?? .max)))
                }
                unsafe state.bytes.append(contentsOf: new)
                return (.taken, state.bytes.count >= limit / 2 ? state.takeWaiter() : nil)
            }
        }
        waiter?.resume()
        return verdict
    }

    /// The reader took bytes that had waited this many nanoseconds.
    func released(after pause: Int64) {
        state.withLock { state in
            state.ahead.released(after: pause)
            if pause > ReadAhead.patience { state.given = [] }
        }
    }

    /// Wakes the reader if it waits for what has arrived.
    func wakeReader() {
        let waiter = state.withLock { $0.takeWaiter() }
        waiter?.resume()
    }

    func finish(_ result: Result<Void, HTTPError>) {
        let waiter = state.withLock { state in
            if state.end == nil { state.end = result }
            state.given = []
            return state.takeWaiter()
        }
        waiter?.resume()
    }
}

extension HTTPError {
    /// Unreachable: the engine ends an attempt without a head only with an error.
    static let internalEnd = HTTPError(.badAnswer, "the response ended before it began")
}

/// How many bytes of a stream may wait for its reader: the request's value at first, and more while the reader keeps
/// up.
///
/// The server is paused when the buffer is full, and the reader is woken when it is half full. Both switch threads,
/// which a fast stream would do for every piece. A slow reader gains nothing from a larger buffer, so it shrinks again.
struct ReadAhead: Sendable {
    /// The maximum size, in bytes.
    static let most = 512 << 10
    /// A reader that leaves a full buffer for longer is slow; in nanoseconds.
    static let patience: Int64 = 5_000_000

    private let usual: Int
    /// The current size, in bytes.
    private(set) var size: Int

    init(_ usual: Int) {
        (self.usual, size) = (usual, usual)
    }

    /// The reader took this many bytes before the server was paused.
    mutating func taken(_ count: Int) {
        if count >= size / 2 { grow() }
    }

    /// The server was paused for this many nanoseconds until the reader came.
    mutating func released(after pause: Int64) {
        if pause > Self.patience { size = usual } else { grow() }
    }

    private mutating func grow() {
        size = max(size, min(2 * size, Self.most))
    }
}

/// A waiting task that must be resumed exactly once.
///
/// It uses the unsafe continuation because a checked one costs an allocation for each wait. The code that removes a
/// suspension from its place under the lock must resume it.
@safe struct Suspension: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task unless `keep` returns false because there is nothing to wait for. If `keep` stores the
    /// suspension, its holder must resume it.
    static nonisolated(nonsending) func wait(_ keep: (Suspension) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            if !keep(unsafe Suspension(continuation: continuation)) { unsafe continuation.resume() }
        }
    }

    func resume() {
        unsafe continuation.resume()
    }
}

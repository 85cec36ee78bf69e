import HTTPCore
import Synchronization

/// One try, as the caller's task and the engine's thread share it.
///
/// The engine puts the head and the bytes in; the one reader waits for them and takes all that is there at once.
final class Transfer: Sendable {
    /// What the reader waits for.
    enum Want: Sendable {
        case head, bytes, end
    }

    /// What the engine is to do with bytes that came.
    enum Verdict {
        case taken, pause, tooLarge
    }

    struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        /// What the reader was given last, if that was much. Room that is still warm costs half of fresh one, so it is
        /// filled again once the reader has let go of it.
        var given: [UInt8] = []
        /// How many of them may wait for the reader of a stream.
        var ahead: ReadAhead
        var end: Result<Void, HTTPError>?
        /// The engine holds the server up until the bytes are taken.
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
    /// Waits for the head; the body may still be on its way.
    nonisolated(nonsending) func head() async throws -> ResponseHead {
        try await wait(for: .head)
        return try state.withLock { (state) throws(HTTPError) in
            if let head = state.head { return head }
            try state.end?.get()
            throw HTTPError.internalEnd
        }
    }

    /// Waits for bytes and takes all that are there; nil is the end.
    nonisolated(nonsending) func nextBytes() async throws -> [UInt8]? {
        while true {
            if let bytes = try takeBytes() { return bytes.isEmpty ? nil : bytes }
            try await wait(for: .bytes)
        }
    }

    /// Waits for the end, and takes the head and the whole body.
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

    /// Ends the try, if it runs, and whoever waits for it.
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

    /// Nil when nothing is there yet, empty at the end.
    private func takeBytes() throws -> [UInt8]? {
        var bytes: [UInt8] = []
        let wasPaused = try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            guard state.bytes.isEmpty else {
                swap(&bytes, &state.bytes)
                state.wasLarge = bytes.count >= 64 << 10
                swap(&state.bytes, &state.given)
                // Other room of that size where the reader keeps what it was given.
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

    /// False when somebody else waits already.
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

    func receive(_ head: ResponseHead) {
        let waiter = state.withLock { state in
            state.head = head
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Takes bytes of the body in; `expected` is how many are still to come as far as the server said.
    ///
    /// A reader that waits is woken at once only when much is there: the engine wakes it as soon as no more comes.
    func receive(_ new: UnsafeRawBufferPointer, expected: Int?) -> Verdict {
        let (verdict, waiter) = state.withLock { state -> (Verdict, Suspension?) in
            switch plan.delivery {
            case .whole(let limit):
                guard new.count <= limit - state.bytes.count else { return (.tooLarge, nil) }
                // What a server says of its length is no reason to take that much memory at once.
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

    /// The reader came for what had waited for so many nanoseconds.
    func released(after pause: Int64) {
        state.withLock { state in
            state.ahead.released(after: pause)
            if pause > ReadAhead.patience { state.given = [] }
        }
    }

    /// Wakes the reader, if it waits for what is there.
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
    /// Cannot happen: the engine ends a try without a head only with an error.
    static let internalEnd = HTTPError(.badAnswer, "the response ended before it began")
}

/// How much of a stream may wait for its reader: what the request says at first, and more while the reader keeps up.
///
/// Each time the room is full the server is held up, and each time it is half full the reader is woken: both are a change
/// of threads, which a fast stream would do for every piece. A slow reader gains nothing by more room, so it is taken back.
struct ReadAhead: Sendable {
    /// As much as it may become.
    static let most = 512 << 10
    /// Who lets a full room wait for longer is slow; in nanoseconds.
    static let patience: Int64 = 5_000_000

    private let usual: Int
    /// The room that there is now, in bytes.
    private(set) var size: Int

    init(_ usual: Int) {
        (self.usual, size) = (usual, usual)
    }

    /// The reader has taken so much before the server was held up.
    mutating func taken(_ count: Int) {
        if count >= size / 2 { grow() }
    }

    /// The server was held up for so many nanoseconds until the reader came.
    mutating func released(after pause: Int64) {
        if pause > Self.patience { size = usual } else { grow() }
    }

    private mutating func grow() {
        size = max(size, min(2 * size, Self.most))
    }
}

/// A task that waits, and must be resumed exactly once.
///
/// Over the unsafe continuation, because a checked one costs an allocation for each wait; who takes a suspension out of
/// its place under a lock is the one who resumes it.
@safe struct Suspension: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task, unless `keep` says that there is nothing to wait for; if it keeps the suspension, somebody
    /// resumes it.
    static nonisolated(nonsending) func wait(_ keep: (Suspension) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            if !keep(unsafe Suspension(continuation: continuation)) { unsafe continuation.resume() }
        }
    }

    func resume() {
        unsafe continuation.resume()
    }
}

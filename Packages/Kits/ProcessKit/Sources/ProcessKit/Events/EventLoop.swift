import CProcessKit
import Glibc
import Synchronization

/// One thread that waits in epoll for every descriptor of its owner, and wakes the tasks that wait for one.
///
/// It only tells that a descriptor is ready; the tasks read and write by themselves, so nothing is read before
/// somebody asks for it. One thread serves any number of children, whereas a thread a pipe would cost three a child.
final class EventLoop: Sendable {
    /// Why a wait is over.
    enum Wake: Sendable {
        case ready, closed, timedOut, cancelled
        /// The system refused to watch the descriptor.
        case failed(Int32)
    }

    typealias Continuation = CheckedContinuation<Wake, Never>
    typealias Instant = ContinuousClock.Instant

    struct Waiter {
        let token: UInt64
        let continuation: Continuation
    }

    struct State {
        var epoll: Int32 = -1
        var wakeup: Int32 = -1
        var thread: pthread_t?
        var isStopped = false
        var waiters: [Int32: [Waiter]] = [:]
        /// The deadlines by the token of the waiter; most have none.
        var deadlines: [UInt64: (time: Instant, descriptor: Int32)] = [:]
        var lastToken: UInt64 = 0
    }

    let state = Mutex(State())

    func makeToken() -> UInt64 {
        state.withLock { state in
            state.lastToken += 1
            return state.lastToken
        }
    }

    /// Resumes `continuation` once the descriptor is ready, forgotten or too late; `start` must have succeeded before.
    func wait(
        for descriptor: Int32, writing: Bool, token: UInt64, until deadline: Instant?, _ continuation: Continuation
    ) {
        let refusal = state.withLock { state -> Wake? in
            if state.isStopped { return .closed }
            let result = processkit_epoll_arm(state.epoll, descriptor, writing)
            guard result == 0 else { return .failed(-result) }
            state.waiters[descriptor, default: []].append(Waiter(token: token, continuation: continuation))
            if let deadline {
                state.deadlines[token] = (deadline, descriptor)
                // The thread may be sleeping past this deadline.
                Self.notify(state.wakeup)
            }
            return nil
        }
        if let refusal { continuation.resume(returning: refusal) }
    }

    /// Ends the wait of a cancelled task.
    func cancel(_ token: UInt64, of descriptor: Int32) {
        let waiter = state.withLock { $0.takeWaiter(token, of: descriptor) }
        waiter?.continuation.resume(returning: .cancelled)
    }

    /// Ends all waits for a descriptor that is about to be closed.
    func forget(_ descriptor: Int32) {
        let waiters = state.withLock { state in
            processkit_epoll_forget(state.epoll, descriptor)
            return state.takeWaiters(of: descriptor)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .closed) }
    }

    static func notify(_ wakeup: Int32) {
        // Fails only when the counter is full, and then the thread is awake anyway.
        var one: UInt64 = 1
        _ = unsafe write(wakeup, &one, MemoryLayout<UInt64>.size)
    }
}

extension EventLoop.State {
    mutating func takeWaiter(_ token: UInt64, of descriptor: Int32) -> EventLoop.Waiter? {
        guard let index = waiters[descriptor]?.firstIndex(where: { $0.token == token }) else { return nil }
        deadlines[token] = nil
        return waiters[descriptor]?.remove(at: index)
    }

    mutating func takeWaiters(of descriptor: Int32) -> [EventLoop.Waiter] {
        guard let found = waiters.removeValue(forKey: descriptor) else { return [] }
        if !deadlines.isEmpty {
            for waiter in found { deadlines[waiter.token] = nil }
        }
        return found
    }
}

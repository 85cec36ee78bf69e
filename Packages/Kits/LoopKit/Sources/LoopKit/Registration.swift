import CLoopKit
import Glibc
import Synchronization

/// The state of a descriptor in its loop: its readiness and its waiters.
///
/// One lock guards all of it and is held during each use of the descriptor. So the number cannot be closed and reused
/// meanwhile, and a readiness between "would block" and its record cannot be lost.
final class Registration: Sendable {
    @safe
    struct Waiter {
        let token: UInt64
        let direction: Readiness
        /// On the clock of the loop; `.max` for none.
        let deadline: Int64
        // Resumed once by the code that removes it from the list, always under the lock. A checked continuation would
        // only cost an allocation for each wait.
        let continuation: UnsafeContinuation<Wake, Never>

        func resume(_ wake: Wake) { unsafe continuation.resume(returning: wake) }
    }

    enum Wake: Sendable {
        case ready, closed, timedOut, cancelled
    }

    struct State {
        /// Nil once closed.
        var descriptor: Int32?
        /// Ready until a call would block, because the first attempt costs less than waiting for the first event.
        var ready: Readiness = [.readable, .writable]
        /// Whether the loop still reports events.
        var isWatched = true
        var isHungUp = false
        var waiters: [Waiter] = []
        var lastToken: UInt64 = 0
        /// The one deadline that the loop knows of; never after the nearest of the waiters.
        var scheduled = Int64.max
        var hangUpHandler: (@Sendable () -> Void)?
    }

    let core: LoopCore
    private let token: UInt64
    private let isOwned: Bool
    private let state: Mutex<State>

    init(_ descriptor: Int32, isOwned: Bool, core: LoopCore, token: UInt64) {
        self.core = core
        self.token = token
        self.isOwned = isOwned
        state = Mutex(State(descriptor: descriptor))
    }

    /// Passes the descriptor to `body`, which removes from the readiness what would have blocked.
    func use<Result, Failure>(
        _ body: (Int32, inout Readiness) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try state.withLock { (state) throws(Failure) in
            guard let descriptor = state.descriptor else { return nil }
            return try body(descriptor, &state.ready)
        }
    }

    func close() {
        let (waiters, handler) = state.withLock { state in
            guard let descriptor = state.descriptor else { return ([Waiter](), nil as (@Sendable () -> Void)?) }
            core.remove(descriptor, token)
            if isOwned { _ = Glibc.close(descriptor) }
            state.descriptor = nil
            return state.takeEverything()
        }
        for waiter in waiters { waiter.resume(.closed) }
        // Releasing the handler may close something else, so it is released outside the lock.
        _ = handler
    }

    /// Returns the descriptor instead of closing it.
    func release() -> Int32? {
        let (descriptor, (waiters, handler)) = state.withLock { state in
            if let descriptor = state.descriptor { core.remove(descriptor, token) }
            return (state.descriptor.take(), state.takeEverything())
        }
        for waiter in waiters { waiter.resume(.closed) }
        _ = handler
        return descriptor
    }

    func setHangUpHandler(_ handler: (@Sendable () -> Void)?) {
        let (former, isHungUp) = state.withLock { state in
            let former = state.hangUpHandler
            let canCome = state.descriptor != nil && state.isWatched && !state.isHungUp
            state.hangUpHandler = canCome ? handler : nil
            return (former, state.isHungUp && state.descriptor != nil)
        }
        _ = former
        if isHungUp { handler?() }
    }
}

// MARK: Waiting

extension Registration {
    /// The result of a wait that need not start, or the token of one that must.
    enum Start {
        case over(Wake)
        case waiting(UInt64)
    }

    func prepare(_ direction: Readiness) -> Start {
        state.withLock { state in
            if let wake = state.answer(for: direction) { return .over(wake) }
            state.lastToken += 1
            return .waiting(state.lastToken)
        }
    }

    func enqueue(_ waiter: Waiter, unlessCancelled: Bool) {
        let answer = state.withLock { state -> Wake? in
            // A cancellation sets the flag before it calls the handler, so one of the two sees this wait.
            if unlessCancelled, Task.isCancelled { return .cancelled }
            if let wake = state.answer(for: waiter.direction) { return wake }
            state.waiters.append(waiter)
            schedule(waiter.deadline, &state)
            return nil
        }
        if let answer { waiter.resume(answer) }
    }

    /// Ends the wait of a cancelled task.
    func cancel(_ token: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.token == token }.map { state.waiters.remove(at: $0) }
        }
        waiter?.resume(.cancelled)
    }

    /// Passes a deadline to the loop only when it is nearer than the known one, so that a deadline that keeps moving
    /// on, such as for idle connections, costs nothing.
    private func schedule(_ deadline: Int64, _ state: inout State) {
        guard deadline < state.scheduled else { return }
        state.scheduled = deadline
        core.schedule(deadline, token)
    }
}

// MARK: On the thread of the loop

extension Registration {
    func receive(_ ready: UInt32) {
        let (waiters, handler) = state.withLock { state in
            let directions = Readiness(rawValue: UInt8(ready & 3))
            state.ready.formUnion(directions)
            var handler: (@Sendable () -> Void)?
            if ready & UInt32(LOOPKIT_HUNG_UP) != 0 {
                state.isHungUp = true
                handler = state.hangUpHandler.take()
            }
            return (state.takeWaiters { !$0.direction.isDisjoint(with: directions) }, handler)
        }
        for waiter in waiters { waiter.resume(.ready) }
        handler?()
    }

    func expire(scheduled: Int64, now: Int64) {
        let waiters = state.withLock { state -> [Waiter] in
            // A nearer deadline has replaced this one.
            guard state.scheduled == scheduled else { return [] }
            state.scheduled = .max
            let expired = state.takeWaiters { $0.deadline <= now }
            if let next = state.waiters.map(\.deadline).min() { schedule(next, &state) }
            return expired
        }
        for waiter in waiters { waiter.resume(.timedOut) }
    }

    /// The loop has stopped.
    func detach() {
        let (waiters, handler) = state.withLock { state in
            state.isWatched = false
            return state.takeEverything()
        }
        for waiter in waiters { waiter.resume(.closed) }
        _ = handler
    }
}

extension Registration.State {
    fileprivate func answer(for direction: Readiness) -> Registration.Wake? {
        if descriptor == nil || !isWatched { return .closed }
        return ready.isDisjoint(with: direction) ? nil : .ready
    }

    fileprivate mutating func takeWaiters(where isWanted: (Registration.Waiter) -> Bool) -> [Registration.Waiter] {
        // There is nearly always at most one waiter.
        if waiters.allSatisfy(isWanted) {
            defer { waiters = [] }
            return waiters
        }
        let wanted = waiters.filter(isWanted)
        waiters.removeAll(where: isWanted)
        return wanted
    }

    fileprivate mutating func takeEverything() -> ([Registration.Waiter], (@Sendable () -> Void)?) {
        defer { waiters = [] }
        return (waiters, hangUpHandler.take())
    }
}

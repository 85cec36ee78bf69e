public import Capabilities
import Synchronization

/// Gives requests a token that is valid, and renews it once for all who need that: the tasks of this process, and the
/// processes that share the session.
///
///     let keeper = SessionKeeper(source, now: now)
///     var session = try await keeper.session()                                  // before a request
///     session = try await keeper.session(refusing: session.accessToken)         // after its 401
///     await keeper.close()
///
/// A renewal belongs to the keeper and not to the requests that wait for it. It goes on when they are cancelled, because
/// the server may have replaced the refresh token already; `close` waits for it.
public final class SessionKeeper: Sendable {
    struct State {
        /// The newest session that is known here; another process may have stored a newer one.
        var current: Session?
        var renewal: Renewal?
        /// What a renewal brought and storage did not take, with the token that it replaces.
        var unsaved: (session: Session, replaced: Secret)?
        /// Counts the changes from outside, so that a renewal begun before one is not kept after it.
        var generation = 0
        var isClosed = false
    }

    /// One renewal, or the first look at what is stored.
    struct Renewal {
        let work: SharedWork<Session>
        let task: Task<Void, Never>
        let refused: Secret?
    }

    let source: any SessionSource
    let now: @Sendable () -> Timestamp
    let state = Mutex(State())

    /// - Parameter now: the time of day, to which expiries are compared.
    public init(_ source: any SessionSource, now: @escaping @Sendable () -> Timestamp) {
        self.source = source
        self.now = now
    }

    /// A session to send now. After a 401, `refused` is the token that the server did not take.
    ///
    /// Throws `SignInError` with `.signedOut` or `.signInAgain` where only a person can help, and the error of the
    /// network or of storage where the next call may have more luck. Cancelling ends the wait and nothing else.
    public func session(refusing refused: Secret? = nil) async throws -> Session {
        while true {
            try Task.checkCancellation()
            switch try next(refusing: refused) {
            case .use(let session): return session
            case .wait(let work, let isMeant):
                let session = try await work.value()
                // A renewal that began for another reason may have brought just the token that was refused here.
                if isMeant || isUsable(session, refusing: refused) { return session }
            }
        }
    }

    private enum Step {
        case use(Session)
        /// `isMeant` where the renewal is about the same refusal, so that its outcome counts whatever it is.
        case wait(SharedWork<Session>, isMeant: Bool)
    }

    private func next(refusing refused: Secret?) throws(SignInError) -> Step {
        try state.withLock { (state) throws(SignInError) in
            if state.unsaved == nil, let current = state.current, isUsable(current, refusing: refused) {
                return .use(current)
            }
            guard !state.isClosed else {
                throw SignInError(.closed, "the session was closed before the request was sent")
            }
            if let renewal = state.renewal {
                return .wait(renewal.work, isMeant: isSame(renewal.refused, refused))
            }
            let renewal = begin(refused, generation: state.generation)
            state.renewal = renewal
            return .wait(renewal.work, isMeant: true)
        }
    }

    /// Stores a session that somebody has just signed in for, in the place of what was there.
    public func adopt(_ session: Session) async throws {
        try await source.exclusively { [source] in try await source.store(session) }
        reset()
    }

    /// Forgets what is known here, after the stored session was replaced or removed.
    public func reset() {
        state.withLock { state in
            state.generation += 1
            state.current = nil
            state.unsaved = nil
        }
    }

    /// Takes no more requests, and returns when a renewal that is on its way has been stored.
    public func close() async {
        let task = state.withLock { state in
            state.isClosed = true
            return state.renewal?.task
        }
        await task?.value
        await saveAtLast()
    }

    func isUsable(_ session: Session, refusing refused: Secret?) -> Bool {
        if session.hasEnded { return false }
        if let refused, session.accessToken.equals(refused) { return false }
        // What cannot be renewed is sent to its end and beyond: this machine's clock may be the one that is wrong.
        return !session.canBeRenewed || !session.isStale(at: now())
    }

    private func isSame(_ left: Secret?, _ right: Secret?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.equals(right)
        default: false
        }
    }
}

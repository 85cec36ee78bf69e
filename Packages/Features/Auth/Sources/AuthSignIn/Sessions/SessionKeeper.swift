public import Capabilities
import Synchronization

/// Gives requests a token that is valid, and renews it once for all who need that: the tasks of this process, and the
/// processes that share the session. What another process does to the session, such as to sign out, counts from the next
/// request on.
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
        /// How the stored session looked before `current` was read; nil where it cannot be told without reading.
        var mark: SessionMark?
        /// The last renewal that failed on the way, which is not tried again at once.
        var failed: FailedRenewal?
        var renewal: Renewal?
        /// What a renewal brought and storage did not take, with the token that it replaces.
        var unsaved: (session: Session, replaced: Secret)?
        /// Counts the changes from outside, so that a renewal begun before one is not kept after it.
        var generation = 0
        var isClosed = false
    }

    /// A renewal that failed for a reason which may pass.
    struct FailedRenewal {
        /// The access token that was to be replaced.
        let token: Secret
        let error: any Error
        let failed: Timestamp
        let wait: Duration

        /// Whether it is too early for another try. A clock that was set back must not make it wait for ever.
        func holds(_ token: Secret, at now: Timestamp) -> Bool {
            token.equals(self.token) && now >= failed && now - failed < wait
        }
    }

    /// The pause after a failed renewal, doubled with each further one up to the longest.
    static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(30))

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
            switch try next(refusing: refused, mark: source.mark()) {
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

    private func next(refusing refused: Secret?, mark: SessionMark?) throws(SignInError) -> Step {
        try state.withLock { (state) throws(SignInError) in
            if state.unsaved == nil, let current = state.current, let mark, mark == state.mark,
                isUsable(current, refusing: refused)
            {
                return .use(current)
            }
            guard !state.isClosed else {
                throw SignInError(.closed, "the session was closed before the request was sent")
            }
            if let renewal = state.renewal {
                return .wait(renewal.work, isMeant: isSame(renewal.refused, refused))
            }
            let renewal = begin(refused, generation: state.generation, mark: mark)
            state.renewal = renewal
            return .wait(renewal.work, isMeant: true)
        }
    }

    /// Stores a session that somebody has just signed in for, and returns the one that it replaces, where that can be
    /// read.
    @discardableResult
    public func adopt(_ session: Session) async throws -> Session? {
        let former = try await source.exclusively { [source] in
            let former: Session?
            // Signing in again is just what mends a session that cannot be read.
            do { former = try await source.load() } catch let error as SignInError where error.kind == .unreadable {
                former = nil
            }
            try await source.store(session)
            return former
        }
        reset()
        return former
    }

    /// Forgets what is known here, after the stored session was replaced or removed.
    public func reset() {
        state.withLock { state in
            state.generation += 1
            state.current = nil
            state.unsaved = nil
            state.failed = nil
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

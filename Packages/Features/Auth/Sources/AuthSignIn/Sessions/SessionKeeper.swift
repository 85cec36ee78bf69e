public import Capabilities
import Synchronization

/// Provides a valid token for requests. It renews the token once for all tasks of this process and for all processes
/// that share the session. Changes by another process, such as signing out, apply from the next request on.
///
///     let keeper = SessionKeeper(source, now: now)
///     var session = try await keeper.session()                                  // before a request
///     session = try await keeper.session(refusing: session.accessToken)         // after its 401
///     await keeper.close()
///
/// A renewal belongs to the keeper, not to the requests that wait for it. It continues when they are cancelled, because
/// the server may already have replaced the refresh token. `close` waits for it.
public final class SessionKeeper: Sendable {
    struct State {
        /// The newest session known to this process. Another process may have stored a newer one.
        var current: Session?
        /// The mark of the stored session before `current` was read. Nil when the source has no marks.
        var mark: SessionMark?
        /// The last failed renewal, which is not retried at once.
        var failed: FailedRenewal?
        var renewal: Renewal?
        /// A renewed session that could not be stored yet, with the token that it replaces.
        var unsaved: (session: Session, replaced: Secret)?
        /// Counts changes from outside, so that the result of a renewal that began before a change is dropped.
        var generation = 0
        var isClosed = false
    }

    /// A renewal that failed for a temporary reason.
    struct FailedRenewal {
        /// The access token that should have been replaced.
        let token: Secret
        let error: any Error
        let failed: Timestamp
        let wait: Duration

        /// Whether it is too early for a retry. A clock that was set back must not block retries for ever.
        func holds(_ token: Secret, at now: Timestamp) -> Bool {
            token.equals(self.token) && now >= failed && now - failed < wait
        }
    }

    /// The pause after a failed renewal. It doubles with each further failure, up to the longest pause.
    static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(30))

    /// One renewal, or the first read of the stored session.
    struct Renewal {
        let work: Promise<Session>
        let task: Task<Void, Never>
        let refused: Secret?
    }

    private let source: any SessionSource
    let now: @Sendable () -> Timestamp
    let state = Mutex(State())

    /// - Parameter now: the current time, to compare with expiries.
    public init(_ source: any SessionSource, now: @escaping @Sendable () -> Timestamp) {
        self.source = source
        self.now = now
    }

    /// Returns a session that can be used now. After a 401, `refused` is the token that the server rejected.
    ///
    /// Throws `SignInError` with `.signedOut` or `.signInAgain` when the user must sign in, and the error of the
    /// network or storage when a later call may succeed. Cancelling ends only the wait.
    public func session(refusing refused: Secret? = nil) async throws -> Session {
        while true {
            try Task.checkCancellation()
            switch try next(refusing: refused, mark: source.mark()) {
            case .use(let session): return session
            case .wait(let work, let isMeant):
                let session = try await work.value()
                // A renewal that began for another reason may have returned the very token that was refused here.
                if isMeant || isUsable(session, refusing: refused) { return session }
            }
        }
    }

    private enum Step {
        case use(Session)
        /// `isMeant` when the renewal is for the same refusal, so that its result counts in any case.
        case wait(Promise<Session>, isMeant: Bool)
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

    /// Stores a session after a sign-in. Returns the session that it replaces, if that can be read.
    @discardableResult
    public func adopt(_ session: Session) async throws -> Session? {
        let former = try await source.exclusively { [source] in
            let former: Session?
            // Signing in again replaces a session that cannot be read.
            do { former = try await source.load() } catch let error as SignInError where error.kind == .unreadable {
                former = nil
            }
            try await source.store(session)
            return former
        }
        reset()
        return former
    }

    /// Clears the cached state, after the stored session was replaced or removed.
    public func reset() {
        state.withLock { state in
            state.generation += 1
            state.current = nil
            state.unsaved = nil
            state.failed = nil
        }
    }

    /// Rejects further requests, and returns when a renewal in progress has been stored.
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
        // A session that cannot be renewed is used even after its expiry, because this machine's clock may be wrong.
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

extension SessionKeeper {
    /// Starts the work that produces a usable session. `close` waits for its task, which is never cancelled.
    ///
    /// - Parameter mark: the mark of the stored session before this. The renewal's own write changes the mark, so the
    /// next request reads once more. A later mark could hide a change by another process in between.
    func begin(_ refused: Secret?, generation: Int, mark: SessionMark?) -> Renewal {
        let work = Promise<Session>()
        let task = Task {
            let result: Result<Session, any Error>
            do { result = .success(try await obtain(refusing: refused)) } catch { result = .failure(error) }
            // Before the waiters resume, so that a new call does not find this renewal again.
            state.withLock { state in
                state.renewal = nil
                guard state.generation == generation else { return }
                switch result {
                case .success(let session): (state.current, state.mark) = (session, mark)
                case .failure(let error): if Self.isFinal(error) { state.current = nil }
                }
            }
            work.settle(with: result)
        }
        return Renewal(work: work, task: task, refused: refused)
    }

    /// Whether the user must sign in, so that the cached state is useless.
    private static func isFinal(_ error: any Error) -> Bool {
        guard let error = error as? SignInError else { return false }
        return error.kind == .signInAgain || error.kind == .signedOut
    }

    private func obtain(refusing refused: Secret?) async throws -> Session {
        // First without the lock, because usually there is nothing to renew.
        if state.withLock({ $0.unsaved == nil }) {
            let seen = try await load()
            if isUsable(seen, refusing: refused) { return seen }
            guard seen.canBeRenewed else { throw SignInError.signInAgain() }
            if let failed = state.withLock({ $0.failed }), failed.holds(seen.accessToken, at: now()) {
                throw failed.error
            }
        }
        return try await source.exclusively { [self] in
            try await save()
            // Another task or process may have renewed it, or signed in or out, while this one waited for the lock.
            let stored = try await load()
            if isUsable(stored, refusing: refused) { return stored }
            return try await renew(stored)
        }
    }

    private func load() async throws -> Session {
        guard let session = try await source.load() else { throw SignInError.signedOut }
        return session
    }

    /// The only place that sends a refresh token.
    private func renew(_ old: Session) async throws -> Session {
        guard old.canBeRenewed else { throw SignInError.signInAgain() }
        var new: Session
        do {
            new = try await source.renew(old)
        } catch let error as SignInError where error.kind == .refused {
            var ended = old
            ended.hasEnded = true
            try await source.store(ended)
            throw SignInError.signInAgain(cause: error)
        } catch {
            state.withLock { state in
                let last = state.failed.flatMap { $0.token.equals(old.accessToken) ? $0.wait : nil }
                let wait = last.map { min($0 * 2, Self.longestPause) } ?? Self.firstPause
                state.failed = FailedRenewal(token: old.accessToken, error: error, failed: now(), wait: wait)
            }
            throw error
        }
        if new.refreshToken == nil { new.refreshToken = old.refreshToken }
        // Kept here until it is stored, because the server may no longer accept the old refresh token.
        state.withLock { ($0.unsaved, $0.failed) = ((new, old.accessToken), nil) }
        try await save()
        return new
    }

    /// Stores an unsaved session, unless the user has signed in or out since. Call it only inside the lock.
    private func save() async throws {
        guard let (session, replaced) = state.withLock({ $0.unsaved }) else { return }
        if let stored = try await source.load(), stored.accessToken.equals(replaced) {
            try await source.store(session)
        }
        state.withLock { state in
            if let unsaved = state.unsaved, unsaved.session.accessToken.equals(session.accessToken) {
                state.unsaved = nil
            }
        }
    }

    /// The last attempt to store an unsaved session.
    func saveAtLast() async {
        guard state.withLock({ $0.unsaved != nil }) else { return }
        // The failure was already reported to the callers that waited for these tokens, and no caller is left.
        do { try await source.exclusively { [self] in try await save() } } catch {}
    }
}

/// Identifies the state of the stored session. A different mark means that the session may have changed.
public struct SessionMark: Sendable, Hashable {
    private let text: String

    /// - Parameter text: any text that is different after a change, such as the mark of the vault's file.
    public init(_ text: String) {
        self.text = text
    }
}

/// Stores and renews one session for a `SessionKeeper`.
public protocol SessionSource: Sendable {
    /// The stored session, or nil when the user is not signed in.
    func load() async throws -> Session?
    /// A mark that changes whenever the stored session may have changed, also by another process. Nil when only `load`
    /// can find out. It is called before every request, so it must return at once.
    func mark() throws -> SessionMark?
    /// Replaces the stored session.
    func store(_ session: Session) async throws
    /// Runs `body` while no other task or process runs another body for the same session.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
    /// Requests newer tokens from the server.
    ///
    /// `SignInError.refused` means that the server will never renew this session. Any other error leaves the session
    /// unchanged.
    func renew(_ session: Session) async throws -> Session
}

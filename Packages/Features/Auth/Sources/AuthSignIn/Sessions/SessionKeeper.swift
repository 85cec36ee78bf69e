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

extension SessionKeeper {
    /// Starts the work that brings a usable session. Its task is awaited by `close`, and never cancelled.
    ///
    /// - Parameter mark: how the stored session looked before this. What the renewal itself stores changes it, so that
    ///   the request after it reads once more; taken later, it could hide what somebody else stored in between.
    func begin(_ refused: Secret?, generation: Int, mark: SessionMark?) -> Renewal {
        let work = SharedWork<Session>()
        let task = Task {
            let result: Result<Session, any Error>
            do { result = .success(try await obtain(refusing: refused)) } catch { result = .failure(error) }
            // Before the waiters go on, so that one who calls again does not meet this renewal again.
            state.withLock { state in
                state.renewal = nil
                guard state.generation == generation else { return }
                switch result {
                case .success(let session): (state.current, state.mark) = (session, mark)
                case .failure(let error): if Self.isFinal(error) { state.current = nil }
                }
            }
            work.finish(result)
        }
        return Renewal(work: work, task: task, refused: refused)
    }

    /// Whether only a person can help, so that what is known here is of no more use.
    private static func isFinal(_ error: any Error) -> Bool {
        guard let error = error as? SignInError else { return false }
        return error.kind == .signInAgain || error.kind == .signedOut
    }

    private func obtain(refusing refused: Secret?) async throws -> Session {
        // First without the lock: most of the time there is nothing to renew.
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
            // Somebody else may have renewed it, or signed in or out, while this one waited for the lock.
            let stored = try await load()
            if isUsable(stored, refusing: refused) { return stored }
            return try await renew(stored)
        }
    }

    private func load() async throws -> Session {
        guard let session = try await source.load() else { throw SignInError.signedOut }
        return session
    }

    /// The one place that sends a refresh token.
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
        // Kept here until it is stored: the server may not take the old refresh token any more.
        state.withLock { ($0.unsaved, $0.failed) = ((new, old.accessToken), nil) }
        try await save()
        return new
    }

    /// Stores what was not stored yet, unless somebody has signed in or out since. Only inside the lock.
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

    /// The last chance for tokens that storage refused before.
    func saveAtLast() async {
        guard state.withLock({ $0.unsaved != nil }) else { return }
        // The failure was told to those who waited for these tokens, and nobody is left who could be told it again.
        do { try await source.exclusively { [self] in try await save() } } catch {}
    }
}

/// What a stored session looks like from outside; another one means that the session may have changed.
public struct SessionMark: Sendable, Hashable {
    private let text: String

    public init(_ text: String) {
        self.text = text
    }
}

/// Where one session is kept and how it is renewed: what a `SessionKeeper` needs of the world.
public protocol SessionSource: Sendable {
    /// The session that is stored, or nil when nobody is signed in.
    func load() async throws -> Session?
    /// Changes whenever what is stored may have changed, also by another process; nil where only `load` can tell. It is
    /// asked before every request, so it must answer at once.
    func mark() throws -> SessionMark?
    /// Replaces what is stored.
    func store(_ session: Session) async throws
    /// Runs `body` while no other process, and nobody else here, runs another for the same session.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
    /// Asks the server for newer tokens.
    ///
    /// `SignInError.refused` says that the server will never renew this session; any other error leaves it as it is.
    func renew(_ session: Session) async throws -> Session
}
